/* SPDX-License-Identifier: GPL-2.0 */
/* process.h - the process of a watcher, and whether it may make a READ now. */
#ifndef COSY_WATCH_PROCESS_H
#define COSY_WATCH_PROCESS_H

#include "watch/watcher.h"

/* Returns whether the caller has one thread and its memory for itself.  If not, that may change. */
bool cosy_watch_process_is_alone(void);

/*
 * Fills in the process, which is the caller: 0 or an error.  Call cosy_watch_process_leave
 * before the watcher is destroyed, also after an error.
 */
int cosy_watch_process_enter(struct cosy_watcher *watcher);
void cosy_watch_process_leave(struct cosy_watcher *watcher);

/*
 * Checks whether the caller may make a READ: 0, or the READ's error.  It has to be asked again
 * after the words were read.
 */
int cosy_watch_check_process(const struct cosy_watcher *watcher);

/* Returns whether a mount is in the caller's namespace, and shows ids as they are. */
bool cosy_watch_mount_is_own(const struct vfsmount *mnt);

/*
 * Waits until no mount is being changed: the watchers' words were changed before, and the change
 * is visible after.
 */
void cosy_watch_settle_mounts(void);

/* Finds what this file needs.  NULL, or the reason why there are no watchers. */
const char *cosy_watch_process_init(void);

#endif /* COSY_WATCH_PROCESS_H */
