/* SPDX-License-Identifier: MIT */
/*
 * slots.h - keeps leases and their guard words, one slot for each inode.
 *
 * When a lease is broken, the keeper changes the guard word, then returns the lease, before it does
 * anything else (protocol.h explains why that is enough).  The leases are on open files that only
 * the daemon has, so no other process can change their owner or signal.
 */
#ifndef COSYD_SLOTS_H
#define COSYD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct slots_options {
	unsigned int hold_off; /* ms without a lease after a file's first break: see quiet.h */
	unsigned int deadline; /* ms after which a keeper that does not run is killed */
	bool verbose;
};

/*
 * Makes this process the keeper of `memory`, which it can write.  It must have no other thread yet.
 * `memory` and `options` stay in use.  Returns 0, and in *ret_signals a descriptor for slots_answer
 * to read; or a negative errno.
 */
int slots_begin(struct cosyd_memory *memory, const struct slots_options *options, int *ret_signals);

/*
 * Puts off the deadline.  Returns how many ms the process may wait now; -1: without a limit.  Call
 * it before each wait.
 */
int slots_timeout_ms(void);

/* Answers all breaks.  False: SIGTERM or SIGINT has arrived. */
bool slots_answer(int signals);

/*
 * Takes a reference to the slot of the inode that `fd` is open on, and a lease if there is none.
 * Owns `fd` from then on, and closes it unless the slot keeps it.  Returns 0, with slot and value
 * in *reply; or -EAGAIN, -EACCES or -EMFILE as in struct cosyd_reply.
 */
int slots_take(uint64_t dev, uint64_t ino, int fd, struct cosyd_reply *reply);

/*
 * Drops a reference.  If it was the last, returns the lease and sets *ret_fd to the descriptor,
 * which the caller closes; else *ret_fd is -1.  Returns 0, or -EINVAL if there is no such
 * reference.
 */
int slots_drop(uint32_t slot, int *ret_fd);

/* Invalidates all words, by giving up `keeper`.  The leases end with the process. */
void slots_end(void);

#endif /* COSYD_SLOTS_H */
