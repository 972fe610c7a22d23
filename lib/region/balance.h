/* SPDX-License-Identifier: MIT */
/*
 * balance.h - gives a program up whose calls seccomp filters mostly want to see.
 *
 * For each such call the compound leaves, libcosy makes the call, and a RUN goes on after it: four
 * times the cost of the plain call.  Calls that are made in the kernel may save more than that, or
 * less.  So from the first such call on, each RUN is counted as a gain or a loss, by the costs of
 * core/costs.h.  Once the program has lost COSY_MAX_FILTER_LOSS on the whole, it makes no RUN any
 * more in this process or in its fork children, since filters only grow stricter.
 */
#ifndef COSY_LIB_BALANCE_H
#define COSY_LIB_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

/* All threads' together, and without locks. */
struct libcosy_balance {
	bool kept;		  /* a filter wanted to see a call: it is kept from there on */
	bool given_up;		  /* never set back */
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
