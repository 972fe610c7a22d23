/* SPDX-License-Identifier: MIT */
/*
 * balance.h - gives a program up that loses in the kernel what it was expected to save.
 *
 * cosycc estimates that a call with a specialised version is made by it.  Where it is not, since
 * its name, its file or its size is none that the module knows, the call costs what it costs
 * outside, less the crossing, and a RUN with few such calls loses.  So the first RUNs of a program
 * are counted as gains or losses, by the costs of core/costs.h.
 *
 * For each call that seccomp filters inspect, the compound leaves, libcosy makes the call, and a
 * RUN goes on after it: four times the cost of the plain call.  Calls that are made in the kernel
 * may save more than that, or less.  So from the first such call on, each RUN is counted.
 *
 * Once the program has lost 1/64 of what its region cost natively so far, at least
 * COSY_MIN_BALANCE_LOSS, or under a filter COSY_MAX_BALANCE_LOSS, it makes no RUN any more in this
 * process or in its fork children.
 */
#ifndef COSY_LIB_BALANCE_H
#define COSY_LIB_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

/* All threads' together, and without locks. */
struct libcosy_balance {
	bool kept;		  /* RUNs are counted: the first, and all once a filter is met */
	bool given_up;		  /* never set back */
	uint32_t runs;		  /* that were counted before a filter was met */
	int64_t saved;		  /* in instructions, negative when it lost */
	uint64_t calls, filtered; /* that were made in the kernel; that filters wanted to see */
};

struct cosy_loaded;
struct libcosy_activation;

/* Counts what the RUN that has just come back gained or lost.  Async-signal-safe. */
void libcosy_balance_add(struct cosy_loaded *loaded, struct libcosy_activation *act);

static inline bool libcosy_given_up(const struct libcosy_balance *balance)
{
	return __atomic_load_n(&balance->given_up, __ATOMIC_RELAXED);
}

#endif /* COSY_LIB_BALANCE_H */
