/* SPDX-License-Identifier: MIT */
/*
 * slots.h - leases and their guard words, one slot for each inode: what makes a process a keeper.
 *
 * A keeper answers each break at once, whatever else it does: it clears the guard word, then
 * returns the lease (protocol.h says why that is enough).  The descriptors that the leases are on
 * are its own, of descriptions that nobody else has, so that nobody else can change their owner or
 * signal.
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
 * Makes this process the keeper of `memory`, whose words it can write.  It has no other thread yet.
 * 0, and in *ret_signals a descriptor to be read by slots_answer; or a negative errno.
 */
int slots_begin(struct cosyd_memory *memory, const struct slots_options *options, int *ret_signals);

/* ms that this process may wait for anything, -1: as long as it likes.  Call it before each wait. */
int slots_timeout_ms(void);

/* Answers all breaks.  False: a signal asks this process to end. */
bool slots_answer(int signals);

/*
 * Takes one more reference to the file that `fd` was opened for; `fd` is the slots' from now on,
 * and closed unless it is needed.  0, with slot and value in *reply; or -EAGAIN, -EACCES or -EMFILE as in
 * struct cosyd_reply.
 */
int slots_take(uint64_t dev, uint64_t ino, int fd, struct cosyd_reply *reply);

/*
 * Drops a reference.  If it was the last, *ret_fd is the descriptor, which the caller closes; else -1.
 * Returns 0, or -EINVAL if there is no such reference.
 */
int slots_drop(uint32_t slot, int *ret_fd);

/* No word counts any more; the leases go when the process does. */
void slots_end(void);

#endif /* COSYD_SLOTS_H */
