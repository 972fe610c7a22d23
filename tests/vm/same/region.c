// SPDX-License-Identifier: MIT
/*
 * region.c - makes the steps of a batch, by plain calls or inside a region.  The functions of
 * <cosy/fast.h> are operations in a region, and the calls that they stand for outside.
 */
#include <cosy/fast.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "same.h"

/* Adds a word to an FNV-1a digest; built.c does so, too. */
static inline uint64_t mix(uint64_t digest, uint64_t word)
{
	return (digest ^ word) * MIX;
}

/* A word at any address. */
typedef uint64_t u64 __attribute__((may_alias, aligned(1)));
typedef uint32_t u32 __attribute__((may_alias, aligned(1)));
typedef uint16_t u16 __attribute__((may_alias, aligned(1)));
typedef uint8_t u8 __attribute__((may_alias));

static inline long load(const void *at, long size)
{
	switch (size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	default:
		return (long)*(const u64 *)at;
	}
}

static inline void store(void *at, uint64_t value, long size)
{
	switch (size) {
	case 1:
		*(u8 *)at = (u8)value;
		break;
	case 2:
		*(u16 *)at = (u16)value;
		break;
	case 4:
		*(u32 *)at = (u32)value;
		break;
	default:
		*(u64 *)at = value;
	}
}

static inline long make(uint32_t op, long a, long b, long c, long d, long e, long f)
{
	switch (op) {
#define STEP(call, arguments, weight)                                                              \
	case STEP_##call:                                                                          \
		return result_of(syscall(SYS_##call, a, b, c, d, e, f));
#include "steps.def"
	case STEP_readc:
		return result_of(cosy_readc((int)a));
	case STEP_seek_read:
		return result_of(cosy_seek_read((int)a, (void *)b, (size_t)c, d, (int)e));
	case STEP_seek_write:
		return result_of(cosy_seek_write((int)a, (const void *)b, (size_t)c, d, (int)e));
	case STEP_read_file:
		return result_of(
			cosy_read_file((int)a, (const char *)b, (void *)c, (size_t)d, (int)e));
	case STEP_write_file:
		return result_of(cosy_write_file((int)a, (const char *)b, (const void *)c,
						 (size_t)d, (int)e));
	case STEP_scan_dir:
		return result_of(cosy_scan_dir((int)a, (void *)b, (size_t)c, (int)d));
	case STEP_count:
		return (long)cosy_count((const void *)a, (size_t)b, (int)c);
	case STEP_crc32c:
		return cosy_crc32c((uint32_t)a, (const void *)b, (size_t)c);
	case STEP_view_load:
		return load((const void *)a, b);
	case STEP_view_store:
		store((void *)a, (uint64_t)b, c);
		return 0;
	default:
		return 0;
	}
}

/* Waits until the clock that files are stamped by has moved on. */
static inline void tick(void)
{
	struct timespec then, now;

	syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &then);
	do
		syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &now);
	while (now.tv_nsec == then.tv_nsec && now.tv_sec == then.tv_sec);
}

/* Has the others make their change; see other.c. */
static inline void meanwhile(struct batch *batch, uint32_t change)
{
	batch->word = change;
	if (write(batch->wires[1], &batch->word, sizeof(batch->word)) == sizeof(batch->word))
		read(batch->wires[0], &batch->word, sizeof(batch->word));
}

/* Lends bytes of a file to a socket, and looks at once at what comes out of its other end. */
static inline long lend(struct batch *batch, struct step *step, const long *arg)
{
	const int *pair = batch->pair[arg[4]];
	long result = result_of(cosy_pread((int)arg[0], (void *)arg[1], (size_t)arg[2], arg[3])),
	     got;

	if (result > 0)
		result = result_of(
			cosy_lend(pair[0], (const void *)arg[1], (size_t)result, (int)arg[5]));
	if (result > 0) {
		got = result_of(
			syscall(SYS_recvfrom, pair[1], batch->received, result, MSG_WAITALL, 0, 0));
		step->digest = mix(step->digest, (uint64_t)got);
		step->digest = mix(step->digest, cosy_crc32c(0, batch->received, (size_t)result));
	}
	return result;
}

/*
 * Has the epoll set tell of a descriptor, by data that has its number; writes to the sockets and the
 * pipe; then makes epoll_read.
 */
