/* SPDX-License-Identifier: GPL-2.0 */
/* users.h - users' accounts: how much of each resource a user has, and may have. */
#ifndef COSY_USERS_H
#define COSY_USERS_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct cosy_user;

enum cosy_charge {
	COSY_CHARGE_CONTEXTS,
	COSY_CHARGE_PROGRAMS,
	COSY_CHARGE_WATCHERS,
	COSY_CHARGE_CODE, /* bytes of programs, compiled and not */
	COSY_CHARGE_CNT
};

/* Memory in each account that is another part's: the cache of compiled programs. */
struct cosy_attachment {
	size_t size;
	void (*create)(void *attached);		 /* begins with zeros; cannot fail */
	bool (*reclaim)(struct cosy_user *user); /* gives charged code back; false: there is none */
};

/* To be called before there is an account. */
void cosy_users_init(struct cosy_attachment attached);
void *cosy_user_attached(struct cosy_user *user);
struct cosy_user *cosy_user_of_attached(void *attached);

/* Returns the account of the caller's real user id, a reference; or -ENOMEM. */
struct cosy_user *cosy_user_get(void);
/* Takes another reference; returns the user. */
struct cosy_user *cosy_user_hold(struct cosy_user *user);
void cosy_user_put(struct cosy_user *user);
/* Returns a reference to any one of the accounts, for the module's end; NULL when none is left. */
struct cosy_user *cosy_user_any(void);

kuid_t cosy_user_uid(const struct cosy_user *user);
/*
 * Charges an amount: 0, or -EDQUOT when that would be above the module's parameter.  Code that is
 * only kept for later makes room for code.
 */
int cosy_user_charge(struct cosy_user *user, enum cosy_charge what, long amount);
void cosy_user_uncharge(struct cosy_user *user, enum cosy_charge what, long amount);

#endif /* COSY_USERS_H */
