/* SPDX-License-Identifier: GPL-2.0 */
/*
 * history.h - how far earlier processes of a user got in each region, so that the next process can
 * predict whether loading the region pays.
 */
#ifndef COSY_HISTORY_H
#define COSY_HISTORY_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/cosy.h>

struct cosy_context;

/* A user's history, in its struct cosy_cache and under its lock. */
struct cosy_history {
	struct list_head pasts; /* struct cosy_past; those used last come first */
	unsigned int count;
};

/*
 * A region that a context has asked for: LOAD ties programs to it, RUN counts their calls here, and
 * the context's end adds them to the history, also when the process was killed.  The counts are
 * hints: threads that RUN at the same time may lose each other's.
 */
struct cosy_followed {
	struct list_head node; /* context->followed; the lock of the user's cache */
	u64 key[2];
	unsigned int spaces[2];
	u64 saved;		 /* by the native twin before, in instructions */
	u32 call_gain, run_loss; /* as RECALL was given them */
	unsigned long calls, runs;
};

static inline void cosy_followed_count(struct cosy_followed *followed, u64 calls)
{
	WRITE_ONCE(followed->calls, READ_ONCE(followed->calls) + calls);
	WRITE_ONCE(followed->runs, READ_ONCE(followed->runs) + 1);
}

void cosy_history_create(struct cosy_history *history);
/* Forgets all of it.  Called under the lock. */
void cosy_history_drop(struct cosy_history *history);
/* Forgets regions that no process has come to for long.  Called under the lock. */
void cosy_history_age(struct cosy_history *history);

/* Serves RECALL: 0, -EINVAL or -ENOMEM; see the uapi header. */
long cosy_history_recall(struct cosy_context *context, struct cosy_recall *recall);

/* Returns the record that RECALL made this context follow under that key, or NULL. */
struct cosy_followed *cosy_history_followed(struct cosy_context *context, const u64 key[2]);
/* Adds the savings of a context's programs, when the context ends and no RUN is under way. */
void cosy_history_settle(struct cosy_context *context);

#endif /* COSY_HISTORY_H */
