// SPDX-License-Identifier: GPL-2.0
/*
 * memory_ops.c - mem* and str* on the compound's memory.
 *
 * A range in the shared buffer is reached by the kernel's mapping of it, any other
 * as user memory, piece by piece.  Both by the same instructions: loads and stores
 * that may fault, with user access open, from a pointer that resolve() has bounded
 * and masked.  Nothing is decided by a value that is read twice.
 */
#include <linux/cosy.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "frame.h"
#include "limits.h"
#include "memory_ops.h"
#include "program.h"

/* The numbers of ops.def. */
enum {
#define COSY_OP(number, name, args, flags) OP_##name = (number),
#include "../core/ops.def"
};

/* Bytes of work between two looks around. */
#define SLICE (16 << 10)

#define ONES	0x0101010101010101ul
#define HIGHS	0x8080808080808080ul
#define WORD	sizeof(u64)

/* One operation under way. */
struct job {
	struct cosy_activation *run;
	u32 insn;
	bool resumes;		/* r1-r3 tell what remains, so it may stop for a signal */
	u32 work;		/* since the last look around */
};

/* False: stop, the activation says why. */
static bool spend(struct job *job, size_t bytes)
{
	job->work += bytes + 64;
	if (likely(job->work < SLICE))
		return true;
	job->work = 0;
	return !cosy_limits_pause(job->run, job->insn, job->resumes);
}

static void fault(struct job *job, u64 address)
{
	cosy_leave_at(job->run, COSY_LEFT_FAULT, job->insn, address);
}

/* --- Where an address is --------------------------------------------------------- */

struct place {
	void *at;		/* in the kernel's mapping of the buffer, or user memory */
	size_t before, behind;	/* bytes below `at`, and from it on, of the same kind */
	bool user;
};

/* False for what is no user address. */
static __always_inline bool resolve(const struct cosy_activation *run, u64 address,
				    struct place *ret)
{
	const struct cosy_prog *prog = run->prog;
	u64 offset = address - prog->buffer_address;

	if (offset < prog->buffer_size) {
		offset &= prog->buffer_size - 1;
		ret->at = prog->buffer + offset;
		ret->before = offset;
		ret->behind = prog->buffer_size - offset;
		ret->user = false;
		return true;
	}
	if (address >= TASK_SIZE_MAX)
		return false;
	address &= array_index_mask_nospec(address, TASK_SIZE_MAX);
	ret->at = (void *)address;
	ret->before = address;
	ret->behind = TASK_SIZE_MAX - address;
	ret->user = true;
	return true;
}

/* Words are read to the end of a page at most: the next one may not be there. */
static __always_inline size_t piece(const struct place *place, size_t length)
{
	size_t most = place->user ? PAGE_SIZE - offset_in_page(place->at) : SLICE;

	return min3(most, place->behind, length);
}

static __always_inline size_t piece_before(const struct place *place, size_t length)
{
	size_t most = place->user ? offset_in_page(place->at) ?: PAGE_SIZE : SLICE;

	return min3(most, place->before, length);
}

/* --- Searching --------------------------------------------------------------------- */

#define load_byte(value, from, label) unsafe_get_user(value, (u8 __user *)(from), label)
#define load_word(value, from, label) unsafe_get_user(value, (u64 __user *)(from), label)
#define store_byte(value, to, label) unsafe_put_user(value, (u8 __user *)(to), label)
#define store_word(value, to, label) unsafe_put_user(value, (u64 __user *)(to), label)

/* The high bit of each byte that is 0; above the first such byte maybe others too. */
static __always_inline u64 zeroes(u64 word)
{
	return (word - ONES) & ~word & HIGHS;
}

/* At least that: also of bytes above 0x80.  Two instructions less. */
static __always_inline u64 maybe_zeroes(u64 word)
{
	return word - ONES;
}

#define NOT_FOUND	((ssize_t)-1)
#define FAULTED		((ssize_t)-2)

struct match {
	size_t index;
	u8 byte;
};

/*
 * The first of `length` bytes that is in `pattern` (the byte in every place), or,
 * with `zero`, that is 0.
 */
