// SPDX-License-Identifier: MIT
/* region.c - the steps of a batch, made by plain calls or inside a region. */
#include <sys/syscall.h>
#include "same.h"

/* FNV-1a, by words; built.c has it too. */
static inline uint64_t mix(uint64_t digest, uint64_t word)
{
	return (digest ^ word) * MIX;
}

static inline uint32_t crc32c(const struct batch *batch, uint32_t crc, const uint8_t *bytes, uint64_t count)
{
	crc = ~crc;
	for (uint64_t i = 0; i < count; i++)
		crc = batch->crc[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static inline long result_of(long result)
{
	return result == -1 ? -errno : result;
}

/* What the operations stand for. */

static inline long make_readc(long fd)
{
	unsigned char byte = 0;
	long result = result_of(syscall(SYS_read, fd, &byte, 1));

	return result > 0 ? byte : result ? result : -ENODATA;
}

static inline long make_seek_read(long fd, long buffer, long count, long offset, long whence)
{
	long result = result_of(syscall(SYS_lseek, fd, offset, whence));

	return result < 0 ? result : result_of(syscall(SYS_read, fd, buffer, count));
}

static inline long make_count(const unsigned char *bytes, long count, long byte)
{
	long found = 0;

	for (long i = 0; i < count; i++)
		found += bytes[i] == (byte & 0xff);
	return found;
}

static inline long make(const struct batch *batch, uint32_t op, long a, long b, long c, long d, long e, long f)
{
	switch (op) {
#define STEP(call, arguments, weight)					\
	case STEP_##call:						\
		return result_of(syscall(SYS_##call, a, b, c, d, e, f));
#include "steps.def"
	case STEP_readc:
		return make_readc(a);
	case STEP_seek_read:
		return make_seek_read(a, b, c, d, e);
	case STEP_count:
		return make_count((const unsigned char *)a, b, c);
	case STEP_crc32c:
		return crc32c(batch, (uint32_t)a, (const uint8_t *)b, (uint64_t)c);
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

static inline void make_step(struct batch *batch, struct step *step)
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
		else
			step->result = make(batch, step->op, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		step->digest = mix(step->digest, (uint64_t)step->result);
		if (step->look)
			step->digest = mix(step->digest, crc32c(batch, 0, (const uint8_t *)step->look, step->look_len));
		if (step->into >= 0 && step->result >= 0)
			batch->slot[step->into] = step->result;
	}
}

void batch_plain(struct round *round)
{
	struct batch *batch = round->batch;

	for (uint32_t i = 0; i < batch->count; i++)
		make_step(batch, &batch->step[i]);
}

void batch_region(struct round *round)
{
	struct batch *batch = round->batch;

	COSY_START;
	for (uint32_t i = 0; i < batch->count; i++)
		make_step(batch, &batch->step[i]);
	COSY_END;
}
