/* SPDX-License-Identifier: GPL-2.0 */
/* locked.h - memory that counts as locked by a user, like io_uring's. */
#ifndef COSY_LOCKED_H
#define COSY_LOCKED_H

#include <linux/types.h>

struct user_struct;

/* A charge; all zero: nothing is charged. */
struct cosy_locked {
	struct user_struct *payer; /* a reference; NULL: nobody's */
	unsigned long pages;
};

/*
 * Charges the calling user.  -ENOMEM above RLIMIT_MEMLOCK; a process that may lock as much as it
 * likes is not counted.
 */
int cosy_locked_charge(struct cosy_locked *locked, unsigned long pages);
/* Returns the calling process's RLIMIT_MEMLOCK in pages. */
unsigned long cosy_locked_limit(void);
/* Does as cosy_locked_charge, by the limit of another process: a thread of the kernel has none. */
int cosy_locked_charge_within(struct cosy_locked *locked, unsigned long pages, unsigned long limit);
/* Tells whether that would succeed once `given_back` pages of the caller's user are uncharged. */
bool cosy_locked_fits(unsigned long pages, unsigned long given_back, unsigned long limit);
/* Charges the calling user above the limit, too. */
void cosy_locked_charge_anyhow(struct cosy_locked *locked, unsigned long pages);
/* Gives a charge back.  Takes no lock that a process can hold. */
void cosy_locked_uncharge(struct cosy_locked *locked);

#endif /* COSY_LOCKED_H */
