/* SPDX-License-Identifier: GPL-2.0 */
/* way.h - finds the directory of a READ, and guards the directories on the way to it. */
#ifndef COSY_WATCH_WAY_H
#define COSY_WATCH_WAY_H

#include "watch/reading.h"

/* Finds r->dir: 0 or an error.  Call cosy_way_leave after success. */
int cosy_way_find(struct cosy_watch_reading *r);
void cosy_way_leave(struct cosy_watch_reading *r);

/* Registers the directories on the way: 0 or an error. */
int cosy_way_register(struct cosy_watch_reading *r);

/*
 * Tells whether the way leads to r->dir, the caller may go it, and nobody is changing it; 0 or an
 * error.  The caller has registered it and read the words.  Any later change of it changes one of them.
 */
int cosy_way_check(struct cosy_watch_reading *r);

#endif /* COSY_WATCH_WAY_H */
