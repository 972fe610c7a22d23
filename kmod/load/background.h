/* SPDX-License-Identifier: GPL-2.0 */
/*
 * background.h - compounds that a thread of the kernel compiles for the user's next process.
 */
#ifndef COSY_BACKGROUND_H
#define COSY_BACKGROUND_H

#include <linux/types.h>

struct cosy_reject;
struct cosy_target;
struct cosy_user;

/*
 * Has a container compiled for a target without a buffer's address, for the caller's next
 * processes.  Never 0; see COSY_LOAD_BACKGROUND for the errors.  -EINPROGRESS: `*data` (of kvmalloc)
 * may have been taken over, and is NULL then.
 */
int cosy_background_queue(struct cosy_user *user, void **data, u32 len,
			  const struct cosy_target *target, struct cosy_reject *why);

/* Returns the processor time that the thread has taken until it slept last, in ns. */
u64 cosy_background_time(void);

int cosy_background_init(void);
/* Ends the thread, when no context is open any more, and drops what waits. */
void cosy_background_exit(void);

#endif /* COSY_BACKGROUND_H */
