// SPDX-License-Identifier: MIT
/* users.c - see users.h. */
#include <pthread.h>
#include <stddef.h>

#include "account.h"
#include "users.h"

#define USERS 512

struct user {
	uid_t account;
	unsigned int connections; /* 0: free */
	unsigned int files;
};

static struct user users[USERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct user *user_find(uid_t account)
{
	struct user *unused = NULL;

	for (unsigned int i = 0; i < USERS; i++) {
		if (!users[i].connections)
			unused = &users[i];
		else if (users[i].account == account)
			return &users[i];
	}
	if (unused)
		*unused = (struct user){.account = account};
	return unused;
}

struct user *user_enter(uid_t uid, const struct user_limits *limits)
{
	struct user *user;
	uid_t account;

	if (!account_of(uid, &account))
		return NULL;
	pthread_mutex_lock(&lock);
	user = user_find(account);
	if (user && user->connections >= limits->connections)
		user = NULL;
	if (user)
		user->connections++;
	pthread_mutex_unlock(&lock);
	return user;
}

void user_leave(struct user *user)
{
	pthread_mutex_lock(&lock);
	user->connections--;
	pthread_mutex_unlock(&lock);
}

bool user_add_file(struct user *user, const struct user_limits *limits)
{
	bool fine;

	pthread_mutex_lock(&lock);
	fine = user->files < limits->files;
	user->files += fine;
	pthread_mutex_unlock(&lock);
	return fine;
}

void user_remove_file(struct user *user)
{
	pthread_mutex_lock(&lock);
	user->files--;
	pthread_mutex_unlock(&lock);
}
