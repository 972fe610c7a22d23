// SPDX-License-Identifier: MIT
/* region.c - the steps of a batch, made by plain calls or inside a region. */
#include <sys/syscall.h>
#include "same.h"

/* FNV-1a, by words. */
static inline uint64_t mix(uint64_t digest, uint64_t word)
{
	return (digest ^ word) * 0x100000001b3;
}

static inline long make(uint32_t op, long a, long b, long c, long d, long e, long f)
{
	long result;

	switch (op) {
#define STEP(call, arguments, weight)					\
	case STEP_##call:						\
		result = syscall(SYS_##call, a, b, c, d, e, f);		\
		break;
#include "steps.def"
	default:
		return 0;
	}
	return result == -1 ? -errno : result;
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
			step->result = make(step->op, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		step->digest = mix(step->digest, (uint64_t)step->result);
		if (step->look)
			for (uint64_t at = 0; at + 8 <= step->look_len; at += 8)
				step->digest = mix(step->digest, *(uint64_t *)(step->look + at));
		if (step->into >= 0 && step->result >= 0)
			batch->slot[step->into] = step->result;
	}
}

void batch_plain(struct batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++)
		make_step(batch, &batch->step[i]);
}

void batch_region(struct batch *batch)
{
	COSY_START;
	for (uint32_t i = 0; i < batch->count; i++)
		make_step(batch, &batch->step[i]);
	COSY_END;
}