static __always_inline ssize_t scan(const u8 *at, size_t length, u64 pattern, bool zero, u8 *byte)
{
	size_t i = 0;
	u64 w[4], hit;
	int k;

	__uaccess_begin();
	for (; i < length && (unsigned long)(at + i) % WORD; i++) {
		load_byte(*byte, at + i, faulted);
		if (*byte == (u8)pattern || (zero && !*byte))
			goto found;
	}
	for (; i + 4 * WORD <= length; i += 4 * WORD) {
		load_word(w[0], at + i, faulted);
		load_word(w[1], at + i + WORD, faulted);
		load_word(w[2], at + i + 2 * WORD, faulted);
		load_word(w[3], at + i + 3 * WORD, faulted);
		hit = maybe_zeroes(w[0] ^ pattern) | maybe_zeroes(w[1] ^ pattern) |
		      maybe_zeroes(w[2] ^ pattern) | maybe_zeroes(w[3] ^ pattern);
		if (zero)
			hit |= maybe_zeroes(w[0]) | maybe_zeroes(w[1]) | maybe_zeroes(w[2]) |
			       maybe_zeroes(w[3]);
		if (likely(!(hit & HIGHS)))
			continue;
		for (k = 0; k < 4; k++) {
			hit = zeroes(w[k] ^ pattern);
			if (zero)
				hit |= zeroes(w[k]);
			if (hit) {
				i += k * WORD + __ffs(hit) / 8;
				*byte = w[k] >> (__ffs(hit) - 7);
				goto found;
			}
		}
	}
	for (; i < length; i++) {
		load_byte(*byte, at + i, faulted);
		if (*byte == (u8)pattern || (zero && !*byte))
			goto found;
	}
	__uaccess_end();
	return NOT_FOUND;

found:
	__uaccess_end();
	return i;

faulted:
	__uaccess_end();
	return FAULTED;
}

/*
 * The address of the first byte that is `byte` or, with `zero`, 0; which one it was
 * comes back in *byte.  False: there is none, or (run->status) it has left.
 */
static __always_inline bool find(struct job *job, u64 from, u64 length, u8 *byte, bool zero,
				 u64 *ret)
{
	u64 pattern = *byte * ONES;
	struct place place;
	ssize_t index;
	size_t now;

	while (length) {
		if (!resolve(job->run, from, &place)) {
			fault(job, from);
			return false;
		}
		now = piece(&place, length);
		index = scan(place.at, now, pattern, zero, byte);
		if (index >= 0) {
			*ret = from + index;
			return true;
		}
		if (index == FAULTED) {
			fault(job, from);
			return false;
		}
		from += now;
		length -= now;
		if (!spend(job, now))
			return false;
	}
	return false;
}

/* Two instances, shared by all that search. */
static noinline bool find_byte(struct job *job, u64 from, u64 length, u8 byte, u64 *ret)
{
	return find(job, from, length, &byte, false, ret);
}

static noinline bool find_byte_or_end(struct job *job, u64 from, u8 *byte, u64 *ret)
{
	return find(job, from, ~0ull, byte, true, ret);
}

static u64 op_memchr(struct job *job, u64 from, u8 byte, u64 length)
{
	u64 at;

	return find_byte(job, from, length, byte, &at) ? at : 0;
}

static u64 op_strnlen(struct job *job, u64 from, u64 length)
{
	u64 at;

	return find_byte(job, from, length, 0, &at) ? at - from : length;
}

static u64 op_strchrnul(struct job *job, u64 from, u8 *byte)
{
	u64 at;

	return find_byte_or_end(job, from, byte, &at) ? at : 0;
}

static u64 op_strchr(struct job *job, u64 from, u8 byte)
{
	u8 found = byte;
	u64 at = op_strchrnul(job, from, &found);

	return found == byte ? at : 0;
}

static u64 op_strrchr(struct job *job, u64 from, u8 byte)
{
	u64 at, last = 0;
	u8 found;

	if (!byte)
		return op_strchr(job, from, 0);
	for (;;) {
		found = byte;
		at = op_strchrnul(job, from, &found);
		if (found != byte || !at)
			return last;
		last = at;
		from = at + 1;
		if (!spend(job, 0))
			return 0;
	}
}

