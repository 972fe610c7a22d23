// SPDX-License-Identifier: MIT
/* balance.c - see balance.h. */
#include "../../core/costs.h"

#include "region/balance.h"
#include "region/pace.h"
#include "region/program.h"
#include "process/settings.h"
#include "process/stacks.h"
#include "process/stats.h"
#include "region/tier.h"

/*
 * RUNs that are counted though no filter is met.  What a program's calls are shows in so many: the
 * files, names and sizes that it is asked for seldom change their kind.
 */
#define FIRST_RUNS 1024

static void balance_give_up(struct cosy_loaded *loaded, bool slower)
{
	struct libcosy_balance *balance = &loaded->balance;
	unsigned long long calls = __atomic_load_n(&balance->calls, __ATOMIC_RELAXED);
	unsigned long long filtered = __atomic_load_n(&balance->filtered, __ATOMIC_RELAXED);

	if (__atomic_exchange_n(&balance->given_up, true, __ATOMIC_RELAXED))
		return;
	libcosy_program_displace(loaded);
	libcosy_count(&libcosy_counts.given_up, 1);
	/* The cost of a filter does not apply to the user's other processes. */
	if (loaded->region && !filtered)
		libcosy_tier_slower(loaded->region);
	if (!libcosy_settings.debug)
		return;
	if (filtered)
		libcosy_say("%s stays native from here: seccomp filters inspected %llu of its "
			    "calls, %llu were made in the kernel",
			    libcosy_program_name(loaded), filtered, calls);
	else if (slower)
		libcosy_say("%s stays native from here: by the time that it took it is slower in "
			    "the kernel",
			    libcosy_program_name(loaded));
	else
		libcosy_say(
			"%s stays native from here: its %llu calls saved less than entering the "
			"kernel costs, because %s, and it makes few per entry",
			libcosy_program_name(loaded), calls,
			loaded->again ? "it leaves for calls that no compound can hold"
				      : "none of them was specialised");
}

/* Returns what a RUN saved under filters; `filtered`: one of them wanted to see a call. */
static int64_t balance_filtered(int64_t calls, int64_t fast, bool filtered)
{
	return fast * COSY_GAIN_FAST_FILTERED + (calls - fast) * COSY_GAIN_CALL_FILTERED -
	       (filtered ? COSY_LOSS_FILTERED : 0);
}

/*
 * Returns what one saved without.  A specialised call can save much more than any constant says,
 * a view of 64 KB say; so one of them is taken to have been worth the RUN.  But a region that is
 * left for the host in the middle of its loop may make one call a RUN and go on natively: there, a
 * call has saved what a read of a byte does, and others beside such have had a version tried in
 * vain, which costs what a crossing does, or more.
 *
 * What the program's own code loses beside each call, on strings say, is made up for by a
 * specialised call, or else the compiler had kept the region native; by another it may not be.
 */
static int64_t balance_first(const struct cosy_loaded *loaded, int64_t calls, int64_t fast)
{
	int64_t gain = loaded->again ? 2 * COSY_GAIN_FAST : COSY_COST_RUN;
	int64_t other = (loaded->again && fast ? 0 : COSY_GAIN_CALL) - (int64_t)loaded->lost;

	if (!calls && !loaded->again)
		return 0;
	return fast * gain + (calls - fast) * other - COSY_COST_RUN;
}

/* Stops counting where a filter has not been met in all those RUNs. */
static void balance_end_first(struct libcosy_balance *balance, struct libcosy_activation *act)
{
	if (__atomic_add_fetch(&balance->runs, 1, __ATOMIC_RELAXED) < FIRST_RUNS)
		return;
	__atomic_store_n(&balance->kept, false, __ATOMIC_RELAXED);
	act->run.size = offsetof(struct cosy_run, calls);
}

/*
 * Returns how much a program may lose before it is given up: less in a process that has not run for
 * long.  A filter may be met at the start alone.
 */
static int64_t balance_tolerated(const struct cosy_loaded *loaded)
{
	const struct libcosy_balance *balance = &loaded->balance;

	if (!loaded->region || __atomic_load_n(&balance->filtered, __ATOMIC_RELAXED))
		return COSY_MAX_BALANCE_LOSS;
	return libcosy_tier_tolerated_loss(loaded->region);
}

void libcosy_balance_add(struct cosy_loaded *loaded, struct libcosy_activation *act)
{
	struct libcosy_balance *balance = &loaded->balance;
	bool told = act->run.size == sizeof(act->run);
	bool filtered = act->run.status == COSY_LEFT_FILTERED;
	uint64_t calls = told ? act->run.calls : 0, fast = told ? act->run.fast : 0;
	int64_t saved;

	if (filtered) {
		if (!__atomic_fetch_add(&balance->filtered, 1, __ATOMIC_RELAXED))
			__atomic_store_n(&balance->saved, 0, __ATOMIC_RELAXED);
		/* Each time: another thread may just have ended the first RUNs. */
		__atomic_store_n(&balance->kept, true, __ATOMIC_RELAXED);
	}
	if (!__atomic_load_n(&balance->kept, __ATOMIC_RELAXED))
		return;
	/* Ask for the counts from the next RUN on. */
	act->run.size = sizeof(act->run);
	__atomic_fetch_add(&balance->calls, calls, __ATOMIC_RELAXED);
	if (__atomic_load_n(&balance->filtered, __ATOMIC_RELAXED)) {
		saved = balance_filtered(calls, fast, filtered);
	} else {
		saved = told ? balance_first(loaded, calls, fast) : 0;
		balance_end_first(balance, act);
	}
	saved = __atomic_add_fetch(&balance->saved, saved, __ATOMIC_RELAXED);
	if (loaded->forced || libcosy_settings_force())
		return;
	if (saved < -balance_tolerated(loaded))
		balance_give_up(loaded, false);
	else if (loaded->region && libcosy_pace_is_slower(loaded->region, calls))
		balance_give_up(loaded, true);
}
