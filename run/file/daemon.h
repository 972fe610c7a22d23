/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - gets leases from the daemon cosyd, on files that this process's user may read but
 * does not own.  cosyd/protocol.h defines the messages.
 *
 * The connection is made when the first such file has earned it, and nothing waits for the
 * daemon longer than DAEMON_TIMEOUT_MS: whatever fails, there is no daemon then.
 */
#ifndef COSY_RUN_DAEMON_H
#define COSY_RUN_DAEMON_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

/* ms.  An answer takes about 0.05, and longer where processors are short. */
#define DAEMON_TIMEOUT_MS 200

/* True if the daemon's lease is wanted even where one's own would be cheaper. */
bool daemon_preferred(void);

/* True if there is a daemon; connects if that has not been tried. */
bool daemon_there(void);

/*
 * Asks for a lease on the file that `fd` names; under LOCKED.  True: file->guard and its fellows
 * are set.  False, with the guard that failed in *why.
 */
bool daemon_take(struct file *file, int fd, enum guard *why);

/* Gives it back, if the file has one; under LOCKED.  Does not wait for it to be returned. */
void daemon_drop(struct file *file);

/* Waits until the daemon has returned all that was dropped. */
void daemon_sync(void);

/* Forgets, in the child of a fork, the connection, which is the parent's. */
void daemon_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_DAEMON_H */