static __always_inline ssize_t scan_back(const u8 *end, size_t length, u64 pattern)
{
	size_t i = 0;		/* bytes looked at, from the end down */
	u64 word, hit;
	u8 byte;

	__uaccess_begin();
	while (i < length) {
		if ((unsigned long)(end - i) % WORD == 0 && length - i >= WORD) {
			load_word(word, end - i - WORD, faulted);
			word ^= pattern;
			/* Exact, since the last such byte is wanted. */
			hit = ~(((word & ~HIGHS) + ~HIGHS) | word | ~HIGHS);
			if (hit) {
				i += WORD - 1 - __fls(hit) / 8;
				goto found;
			}
			i += WORD;
			continue;
		}
		load_byte(byte, end - i - 1, faulted);
		if (byte == (u8)pattern)
			goto found;
		i++;
	}
	__uaccess_end();
	return NOT_FOUND;

found:
	__uaccess_end();
	return i;

faulted:
	__uaccess_end();
	return FAULTED;
}

static u64 op_memrchr(struct job *job, u64 from, u8 byte, u64 length)
{
	struct place place;
	ssize_t index;
	size_t now;

	while (length) {
		/* The byte before the end says what kind of memory it is. */
		if (!resolve(job->run, from + length - 1, &place)) {
			fault(job, from + length - 1);
			return 0;
		}
		place.at++;
		place.before++;
		now = piece_before(&place, length);
		index = scan_back(place.at, now, byte * ONES);
		if (index >= 0)
			return from + length - index - 1;
		if (index == FAULTED) {
			fault(job, from + length - 1);
			return 0;
		}
		length -= now;
		if (!spend(job, now))
			return 0;
	}
	return 0;
}

/* --- Comparing ------------------------------------------------------------------------ */

/* As memcmp, or as strncmp with `zero`; *end when a 0 ended it.  FAULTED leaves *index. */
static __always_inline bool differ(const u8 *a, const u8 *b, size_t length, bool zero,
				   s64 *difference, bool *end, bool *faults)
{
	size_t i = 0;
	u64 va, vb;
	u8 ba, bb;

	__uaccess_begin();
	for (; i + WORD <= length; i += WORD) {
		load_word(va, a + i, faulted);
		load_word(vb, b + i, faulted);
		if (va != vb || (zero && zeroes(va)))
			break;
	}
	for (; i < length; i++) {
		load_byte(ba, a + i, faulted);
		load_byte(bb, b + i, faulted);
		if (ba != bb || (zero && !ba)) {
			__uaccess_end();
			*difference = (s64)ba - bb;
			*end = zero && ba == bb;
			return true;
		}
	}
	__uaccess_end();
	return false;

faulted:
	__uaccess_end();
	*faults = true;
	return true;
}

static __always_inline s64 compare(struct job *job, u64 a, u64 b, u64 length, bool zero)
{
	struct place place_a, place_b;
	bool end = false, faults = false;
	s64 difference = 0;
	size_t now;

	while (length) {
		if (!resolve(job->run, a, &place_a)) {
			fault(job, a);
			return 0;
		}
		if (!resolve(job->run, b, &place_b)) {
			fault(job, b);
			return 0;
		}
		now = piece(&place_b, piece(&place_a, length));
		if (differ(place_a.at, place_b.at, now, zero, &difference, &end, &faults)) {
			if (faults)
				fault(job, place_a.user ? a : b);
			return difference;
		}
		a += now;
		b += now;
		length -= now;
		if (!spend(job, now))
			return 0;
	}
	return 0;
}

static noinline s64 op_memcmp(struct job *job, u64 a, u64 b, u64 length)
{
	return compare(job, a, b, length, false);
}

static noinline s64 op_strncmp(struct job *job, u64 a, u64 b, u64 length)
{
	return compare(job, a, b, length, true);
}

static u64 op_memmem(struct job *job, u64 hay, u64 hay_length, u64 needle, u64 needle_length)
{
	struct place place;
	u64 last, at;
	u8 first;

	if (!needle_length)
		return hay;
	if (hay_length < needle_length)
		return 0;
	last = hay + (hay_length - needle_length);

	if (!resolve(job->run, needle, &place)) {
		fault(job, needle);
		return 0;
	}
	__uaccess_begin();
	load_byte(first, place.at, faulted);
	__uaccess_end();

	while (find_byte(job, hay, last - hay + 1, first, &at)) {
		s64 difference = op_memcmp(job, at + 1, needle + 1, needle_length - 1);

		if (job->run->status)
			return 0;
		if (!difference)
			return at;
		if (at == last)
			return 0;
		hay = at + 1;
		if (!spend(job, 0))
			return 0;
	}
	return 0;

faulted:
	__uaccess_end();
	fault(job, needle);
	return 0;
}

