/* SPDX-License-Identifier: MIT */
/* users.h - limits each user's share of the daemon, so that none exhausts it. */
#ifndef COSYD_USERS_H
#define COSYD_USERS_H

#include <stdbool.h>
#include <sys/types.h>

struct user;

struct user_limits {
	unsigned int connections; /* of one user */
	unsigned int files;	  /* references to files, by all connections of one user */
};

/*
 * Count a connection more, or less.  NULL: too many of this user, or too many users.  A user's
 * subordinate IDs count together (account.h).
 */
struct user *user_enter(uid_t uid, const struct user_limits *limits);
void user_leave(struct user *user);

/* Count a reference to a file more, or less.  False: too many. */
bool user_add_file(struct user *user, const struct user_limits *limits);
void user_remove_file(struct user *user);

#endif /* COSYD_USERS_H */
