// SPDX-License-Identifier: MIT
/*
 * region.c - the steps of a batch, made by plain calls or inside a region.  The functions
 * of <cosy/fast.h> are operations in a region and what they stand for outside.
 */
#include <cosy/fast.h>
#include <sys/syscall.h>
#include "same.h"

/* FNV-1a, by words; built.c has it too. */
static inline uint64_t mix(uint64_t digest, uint64_t word)
{
	return (digest ^ word) * MIX;
}

static inline long result_of(long result)
{
	return result == -1 ? -errno : result;
}

static inline long make(uint32_t op, long a, long b, long c, long d, long e, long f)
{
	switch (op) {
#define STEP(call, arguments, weight)					\
	case STEP_##call:						\
		return result_of(syscall(SYS_##call, a, b, c, d, e, f));
#include "steps.def"
	case STEP_readc:
		return result_of(cosy_readc((int)a));
	case STEP_seek_read:
		return result_of(cosy_seek_read((int)a, (void *)b, (size_t)c, d, (int)e));
	case STEP_seek_write:
		return result_of(cosy_seek_write((int)a, (const void *)b, (size_t)c, d, (int)e));
	case STEP_read_file:
		return result_of(cosy_read_file((int)a, (const char *)b, (void *)c, (size_t)d, (int)e));
	case STEP_scan_dir:
		return result_of(cosy_scan_dir((int)a, (void *)b, (size_t)c, (int)d));
	case STEP_count:
		return (long)cosy_count((const void *)a, (size_t)b, (int)c);
	case STEP_crc32c:
		return cosy_crc32c((uint32_t)a, (const void *)b, (size_t)c);
	default:
		return 0;
	}
}

/* Until the clock that files are stamped by has moved on. */
static inline void tick(void)
{
	struct timespec then, now;

	syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &then);
	do
		syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &now);
	while (now.tv_nsec == then.tv_nsec && now.tv_sec == then.tv_sec);
}

/* The others do what they are to do; see other.c. */
static inline void meanwhile(struct batch *batch, uint32_t change)
{
	batch->word = change;
	if (write(batch->wires[1], &batch->word, sizeof(batch->word)) == sizeof(batch->word))
		read(batch->wires[0], &batch->word, sizeof(batch->word));
}

/*
 * scan_dir by one getdents64, as the operation makes it, so that whoever watches the
 * directory sees as many accesses; the library's own does with less memory and more calls.
 */
static long scan_plainly(int fd, char *to, size_t size, int flags)
{
	static char entries[2 * OUT];
	long len = result_of(syscall(SYS_getdents64, fd, entries, size)), at = 0;
	char *start = to;

	for (off_t behind = 0; at < len;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
		size_t room = (sizeof(struct cosy_dirent) + strlen(entry->d_name) + 8) & ~7ul;
		struct cosy_dirent *now = (struct cosy_dirent *)to;

		if (room > size) {
			/* The others are for the next call. */
			lseek(fd, behind, SEEK_SET);
			break;
		}
		memset(now, 0, room);
		*now = (struct cosy_dirent){ .ino = entry->d_ino, .off = entry->d_off, .reclen = (uint16_t)room, .type = entry->d_type };
		strcpy(now->name, entry->d_name);
		now->error = (int)result_of(syscall(SYS_newfstatat, fd, entry->d_name, now->stat, flags));
		behind = entry->d_off;
		size -= room;
		to += room;
		at += entry->d_reclen;
	}
	return len < 0 ? len : to - start;
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
		else if (plain && step->op == STEP_scan_dir)
			step->result = scan_plainly((int)arg[0], (char *)arg[1], (size_t)arg[2], (int)arg[3]);
		else
			step->result = make(step->op, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		step->digest = mix(step->digest, (uint64_t)step->result);
		if (step->look)
			step->digest = mix(step->digest, cosy_crc32c(0, (const void *)step->look, step->look_len));
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