/* --- Copying ---------------------------------------------------------------------------- */

/* Copies up from the first byte; the number of bytes done, all but at a fault. */
static __always_inline size_t copy_up(u8 *to, const u8 *from, size_t length)
{
	size_t i = 0;
	u64 word;
	u8 byte;

	__uaccess_begin();
	for (; i + WORD <= length; i += WORD) {
		load_word(word, from + i, out);
		store_word(word, to + i, out);
	}
	for (; i < length; i++) {
		load_byte(byte, from + i, out);
		store_byte(byte, to + i, out);
	}
out:
	__uaccess_end();
	return i;
}

/* Copies down from the last byte. */
static __always_inline size_t copy_down(u8 *to, const u8 *from, size_t length)
{
	size_t left = length;
	u64 word;
	u8 byte;

	__uaccess_begin();
	for (; left >= WORD; left -= WORD) {
		load_word(word, from + left - WORD, out);
		store_word(word, to + left - WORD, out);
	}
	for (; left; left--) {
		load_byte(byte, from + left - 1, out);
		store_byte(byte, to + left - 1, out);
	}
out:
	__uaccess_end();
	return length - left;
}

/* Which of the two it was that faulted, when that is known. */
static void fault_either(struct job *job, const struct place *a, u64 a_address,
			 const struct place *b, u64 b_address)
{
	if (a->user && b->user)
		fault(job, 0);
	else
		fault(job, a->user ? a_address : b_address);
}

/*
 * What is left to do stays right when it starts over: every byte counted as done
 * is, and no byte of the rest's source has been written to.  That is why ranges
 * that overlap, where a fault could come between, are copied in order, word by
 * word; others as the kernel copies user memory.
 */
static size_t copy_piece(struct place *to, struct place *from, size_t length, bool overlap)
{
	if (!to->user && !from->user) {
		memmove(to->at, from->at, length);
		return length;
	}
	if (overlap)
		return copy_up(to->at, from->at, length);
	return length - copy_user_generic(to->at, from->at, length);
}

/* As memmove upwards; advances what it is given.  False: it has left. */
static bool move_up(struct job *job, u64 *to, u64 *from, u64 *length)
{
	bool overlap = *from - *to < *length;
	struct place to_place, from_place;
	size_t now, done;

	while (*length) {
		if (!resolve(job->run, *to, &to_place)) {
			fault(job, *to);
			return false;
		}
		if (!resolve(job->run, *from, &from_place)) {
			fault(job, *from);
			return false;
		}
		now = min3((u64)min(to_place.behind, from_place.behind), (u64)SLICE, *length);
		done = copy_piece(&to_place, &from_place, now, overlap);
		*to += done;
		*from += done;
		*length -= done;
		if (done < now) {
			fault_either(job, &to_place, *to, &from_place, *from);
			return false;
		}
		if (!spend(job, now))
			return !*length && job->run->status == COSY_DONE;
	}
	return true;
}

/* As memmove downwards: only the length changes. */
static bool move_down(struct job *job, u64 to, u64 from, u64 *length)
{
	struct place to_place, from_place;
	size_t now, done;

	while (*length) {
		if (!resolve(job->run, to + *length - 1, &to_place)) {
			fault(job, to + *length - 1);
			return false;
		}
		if (!resolve(job->run, from + *length - 1, &from_place)) {
			fault(job, from + *length - 1);
			return false;
		}
		now = min3((u64)min(to_place.before, from_place.before) + 1, (u64)SLICE, *length);
		to_place.at -= now - 1;
		from_place.at -= now - 1;
		if (!to_place.user && !from_place.user) {
			memmove(to_place.at, from_place.at, now);
			done = now;
		} else {
			done = copy_down(to_place.at, from_place.at, now);
		}
		*length -= done;
		if (done < now) {
			fault_either(job, &to_place, to + *length - 1, &from_place,
				     from + *length - 1);
			return false;
		}
		if (!spend(job, now))
			return false;
	}
	return true;
}

static void op_memmove(struct job *job, u64 *to, u64 *from, u64 *length)
{
	if (*to - *from < *length && *to != *from)
		move_down(job, *to, *from, length);
	else
		move_up(job, to, from, length);
}

