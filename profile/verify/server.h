/* SPDX-License-Identifier: MIT */
/*
 * server.h - programs that do not end by themselves: a command puts load on them, and they are
 * ended after it.
 */
#ifndef COSY_PROFILE_SERVER_H
#define COSY_PROFILE_SERVER_H

#include <stdbool.h>

/*
 * Makes this process the parent of all processes that a child leaves behind.  So a server that goes
 * into the background can be ended, and its processor time is known.
 */
void server_adopt(void);

/* Asks all children to end, and makes them after a minute.  Returns ns of processor time of all. */
double server_end(void);

/* A load beside a recording, in a process of its own. */
struct load {
	const char *command; /* for sh -c */
	int pid, from;
};

/*
 * Starts it; when it has ended it sends SIGTERM to this process until load_end.  False: it could
 * not be started.
 */
bool load_start(struct load *load);

/* Returns its status as wait(2) has it; below 0: it was not over. */
int load_end(struct load *load);

/* Runs a load until it ends, its output thrown away.  Returns its status as wait(2) has it. */
int load_run(const char *command);

#endif /* COSY_PROFILE_SERVER_H */
