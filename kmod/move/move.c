// SPDX-License-Identifier: GPL-2.0
/*
 * move.c - loan, transfer, flush and ready (UVM, USENIX '99, sections 4.1, 4.2 and 5).
 *
 * A request that cannot be served by moving is refused with -EOPNOTSUPP before anything is done.
 * libcosy then makes the plain call, with the same result.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "context.h"
#include "load/cache.h"
#include "move/arena.h"
#include "move/huge.h"
#include "move/move.h"
#include "move/parcel.h"
#include "move/pipe.h"
#include "move/port.h"
#include "move/socket.h"
#include "run/limits.h"
#include "stats.h"

/* Pages that are looked up, unmapped and handed on in one go. */
#define BATCH 64U

/*
 * Loans to sockets: bytes of one whose pages must be frozen first; how many of those may find their
 * pages rewritten before most are made by copying, and one of how many is a loan then.
 */
#define MIN_SOCKET_LOAN SZ_64K
#define MAX_REWRITTEN	4U
#define REWRITTEN_RETRY 16U

/* Arenas, parcels, or 1,024 pages that one MOVING looks at. */
#define COUNT_LEFT 64U

static unsigned long pages_in(u64 length)
{
	return DIV_ROUND_UP(length, PAGE_SIZE);
}

static void pages_put(struct page **pages, unsigned long from, unsigned long to)
{
	for (; from < to; from++)
		put_page(pages[from]);
}

/* --- Loan: page loanout (section 4.1) ----------------------------------------------------- */

struct loan {
	struct file *file;
	u64 address, length; /* of the rest */
	u64 done;
	u32 flags;
	bool to_socket;
	bool ended; /* less went than was tried */
};

/* Takes references to the first pages that are left.  Returns how many, or an error. */
static long loan_take(const struct loan *loan, struct page **pages)
{
	unsigned long left = pages_in(loan->length);
	unsigned long rights = loan->flags & COSY_MOVE_GIVE ? VM_READ | VM_WRITE : VM_READ;
	struct cosy_slots s;
	long ret;

	ret = cosy_slots_begin(loan->address, left, rights, &s);
	if (ret)
		return ret;
	if (loan->flags & COSY_MOVE_WHOLE && s.count < left)
		ret = -ERANGE;
	else
		ret = cosy_slots_loan(&s, min_t(unsigned long, s.count, BATCH), pages);
	cosy_slots_end(&s);
	return ret;
}

/* Has the sender give the pages up: its memory becomes zeros. */
static void loan_give(u64 address, unsigned long count)
{
	struct cosy_slots s;

	if (cosy_slots_begin(address, count, VM_WRITE, &s))
		return;
	cosy_slots_clear(&s, s.count);
	cosy_slots_end(&s);
}

/*
 * Puts `length` bytes of frozen pages into the file, and gives up the references that it does not
 * take.  Returns how many bytes went, or an error.
 */
static long loan_put(const struct loan *loan, struct page **pages, u32 count, u32 length)
{
	struct bio_vec pieces[BATCH] __cosy_uninitialized;
	long went;
	u32 i;

	for (i = 0; i < count; i++)
		pieces[i] = (struct bio_vec){
			.bv_page = pages[i],
			.bv_len = min_t(u32, PAGE_SIZE, length - i * PAGE_SIZE),
		};
	if (loan->to_socket) {
		went = cosy_socket_put(loan->file, pieces, count, length, loan->flags, loan->done,
				       length < loan->length);
		pages_put(pages, 0, count);
		return went;
	}
	went = cosy_pipe_put(loan->file, pieces, count);
	pages_put(pages, max(went, 0L), count);
	return went > 0 ? min_t(long, went *PAGE_SIZE, length) : went;
}