static inline long poll_make(struct batch *batch, struct step *step, const long *arg, bool plain)
{
	long result, written;

	batch->events = (uint32_t)arg[4];
	batch->data[0] = (uint32_t)arg[0];
	batch->data[1] = (uint32_t)(arg[4] >> 32);
	result = result_of(
		syscall(SYS_epoll_ctl, batch->poll, EPOLL_CTL_ADD, arg[0], &batch->events));
	step->digest = mix(step->digest, (uint64_t)result);
	if (result == -EEXIST) {
		result = result_of(
			syscall(SYS_epoll_ctl, batch->poll, EPOLL_CTL_MOD, arg[0], &batch->events));
		step->digest = mix(step->digest, (uint64_t)result);
	}
	for (uint32_t i = 4; i < 8; i++) {
		written = result_of(syscall(SYS_write, batch->slot[i], batch->received, arg[5]));
		step->digest = mix(step->digest, (uint64_t)written);
	}
	if (plain)
		return poll_plainly(batch->poll, (char *)arg[1], (size_t)arg[2], (int)arg[3]);
	return result_of(
		cosy_epoll_read(batch->poll, (void *)arg[1], (size_t)arg[2], (int)arg[3], 0));
}

/*
 * Makes a walk's calls; one that is not done is ended.  Returns the last call's result but for
 * that.
 */
static inline long walk_make(struct step *step, const long *arg)
{
	struct walk *walk = (struct walk *)arg[1];
	uint64_t size = (uint64_t)arg[2], told = 0;
	uint32_t call = 0;
	long result;

	walk->tree.dirfd = (int)arg[0];
	do {
		result = result_of(cosy_scan_tree(&walk->tree, walk->stream + told, size));
		if (result <= 0)
			return result;
		walk->length[call++] = (uint32_t)result;
		told += (uint64_t)result;
	} while (call < arg[3] && told + size <= WALK_STREAM);
	step->digest = mix(step->digest,
			   (uint64_t)result_of(cosy_scan_tree(&walk->tree, walk->stream, 0)));
	return result;
}

/* Makes the same by plain calls; to end a walk never fails. */
static inline long walk_make_plainly(struct step *step, const long *arg)
{
	long result =
		walk_plainly((struct walk *)arg[1], (int)arg[0], (size_t)arg[2], (uint32_t)arg[3]);

	if (result > 0)
		step->digest = mix(step->digest, 0);
	return result;
}

static inline void make_step(struct batch *batch, struct step *step, bool plain)
{
	long arg[6];

	for (uint32_t time = 0; time < step->times; time++) {
		for (uint32_t i = 0; i < 6; i++) {
			arg[i] = step->arg[i];
			if (step->slots >> i & 1)
				arg[i] = batch->slot[arg[i]];
		}
		if (step->op == STEP_other)
			meanwhile(batch, (uint32_t)arg[0]);
		else if (step->op == STEP_tick)
			tick();
		else if (step->op == STEP_lend)
			step->result = lend(batch, step, arg);
		else if (step->op == STEP_epoll_read)
			step->result = poll_make(batch, step, arg, plain);
		else if (plain && step->op == STEP_scan_dir)
			step->result = scan_plainly(batch, step, (int)arg[0], (char *)arg[1],
						    (size_t)arg[2], (int)arg[3]);
		else if (step->op == STEP_scan_tree)
			step->result = plain ? walk_make_plainly(step, arg) : walk_make(step, arg);
		else
			step->result =
				make(step->op, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		step->digest = mix(step->digest, (uint64_t)step->result);
		if (step->look)
			step->digest = mix(step->digest, cosy_crc32c(0, (const void *)step->look,
								     step->look_len));
		if (step->into >= 0 && step->result >= 0)
			batch->slot[step->into] = step->result;
	}
}

void batch_plain(struct round *round)
{
	struct batch *batch = round->batch;

	for (uint32_t i = 0; i < batch->count; i++)
		make_step(batch, &batch->step[i], true);
}

void batch_region(struct round *round)
{
	struct batch *batch = round->batch;

	COSY_START;
	for (uint32_t i = 0; i < batch->count; i++)
		make_step(batch, &batch->step[i], false);
	COSY_END;
}
