/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* ways.h - runs a program in every way there is to sandbox it. */
#ifndef COSY_TEST_WAYS_H
#define COSY_TEST_WAYS_H

#include "assemble.h"
#include "differential.h"

#define LOW	     0x40000000ull
#define HIGH	     0x7e0000000000ull
#define BASED	     0x7e0000001000ull /* the buffer of code that does not know it */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline struct differential setting(u64 user_base)
{
	return (struct differential){
		.how = {.user_base = user_base,
			.size = 4096,
			.has_v4 = true,
			.has_gotol = true,
			.seed = 1},
		.seed = 1,
		.limit = 2000,
		.max_grant = 1000,
	};
}

/* Runs a program by a setting; the test fails when the oracle is not content. */
static inline void run(struct differential *d, const struct bpf_insn *insns, u32 count)
{
	struct cosy_validated program = validated(insns, count);

	if (!differential_run(d, &program)) {
		fprintf(stderr, "%s\n", d->problem);
		CHECK(!d->problem[0]);
	}
	cosy_validated_deinit(&program);
}

/* Runs a program in every way there is to sandbox it, left at every chance and not at all. */
static inline void run_all_ways(const struct bpf_insn *insns, u32 count, enum outcome outcome,
				u64 result)
{
	static const u64 bases[] = {LOW, HIGH};
	u32 way;

	for (way = 0; way < 256; way++) {
		struct differential d = setting(bases[way & 1]);

		d.how.has_v4 = way & 2;
		d.how.blind = way & 4;
		d.how.size = way & 8 ? 4096 : 0;
		d.how.based = way & 64;
		d.how.copies_ax = way & 128;
		d.how.has_v4 |= d.how.based;
		d.how.has_gotol = d.how.has_v4;
		d.leave_every = way & 16 ? 1 : 0;
		d.fault_every = way & 16 ? 2 : 0;
		d.max_grant = way & 32 ? 1 : 100;
		d.starved = way & 32;
		run(&d, insns, count);
		CHECK_EQ(d.outcome, outcome);
		if (outcome == RUN_DONE)
			CHECK_EQ(d.result, result);
	}
}

#define ALL_WAYS(outcome, result, ...)                                                             \
	do {                                                                                       \
		struct bpf_insn insns_[] = {__VA_ARGS__};                                          \
                                                                                                   \
		run_all_ways(insns_, COUNT(insns_), outcome, result);                              \
	} while (0)

#endif /* COSY_TEST_WAYS_H */