/* Lends one batch.  Returns the bytes that went, or an error. */
static long loan_batch(struct loan *loan)
{
	struct page *pages[BATCH] __cosy_uninitialized;
	u64 length = loan->length;
	long count, went;

	count = loan_take(loan, pages);
	if (count < 0)
		return count;
	length = min_t(u64, length, count * PAGE_SIZE);
	went = loan_put(loan, pages, count, length);
	if (went <= 0)
		return went;
	if (loan->flags & COSY_MOVE_GIVE && went >= PAGE_SIZE)
		loan_give(loan->address, went >> PAGE_SHIFT);
	loan->address += went;
	loan->length -= went;
	loan->done += went;
	loan->ended = went < length;
	return went;
}

/* Returns whether the first slot's page is as it was when it was lent last. */
static bool loan_is_unchanged(const struct cosy_slots *s)
{
	const struct page *page = cosy_slot_page(s->arena->slots[s->i]);

	return page && cosy_page_is_frozen(page);
}

/* Returns whether to lend pages of an arena though they were rewritten since. */
static bool loan_is_retried(const struct cosy_arena *arena, u64 length)
{
	return length >= MIN_SOCKET_LOAN &&
	       (arena->rewritten < MAX_REWRITTEN || (arena->rewritten + 1) % REWRITTEN_RETRY == 0);
}

/* Counts the loans in turn whose pages were rewritten. */
static void loan_note(struct cosy_arena *arena, u64 length, bool unchanged)
{
	if (unchanged)
		arena->rewritten = 0;
	else if (length >= MIN_SOCKET_LOAN)
		arena->rewritten++;
}

/*
 * Returns whether to lend the bytes to a socket, whose reader copies them.  That pays when they
 * stay unchanged until they are sent again: when the first page is still frozen.  The faults of a
 * sender that has always rewritten them cost as much as it saves, so it is tried rarely.
 */
static bool loan_pays(const struct cosy_move *move)
{
	struct cosy_slots s;
	bool unchanged, pays;

	if (cosy_slots_begin(move->address, 1, VM_READ, &s))
		return false;
	unchanged = loan_is_unchanged(&s);
	pays = unchanged || loan_is_retried(s.arena, move->length);
	loan_note(s.arena, move->length, unchanged);
	cosy_slots_end(&s);
	return pays;
}

/* Tells the times and watchers of the file, as write(2) does. */
static void loan_notify(const struct loan *loan)
{
	struct inode *inode = file_inode(loan->file);

	fsnotify_modify(loan->file);
	/* A FIFO's times are those of a file, on a file system that may be frozen. */
	if (!loan->to_socket && sb_start_write_trylock(inode->i_sb)) {
		file_update_time(loan->file);
		sb_end_write(inode->i_sb);
	}
}

static long loan_to(struct file *file, const struct cosy_move *move)
{
	struct loan loan = {
		.file = file,
		.address = move->address,
		.length = move->length,
		.flags = move->flags,
		.to_socket = cosy_socket_takes(file),
	};
	loff_t none = 0;
	long ret;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (loan.to_socket ? !loan_pays(move)
			   : !cosy_pipe_takes(file) || move->flags & COSY_MOVE_SEND)
		return -EOPNOTSUPP;
	ret = rw_verify_area(WRITE, file, &none, move->length);
	if (ret)
		return ret;
	do {
		ret = loan_batch(&loan);
		cond_resched();
	} while (ret > 0 && loan.length && !loan.ended && !fatal_signal_pending(current));
	if (!loan.done)
		return ret;
	loan_notify(&loan);
	return loan.done;
}

/* --- Transfer: page transfer (section 4.2) --------------------------------------------------- */

/*
 * Returns how many of the pages can be put there, or an error.  Asked before any is taken, since
 * none can go back.  Shared pages must be written, not replaced.
 */