static __always_inline size_t fill(u8 *to, u64 word, size_t length)
{
	size_t i = 0;

	__uaccess_begin();
	for (; i + 4 * WORD <= length; i += 4 * WORD) {
		store_word(word, to + i, out);
		store_word(word, to + i + WORD, out);
		store_word(word, to + i + 2 * WORD, out);
		store_word(word, to + i + 3 * WORD, out);
	}
	for (; i < length; i++)
		store_byte((u8)word, to + i, out);
out:
	__uaccess_end();
	return i;
}

static bool op_memset(struct job *job, u64 *to, u8 byte, u64 *length)
{
	struct place place;
	size_t now, done;

	while (*length) {
		if (!resolve(job->run, *to, &place)) {
			fault(job, *to);
			return false;
		}
		now = min3((u64)place.behind, (u64)SLICE, *length);
		if (place.user) {
			done = fill(place.at, byte * ONES, now);
		} else {
			memset(place.at, byte, now);
			done = now;
		}
		*to += done;
		*length -= done;
		if (done < now) {
			fault(job, *to);
			return false;
		}
		if (!spend(job, now))
			return false;
	}
	return true;
}

/* The address of the copy's terminating 0, or 0: it has left. */
static u64 op_stpcpy(struct job *job, u64 to, u64 from)
{
	u64 length, end;

	/* A bounded piece at a time, so that little is read twice. */
	for (;;) {
		u64 piece = PAGE_SIZE;
		bool ends = find_byte(job, from, piece, 0, &end);

		if (job->run->status)
			return 0;
		length = ends ? end - from + 1 : piece;
		if (!move_up(job, &to, &from, &length))
			return 0;
		if (ends)
			return to - 1;
	}
}

static void op_strncpy(struct job *job, u64 to, u64 from, u64 length)
{
	u64 used = op_strnlen(job, from, length), copied = used, padding;

	if (job->run->status || !move_up(job, &to, &from, &copied))
		return;
	padding = length - used;
	op_memset(job, &to, 0, &padding);
}

/* --- All operations ------------------------------------------------------------------------ */

u64 cosy_op(struct cosy_activation *run, u64 *r, u32 word)
{
	struct job job = { .run = run, .insn = word >> 16 };
	u64 start = r[1];
	u8 byte = r[2];

	run->ops++;
	switch (word & 0xffff) {
	case OP_ctx:
		return run->ctx;
	case OP_trap:
		cosy_leave_at(run, COSY_LEFT_TRAP, job.insn, 0);
		return 0;
	case OP_fence:
		smp_mb();
		return 0;
	case OP_alloca:
		return cosy_frame_alloca(run, r[1], job.insn);
	case OP_memcpy:
	case OP_memmove:
		job.resumes = true;
		op_memmove(&job, &r[1], &r[2], &r[3]);
		return 0;
	case OP_memset:
		job.resumes = true;
		op_memset(&job, &r[1], byte, &r[3]);
		return 0;
	case OP_memcmp:
		return op_memcmp(&job, r[1], r[2], r[3]);
	case OP_memchr:
		return op_memchr(&job, r[1], byte, r[3]);
	case OP_memrchr:
		return op_memrchr(&job, r[1], byte, r[3]);
	case OP_memmem:
		return op_memmem(&job, r[1], r[2], r[3], r[4]);
	case OP_strlen:
		return op_strnlen(&job, r[1], ~0ull);
	case OP_strnlen:
		return op_strnlen(&job, r[1], r[2]);
	case OP_strcmp:
		return op_strncmp(&job, r[1], r[2], ~0ull);
	case OP_strncmp:
		return op_strncmp(&job, r[1], r[2], r[3]);
	case OP_strchr:
		return op_strchr(&job, r[1], byte);
	case OP_strrchr:
		return op_strrchr(&job, r[1], byte);
	case OP_strcpy:
		op_stpcpy(&job, r[1], r[2]);
		return start;
	case OP_stpcpy:
		return op_stpcpy(&job, r[1], r[2]);
	case OP_strncpy:
		op_strncpy(&job, r[1], r[2], r[3]);
		return start;
	case OP_strchrnul:
		return op_strchrnul(&job, r[1], &byte);
	case OP_rawmemchr:
		return op_memchr(&job, r[1], byte, ~0ull);
	default:
		/* The validator knows no other. */
		cosy_leave_at(run, COSY_LEFT_TRAP, job.insn, 0);
		return 0;
	}
}
