/* SPDX-License-Identifier: GPL-2.0 */
/*
 * credit.h - how much the thread of background.c may still compile for a user, and what it is not to
 * compile again.
 */
#ifndef COSY_CREDIT_H
#define COSY_CREDIT_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define COSY_MAX_IN_VAIN 16

/* A user's, in its struct cosy_cache, whose lock may be held when this one is taken. */
struct cosy_credit {
	spinlock_t lock;
	unsigned int waiting; /* compounds that wait or are being compiled */
	unsigned int insns;   /* instructions that the user may have compiled ... */
	unsigned long filled; /* ... as of this time, in jiffies */
	/* Digests of compounds that were compiled in vain, until when; the oldest one goes */
	struct {
		u64 digest;
		unsigned long until; /* jiffies */
	} in_vain[COSY_MAX_IN_VAIN];
	unsigned int oldest;
};

void cosy_credit_create(struct cosy_credit *credit);

/*
 * Takes the credit for a compound of so many instructions, until cosy_credit_end.  0; -ENOENT: it was
 * compiled in vain lately; -EBUSY: there is not so much now, or too many wait.
 */
int cosy_credit_take(struct cosy_credit *credit, u64 digest, u32 insns);
/* Returns whether the user has used the thread so little lately that nothing is to be remembered. */
bool cosy_credit_is_full(struct cosy_credit *credit);
/* Notes that a compound waits no longer; what it has cost is not given back. */
void cosy_credit_end(struct cosy_credit *credit);

/* Notes that a compound did not compile. */
void cosy_credit_failed(struct cosy_credit *credit, u64 digest);
/* Notes that a compound was compiled, and nobody came for it. */
void cosy_credit_in_vain(struct cosy_credit *credit, u64 digest);
/* Forgets what failed or was in vain. */
void cosy_credit_forget(struct cosy_credit *credit);

#endif /* COSY_CREDIT_H */