static long transfer_check(u64 address, unsigned long count)
{
	struct cosy_slots s;
	long ret;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	ret = cosy_slots_find(address, count, VM_READ | VM_WRITE, &s);
	if (!ret && READ_ONCE(s.arena->shares)) {
		cosy_slots_lock(&s);
		if (cosy_slots_shared(&s, s.count))
			ret = -EOPNOTSUPP;
		cosy_slots_unlock(&s);
	}
	mmap_read_unlock(current->mm);
	return ret ? ret : s.count;
}

/*
 * Puts pages in, and gives up the references in any case.  An error: the memory is gone, or the
 * process is dying.
 */
static long transfer_put(u64 address, struct page **pages, unsigned long count, u32 flags)
{
	unsigned long done = 0;
	struct cosy_slots s;
	long ret = 0;

	/* A dying process does not read the received bytes. */
	if (mmap_read_lock_killable(current->mm)) {
		pages_put(pages, 0, count);
		return -EINTR;
	}
	for (; done < count; done += s.count) {
		ret = cosy_slots_find(address + (done << PAGE_SHIFT), count - done, VM_WRITE, &s);
		if (ret)
			break;
		cosy_slots_lock(&s);
		cosy_slots_put(&s, s.count, pages + done);
		/* Without memory for this the next access faults. */
		if (flags & (COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE))
			cosy_slots_present(&s, flags & COSY_MOVE_WILL_WRITE);
		cosy_slots_unlock(&s);
	}
	mmap_read_unlock(current->mm);
	pages_put(pages, done, count);
	return ret;
}

static long transfer_from(struct file *file, const struct cosy_move *move)
{
	struct page *pages[BATCH] __cosy_uninitialized;
	u64 length = move->length & PAGE_MASK, done = 0;
	loff_t none = 0;
	long ret;

	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (!cosy_pipe_gives(file))
		return -EOPNOTSUPP;
	ret = rw_verify_area(READ, file, &none, length);
	if (ret)
		return ret;
	while (done < length) {
		u64 address = move->address + done;
		long count =
			transfer_check(address, min_t(u64, BATCH, (length - done) >> PAGE_SHIFT));

		ret = count;
		if (count > 0)
			ret = cosy_pipe_take(file, pages, count, done);
		if (ret <= 0)
			break;
		count = ret;
		ret = transfer_put(address, pages, count, move->flags);
		if (ret)
			break;
		done += (u64)count << PAGE_SHIFT;
	}
	if (!done)
		return ret;
	fsnotify_access(file);
	file_accessed(file);
	return done;
}

/* --- Without another process ------------------------------------------------------------------ */

