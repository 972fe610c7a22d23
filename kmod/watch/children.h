/* SPDX-License-Identifier: GPL-2.0 */
/* children.h - READ: the cached entries of a directory with their attributes. */
#ifndef COSY_WATCH_CHILDREN_H
#define COSY_WATCH_CHILDREN_H

struct cosy_watch_read;
struct cosy_watch_reading;
struct cosy_watcher;

/* Serves COSY_IOC_WATCH_READ, under the watcher's lock: 0 or an error, see the uapi header. */
long cosy_watch_read(struct cosy_watcher *watcher, struct cosy_watch_read *read);

/* Frees the memory that a watcher keeps for READs; NULL: there is none. */
void cosy_watch_reading_free(struct cosy_watch_reading *r);

/* Finds the security module's function, without which there are no READs by descriptors. */
void cosy_watch_children_init(void);

#endif /* COSY_WATCH_CHILDREN_H */
