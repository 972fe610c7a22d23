/* SPDX-License-Identifier: MIT */
/*
 * front.h - runs the daemon's process that clients talk to.
 *
 * The front has no privileges, and a thread for each connection: a descriptor that a client
 * sends may be anything, and looking at it or closing it may take as long as that client
 * likes (FUSE, a socket that lingers).  That delays this client's thread alone; the keeper
 * has the leases.
 */
#ifndef COSYD_FRONT_H
#define COSYD_FRONT_H

#include <stdbool.h>
#include <sys/types.h>

#include "users.h"

struct front_options {
	struct user_limits limits;
	bool verbose;
};

/* Serves connections to `listener` until the process ends, which it does when the keeper does. */
void front_run(int listener, int keeper, pid_t keeper_pid, int memory,
	       const struct front_options *options) __attribute__((noreturn));

#endif /* COSYD_FRONT_H */
