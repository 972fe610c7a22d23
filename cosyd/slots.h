/* SPDX-License-Identifier: MIT */
/*
 * slots.h - keeps leases and their guard words, one slot for each inode.
 *
 * A keeper answers each break at once, whatever else it does: it changes the guard word, then
 * returns the lease (protocol.h explains why that is enough).  The leases are on open files that
 * only the daemon has, so no other process can change their owner or signal.
 */
#ifndef COSYD_SLOTS_H
#define COSYD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct slots_options {
	unsigned int
		hold_off; /* ms after a file's first break in which it gets no lease: quiet.h */
	unsigned int deadline; /* ms after which a keeper that does not run is ended */
	bool verbose;
};

/*
 * Makes this process, which has no other thread yet, the keeper of `memory`, which it can write.
 * Returns 0, and in *ret_signals a descriptor for slots_answer to read; or a negative errno.
 */
int slots_begin(struct cosyd_memory *memory, const struct slots_options *options, int *ret_signals);

/* Returns how many ms the process may wait; -1: without a limit.  To be called before each wait. */
int slots_timeout_ms(void);

/* Answers all breaks.  False: a signal has asked this process to end. */
bool slots_answer(int signals);

/*
 * Takes one more reference to the file that `fd` was opened for.  Takes `fd` over, and closes it
 * unless it is needed.  Returns 0, with slot and value in *reply; or -EAGAIN, -EACCES or -EMFILE
 * as in struct cosyd_reply.
 */
int slots_take(uint64_t dev, uint64_t ino, int fd, struct cosyd_reply *reply);

/*
 * Drops a reference.  If it was the last, *ret_fd is the descriptor, which the caller closes; else
 * it is -1.  Returns 0, or -EINVAL if there is no such reference.
 */
int slots_drop(uint32_t slot, int *ret_fd);

/* Makes all words worthless; the leases go when the process does. */
void slots_end(void);

#endif /* COSYD_SLOTS_H */
