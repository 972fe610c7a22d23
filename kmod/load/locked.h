/* SPDX-License-Identifier: GPL-2.0 */
/* locked.h - memory that counts in what a user has locked, as io_uring's does. */
#ifndef COSY_LOCKED_H
#define COSY_LOCKED_H

#include <linux/types.h>

struct user_struct;

/* What was charged; all zero: nothing. */
struct cosy_locked {
	struct user_struct *payer; /* a reference; NULL: nobody's */
	unsigned long pages;
};

/* To the caller.  -ENOMEM above his RLIMIT_MEMLOCK; who may lock as much as he likes is not counted. */
int cosy_locked_charge(struct cosy_locked *locked, unsigned long pages);
/* Whether that would succeed if so many pages of the caller's user were given back before. */
bool cosy_locked_fits(unsigned long pages, unsigned long given_back);
/* Above the limit, too. */
void cosy_locked_charge_anyhow(struct cosy_locked *locked, unsigned long pages);
/* Takes no lock that a process can hold. */
void cosy_locked_uncharge(struct cosy_locked *locked);

#endif /* COSY_LOCKED_H */
