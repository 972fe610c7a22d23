/* SPDX-License-Identifier: MIT */
/* share.h - knows of other processes that share this one's descriptors or memory: NO_FP_SHARE. */
#ifndef COSY_RUN_SHARE_H
#define COSY_RUN_SHARE_H

#include <stdbool.h>
#include <sys/types.h>

#include "file/file.h"
#include "likely.h"
#include "metadata/metadata.h"

#pragma GCC visibility push(hidden)

/* This process, or 0; a child that the library has not seen begin still has its parent's. */
extern pid_t share_process;

/* The process that called vfork and may still be waiting for its child, or 0. */
extern pid_t share_vforked;

bool share_in_vfork_child_slow(void);

/* True in the child of a vfork before its exec: then all memory is its parent's. */
static inline bool share_in_vfork_child(void)
{
	return unlikely(share_vforked) && share_in_vfork_child_slow();
}

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
		bool mine_ = !share_in_vfork_child();                                              \
		__typeof__(call) ret_;                                                             \
                                                                                                   \
		metadata_off();                                                                    \
		if (mine_)                                                                         \
			file_share_begin(GUARD_ONE_TABLE, FOR_NOW);                                \
		ret_ = (call);                                                                     \
		if (mine_ && !ret_)                                                                \
			file_forbid(GUARD_ONE_TABLE);                                              \
		if (mine_)                                                                         \
			file_share_end();                                                          \
		ret_;                                                                              \
	})

#pragma GCC visibility pop

#endif /* COSY_RUN_SHARE_H */
