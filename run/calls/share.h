/* SPDX-License-Identifier: MIT */
/* share.h - knows of other processes that share this one's descriptors or memory: NO_FP_SHARE. */
#ifndef COSY_RUN_SHARE_H
#define COSY_RUN_SHARE_H

#include <stdbool.h>

#include "file/file.h"
#include "metadata/metadata.h"
#include "vfork.h"

#pragma GCC visibility push(hidden)

/*
 * Surround what has this process's descriptors, or what they name, shared with another process: the
 * first replugs everything and settles what is relaxed, and nothing is specialised until the
 * second.  UNTIL_CLOSED: the other one shares the files that are open then.  They nest.
 */
void share_begin(enum guard why, enum how_long how_long);
void share_end(void);

/*
 * Do the same, except in the child of a vfork, whose memory is its parent's.  The second takes the
 * first's result.
 */
bool share_enter(enum guard why, enum how_long how_long);
void share_leave(bool entered);

/* Makes a call between the two. */
#define SHARE_AROUND(why, how_long, call)                                                          \
	({                                                                                         \
		bool entered_ = share_enter(why, how_long);                                        \
		__typeof__(call) ret_ = (call);                                                    \
                                                                                                   \
		share_leave(entered_);                                                             \
		ret_;                                                                              \
	})

/*
 * Does the same without the thread that returns leases: some programs count threads in a child, and
 * the thread would go on as a user that the process has left.
 */
bool share_enter_alone(enum guard why, enum how_long how_long);

/* Ends specialising and relaxing for good, in this process and its children. */
void share_forbid(enum guard why);

/* Ends relaxing for `fd`, and specialised reads of what it names. */
void share_descriptor(int fd, enum guard why, enum how_long how_long);

/*
 * Ends the thread that returns leases, and lets the next one share the program's descriptors:
 * `why` it can have none of its own any more.
 */
void share_table_with_thread(enum guard why);

/*
 * Makes a call, with libc's convention, after which this thread's descriptors are not those of the
 * others: a number may mean two files then, so nothing is specialised any more.
 */
#define SHARE_NO_TABLE(call)                                                                       \
	({                                                                                         \
		bool entered_ = (metadata_off(), share_enter(GUARD_ONE_TABLE, FOR_NOW));           \
		__typeof__(call) ret_ = (call);                                                    \
                                                                                                   \
		if (entered_ && !ret_)                                                             \
			share_forbid(GUARD_ONE_TABLE);                                             \
		share_leave(entered_);                                                             \
		ret_;                                                                              \
	})

#pragma GCC visibility pop

#endif /* COSY_RUN_SHARE_H */