/* Empties the pages, so that they are zeros (section 5: anflush), or makes them present. */
static long move_local(const struct cosy_move *move)
{
	bool flush = move->operation == COSY_MOVE_FLUSH, write = move->flags & COSY_MOVE_WILL_WRITE;
	unsigned long count = move->length >> PAGE_SHIFT, done = 0;
	struct cosy_slots s;
	long ret = 0;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	while (done < count && !ret) {
		u64 address = move->address + (done << PAGE_SHIFT);

		/* Up to the next multiple of 2 MB, so that none is divided. */
		ret = cosy_slots_find(address,
				      min_t(u64, count - done,
					    (PMD_SIZE - (address & ~PMD_MASK)) >> PAGE_SHIFT),
				      flush || write ? VM_WRITE : VM_READ, &s);
		if (ret)
			break;
		cosy_slots_lock(&s);
		if (flush)
			cosy_slots_clear(&s, s.count);
		else
			ret = cosy_slots_present(&s, write);
		cosy_slots_unlock(&s);
		if (!flush && !ret)
			cosy_huge_touch(&s, write);
		done += s.count;
		if (fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	mmap_read_unlock(current->mm);
	return ret;
}

/* --- The ioctls ------------------------------------------------------------------------------- */

/* What a request of an operation may set; what it does not use is 0, its fd -1. */
struct move_rule {
	long (*serve)(const struct cosy_move *move);
	u32 flags;
	bool fd, address, at, how;
	bool whole;	  /* pages only */
	bool locks;	  /* the length counts in the user's locked memory */
	bool from_length; /* the count is of `length`, since the result is a descriptor */
	enum cosy_counter counts;
};

/*
 * Returns whether the plain call is to be made: filters, tracers or auditors are to see it, or it
 * is less than a page, which is cheaper to copy.
 */
static bool move_is_plain(const struct cosy_move *move)
{
	return unlikely(cosy_traced_work()) || move->length < PAGE_SIZE;
}

/* Makes a loan or a transfer, by the file that it names. */
static long move_by_file(const struct cosy_move *move)
{
	struct fd f;
	long ret = -EBADF;

	if (move_is_plain(move))
		return -EOPNOTSUPP;
	f = fdget(move->fd);
	if (fd_file(f))
		ret = move->operation == COSY_MOVE_LOAN ? loan_to(fd_file(f), move)
							: transfer_from(fd_file(f), move);
	fdput(f);
	return ret;
}

long cosy_move_arena(struct cosy_context *context, const struct cosy_arena_request *request)
{
	cosy_cache_make_room(context->user, request->length >> PAGE_SHIFT);
	return cosy_arena_create(request->length, request->flags);
}

#define PRESENT	    (COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE)
#define NOT_COUNTED COSY_COUNTERS
#define EXPORT                                                                                     \
	{ .serve = cosy_parcel_export,                                                             \
	  .address = true,                                                                         \
	  .whole = true,                                                                           \
	  .locks = true,                                                                           \
	  .from_length = true,                                                                     \
	  .counts = COSY_COUNT_EXPORTED }

static const struct move_rule rules[] = {
	[COSY_MOVE_LOAN] = { .serve = move_by_file,
			     .flags = COSY_MOVE_GIVE | COSY_MOVE_SEND | COSY_MOVE_WHOLE,
			     .fd = true,
			     .address = true,
			     .counts = COSY_COUNT_LOANED },
	[COSY_MOVE_TRANSFER] = { .serve = move_by_file,
				 .flags = PRESENT,
				 .fd = true,
				 .address = true,
				 .counts = COSY_COUNT_TRANSFERRED },
	[COSY_MOVE_FLUSH] = { .serve = move_local,
			      .address = true,
			      .whole = true,
			      .counts = NOT_COUNTED },
	[COSY_MOVE_READY] = { .serve = move_local,
			      .flags = COSY_MOVE_WILL_WRITE,
			      .address = true,
			      .whole = true,
			      .counts = NOT_COUNTED },
	[COSY_MOVE_SHARE] = EXPORT,
	[COSY_MOVE_COPY] = EXPORT,
	[COSY_MOVE_DONATE] = EXPORT,
	[COSY_MOVE_DONATE_ZERO] = EXPORT,
	[COSY_MOVE_IMPORT] = { .serve = cosy_parcel_import,
			       .flags = PRESENT,
			       .fd = true,
			       .address = true,
			       .counts = COSY_COUNT_IMPORTED },
	[COSY_MOVE_PORT] = { .serve = cosy_port_create,
			     .at = true,
			     .whole = true,
			     .locks = true,
			     .counts = NOT_COUNTED },
	[COSY_MOVE_PASS] = { .serve = cosy_port_pass,
			     .fd = true,
			     .address = true,
			     .at = true,
			     .how = true,
			     .counts = COSY_COUNT_PASSED },
	[COSY_MOVE_TAKE] = { .serve = cosy_port_take,
			     .flags = PRESENT,
			     .fd = true,
			     .address = true,
			     .at = true,
			     .counts = COSY_COUNT_TAKEN },
};

/* Returns whether the request sets only what its operation uses. */
static bool move_keeps(const struct cosy_move *move, const struct move_rule *rule)
{
	return !(move->flags & ~rule->flags) && !move->pad && (rule->fd || move->fd == -1) &&
	       (rule->address || !move->address) && (rule->at || !move->at) &&
	       (rule->how || !move->how) && !(rule->whole && move->length & ~PAGE_MASK);
}

static bool move_has_range(const struct cosy_move *move)
{
	u64 end;

	return !(move->address & ~PAGE_MASK) && move->length && move->length <= MAX_RW_COUNT &&
	       !check_add_overflow(move->address, move->length, &end) && end <= TASK_SIZE_MAX;
}

/* Returns the operation's rule; NULL: the request is not valid. */
static const struct move_rule *move_rule(const struct cosy_move *move)
{
	const struct move_rule *rule;

	if (move->operation >= ARRAY_SIZE(rules))
		return NULL;
	rule = &rules[array_index_nospec(move->operation, ARRAY_SIZE(rules))];
	return rule->serve && move_keeps(move, rule) && move_has_range(move) ? rule : NULL;
}

long cosy_move(struct cosy_context *context, const struct cosy_move *move)
{
	const struct move_rule *rule = move_rule(move);
	long ret;

	if (!rule)
		return -EINVAL;
	if (rule->locks)
		cosy_cache_make_room(context->user, pages_in(move->length));
	ret = rule->serve(move);
	if (ret == -EOPNOTSUPP)
		cosy_stats_add(&context->stats, COSY_COUNT_MOVE_REFUSED, 1);
	else if (rule->counts != NOT_COUNTED && (rule->from_length ? ret >= 0 : ret > 0))
		cosy_stats_add(&context->stats, rule->counts,
			       pages_in(rule->from_length ? move->length : ret));
	return ret;
}

/* The kinds that are counted, one after the other. */
static int (*const counts[])(struct cosy_count *count) = {
	cosy_arenas_count,
	cosy_parcels_count,
	cosy_ports_count,
};
#define COUNTS ARRAY_SIZE(counts)

/* Counts from one kind on, as far as it may.  Returns 1 when the count is to go on. */
static int moving_count(struct cosy_count *count, unsigned int *kind)
{
	count->left = COUNT_LEFT;
	for (;;) {
		int ret = counts[*kind](count);

		if (ret || *kind + 1 == COUNTS)
			return ret;
		++*kind;
		count->uid = count->only ? *count->only : GLOBAL_ROOT_UID;
		count->serial = 0;
	}
}

/* A cursor is a kind's number, in the lowest two bits, a serial and a slot. */
long cosy_moving(struct cosy_moving *moving)
{
	kuid_t uid = current_uid();
	struct cosy_count count = {
		.only = &uid,
		.uid = uid,
		.serial = moving->cursor[0] >> 2,
		.slot = moving->cursor[1],
		.sum = moving,
	};
	unsigned int kind = min_t(unsigned int, moving->cursor[0] & 3, COUNTS - 1);
	int ret = moving_count(&count, &kind);

	moving->cursor[0] = ret > 0 ? count.serial << 2 | kind : 0;
	moving->cursor[1] = ret > 0 ? count.slot : 0;
	return min(ret, 0);
}

/*
 * Adds the amounts of all users to the numbers.  -EINTR when the caller is killed; otherwise the
 * time is not bounded.
 */
static long moving_total(struct cosy_moving *sum)
{
	struct cosy_count count = { .uid = GLOBAL_ROOT_UID, .sum = sum };
	unsigned int kind = 0;
	int ret;

	do {
		ret = moving_count(&count, &kind);
		if (fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	} while (ret > 0);
	return ret;
}

int cosy_moving_show(struct seq_file *file)
{
	struct cosy_moving moving = {};
	long error = moving_total(&moving);

	if (error)
		return error;
	seq_printf(file, "arena_pages %llu\nfrozen %llu\nunder_way %llu\nparcel_pages %llu\n",
		   moving.arena_pages, moving.frozen, moving.under_way, moving.parcel_pages);
	seq_printf(file, "port_pages %llu\n", moving.port_pages);
	return 0;
}
