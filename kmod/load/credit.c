// SPDX-License-Identifier: GPL-2.0
/* credit.c - see credit.h. */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/string.h>
#include "load/credit.h"

static uint background_insns = 256;
module_param(background_insns, uint, 0644);
MODULE_PARM_DESC(
	background_insns,
	"instructions of compounds compiled in the background for each user per second, 0 for none");

/* Compounds of a user that wait at most. */
#define MAX_WAITING 4
/* Instructions that a user who has not used the thread for long may have compiled at once. */
#define MAX_INSNS 65536
/* What a compilation costs beside its instructions: COSY_COST_LOAD to COSY_COST_LOAD_INSN. */
#define EACH_COSTS 16
/* How long a compound is not compiled again: if that failed, and if nobody came for the result. */
#define FAILED_FOR  (5 * 60 * HZ)
#define IN_VAIN_FOR (24 * 60 * 60 * HZ)

void cosy_credit_create(struct cosy_credit *credit)
{
	spin_lock_init(&credit->lock);
	credit->insns = MAX_INSNS;
	credit->filled = jiffies;
}

/* Adds the credit of the time that has passed.  Called under the lock. */
static void credit_fill(struct cosy_credit *credit)
{
	const unsigned long passed = min(jiffies - credit->filled, 24ul * 60 * 60 * HZ);
	const u64 more = (u64)passed * min(READ_ONCE(background_insns), (uint)MAX_INSNS) / HZ;

	/* A user who asks again and again must not lose the parts of an instruction. */
	if (!more)
		return;
	credit->filled = jiffies;
	credit->insns = min_t(u64, credit->insns + more, MAX_INSNS);
}

/* Called under the lock. */
static bool credit_is_in_vain(const struct cosy_credit *credit, u64 digest)
{
	unsigned int i;

	for (i = 0; i < COSY_MAX_IN_VAIN; i++) {
		if (credit->in_vain[i].digest == digest)
			return time_before(jiffies, credit->in_vain[i].until);
	}
	return false;
}

int cosy_credit_take(struct cosy_credit *credit, u64 digest, u32 insns)
{
	int error = 0;

	spin_lock(&credit->lock);
	credit_fill(credit);
	if (credit_is_in_vain(credit, digest)) {
		error = -ENOENT;
	} else if (credit->waiting >= MAX_WAITING || credit->insns < insns + EACH_COSTS ||
		   !READ_ONCE(background_insns)) {
		error = -EBUSY;
	} else {
		credit->insns -= insns + EACH_COSTS;
		credit->waiting++;
	}
	spin_unlock(&credit->lock);
	return error;
}

bool cosy_credit_is_full(struct cosy_credit *credit)
{
	bool ret;

	spin_lock(&credit->lock);
	credit_fill(credit);
	ret = credit->insns >= MAX_INSNS && !credit->waiting;
	spin_unlock(&credit->lock);
	return ret;
}

void cosy_credit_end(struct cosy_credit *credit)
{
	spin_lock(&credit->lock);
	credit->waiting--;
	spin_unlock(&credit->lock);
}

static void credit_note(struct cosy_credit *credit, u64 digest, unsigned long time)
{
	unsigned int i;

	spin_lock(&credit->lock);
	for (i = 0; i < COSY_MAX_IN_VAIN; i++) {
		if (credit->in_vain[i].digest == digest)
			break;
	}
	if (i == COSY_MAX_IN_VAIN) {
		i = credit->oldest;
		credit->oldest = (i + 1) % COSY_MAX_IN_VAIN;
	}
	credit->in_vain[i].digest = digest;
	credit->in_vain[i].until = jiffies + time;
	spin_unlock(&credit->lock);
}

void cosy_credit_failed(struct cosy_credit *credit, u64 digest)
{
	credit_note(credit, digest, FAILED_FOR);
}

void cosy_credit_in_vain(struct cosy_credit *credit, u64 digest)
{
	credit_note(credit, digest, IN_VAIN_FOR);
}

void cosy_credit_forget(struct cosy_credit *credit)
{
	spin_lock(&credit->lock);
	memset(credit->in_vain, 0, sizeof(credit->in_vain));
	spin_unlock(&credit->lock);
}
