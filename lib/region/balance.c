// SPDX-License-Identifier: MIT
/* balance.c - see balance.h. */
#include "../../core/costs.h"

#include "region/balance.h"
#include "region/program.h"
#include "process/settings.h"
#include "process/stacks.h"
#include "process/stats.h"
#include "region/tier.h"

static void balance_give_up(struct cosy_loaded *loaded)
{
	struct libcosy_balance *balance = &loaded->balance;

	if (__atomic_exchange_n(&balance->given_up, true, __ATOMIC_RELAXED))
		return;
	libcosy_program_displace(loaded);
	libcosy_count(&libcosy_counts.given_up, 1);
	if (libcosy_settings.debug)
		libcosy_say("%s stays native from here: seccomp filters wanted to see %llu of its "
			    "calls, %llu were made in the kernel",
			    libcosy_program_name(loaded),
			    (unsigned long long)__atomic_load_n(&balance->filtered,
								__ATOMIC_RELAXED),
			    (unsigned long long)__atomic_load_n(&balance->calls, __ATOMIC_RELAXED));
}

void libcosy_balance_add(struct cosy_loaded *loaded, struct libcosy_activation *act)
{
	struct libcosy_balance *balance = &loaded->balance;
	bool filtered = act->run.status == COSY_LEFT_FILTERED;
	uint64_t calls = act->run.calls, fast = act->run.fast;
	int64_t saved = fast * COSY_GAIN_FAST_FILTERED + (calls - fast) * COSY_GAIN_CALL_FILTERED;

	if (filtered) {
		__atomic_store_n(&balance->kept, true, __ATOMIC_RELAXED);
		saved -= COSY_LOSS_FILTERED;
		__atomic_fetch_add(&balance->filtered, 1, __ATOMIC_RELAXED);
	}
	if (!__atomic_load_n(&balance->kept, __ATOMIC_RELAXED))
		return;
	/* Ask for the counts from the next RUN on. */
	act->run.size = sizeof(act->run);
	__atomic_fetch_add(&balance->calls, calls, __ATOMIC_RELAXED);
	saved = __atomic_add_fetch(&balance->saved, saved, __ATOMIC_RELAXED);
	if (saved < -COSY_MAX_FILTER_LOSS && !loaded->forced && !libcosy_tier_forced())
		balance_give_up(loaded);
}
