/* SPDX-License-Identifier: MIT */
/* account.h - finds out under which number a user's connections and files are counted. */
#ifndef COSYD_ACCOUNT_H
#define COSYD_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Sets *ret to the user itself; or, for an ID that /etc/subuid gives to a user as subordinate, to
 * the first of that user's: so a user's subordinate IDs are one account, however many there are.
 * False: the file cannot be read now.
 */
bool account_of(uid_t uid, uid_t *ret);

#endif /* COSYD_ACCOUNT_H */
