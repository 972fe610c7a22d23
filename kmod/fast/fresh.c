// SPDX-License-Identifier: GPL-2.0
/* fresh.c - see fresh.h. */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "fast/fresh.h"

void cosy_fresh_init(struct cosy_fresh *fresh, const struct cosy_fresh_shared *shared)
{
	bool still = READ_ONCE(shared->in) == jiffies;

	fresh->read[0] = still ? READ_ONCE(shared->read[0]) : NULL;
	fresh->read[1] = still ? READ_ONCE(shared->read[1]) : NULL;
	fresh->write = still ? READ_ONCE(shared->write) : NULL;
	fresh->wanted = NULL;
	fresh->wanted_to_write = false;
	fresh->sleeps = current->nvcsw;
}

void cosy_fresh_forget(struct cosy_fresh *fresh)
{
	fresh->read[0] = fresh->read[1] = fresh->write = NULL;
	fresh->sleeps = current->nvcsw;
}

static void fresh_add(struct cosy_fresh *fresh, struct cosy_fresh_shared *shared)
{
	bool still = READ_ONCE(shared->in) == jiffies;

	if (fresh->sleeps != current->nvcsw)
		cosy_fresh_forget(fresh);
	if (fresh->wanted_to_write) {
		fresh->write = fresh->wanted;
		WRITE_ONCE(shared->write, fresh->wanted);
	} else if (!still) {
		WRITE_ONCE(shared->write, NULL);
	}
	fresh->read[1] = fresh->read[0];
	fresh->read[0] = fresh->wanted;
	WRITE_ONCE(shared->read[1], still ? READ_ONCE(shared->read[0]) : NULL);
	WRITE_ONCE(shared->read[0], fresh->wanted);
	WRITE_ONCE(shared->in, jiffies);
}

void cosy_fresh_end(struct cosy_fresh *fresh, struct cosy_fresh_shared *shared, s64 result)
{
	if (result >= 0)
		fresh_add(fresh, shared);
	fresh->wanted = NULL;
	fresh->wanted_to_write = false;
}
