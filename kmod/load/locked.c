// SPDX-License-Identifier: GPL-2.0
/* locked.c - charges to user_struct's locked_vm, an atomic counter, so that no lock is needed. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include "load/locked.h"

static bool caller_is_counted(void)
{
	return !ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK);
}

unsigned long cosy_locked_limit(void)
{
	return rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
}

int cosy_locked_charge(struct cosy_locked *locked, unsigned long pages)
{
	return cosy_locked_charge_within(locked, pages, cosy_locked_limit());
}

int cosy_locked_charge_within(struct cosy_locked *locked, unsigned long pages, unsigned long limit)
{
	struct user_struct *user = current_user();
	long now = atomic_long_read(&user->locked_vm);

	if (!caller_is_counted())
		return 0;
	do {
		if (now + pages > limit)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &now, now + pages));
	locked->payer = get_uid(user);
	locked->pages = pages;
	return 0;
}

bool cosy_locked_fits(unsigned long pages, unsigned long given_back, unsigned long limit)
{
	const unsigned long now = atomic_long_read(&current_user()->locked_vm);

	return !caller_is_counted() || now + pages <= limit + given_back;
}

void cosy_locked_charge_anyhow(struct cosy_locked *locked, unsigned long pages)
{
	struct user_struct *user = current_user();

	if (!caller_is_counted())
		return;
	atomic_long_add(pages, &user->locked_vm);
	locked->payer = get_uid(user);
	locked->pages = pages;
}

void cosy_locked_uncharge(struct cosy_locked *locked)
{
	if (!locked->payer)
		return;
	atomic_long_sub(locked->pages, &locked->payer->locked_vm);
	free_uid(locked->payer);
	locked->payer = NULL;
}
