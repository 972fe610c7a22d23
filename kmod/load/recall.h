/* SPDX-License-Identifier: GPL-2.0 */
/*
 * recall.h - RECALL: a context asks for the history of its regions, and adds to it.
 */
#ifndef COSY_RECALL_H
#define COSY_RECALL_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/types.h>

struct cosy_context;
struct cosy_recall;

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

/* Serves RECALL: 0, -EINVAL or -ENOMEM; see the uapi header. */
long cosy_recall(struct cosy_context *context, struct cosy_recall *recall);

/* Returns the record that RECALL made this context follow under that key, or NULL. */
struct cosy_followed *cosy_recall_followed(struct cosy_context *context, const u64 key[2]);
/* Adds the savings of a context's programs, when the context ends and no RUN is under way. */
void cosy_recall_settle(struct cosy_context *context);

#endif /* COSY_RECALL_H */
