/* SPDX-License-Identifier: MIT */
/* client.h - starts a daemon of the test's own, and clients that say what they like to it. */
#ifndef COSYD_TEST_CLIENT_H
#define COSYD_TEST_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Ends a test that fails; its daemon ends with it. */
#include "../../run/test/check.h"
#include "../protocol.h"

/* Starts the daemon, in a folder of the test's own; `more` are options up to NULL. */
void daemon_start(const char *program, const char *const *more);
pid_t daemon_front(void);
pid_t daemon_keeper(void);
void daemon_end(void);

/*
 * Makes a new file with some bytes, in that folder, owned by the daemon's user.  Returns its path.
 */
const char *file_make(void);

/* Returns a connection of this process, or -1. */
int client_connect(void);

/* Sends any bytes and any descriptors. */
bool client_send(int client, const void *bytes, size_t len, const int *fds, size_t count);
bool client_ask(int client, enum cosyd_op op, uint32_t slot, int fd);
/* Receives an answer.  False: the daemon has closed the connection.  *ret_fd may be NULL. */
bool client_answer(int client, struct cosyd_reply *ret, int *ret_fd);

/* Sends TAKE.  Returns its answer. */
struct cosyd_reply client_take(int client, int fd);
const struct cosyd_memory *client_memory(int client, int *ret_fd);

/* Waits until it is so; fails the test after a minute. */
void wait_until(bool (*so)(const void *context), const void *context);

#endif /* COSYD_TEST_CLIENT_H */
