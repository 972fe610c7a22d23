/* SPDX-License-Identifier: MIT */
/*
 * race.h - makes calls in a region while others do something to the same files at any time.
 *
 *	race.c		what each call says must be possible: several others, many changes
 *	race_model.c	and, where nobody changed anything meanwhile, exact: one other
 *	race_position.c	a position that is shared: each byte is read once
 *	race_tree.c	a walk through folders that move
 */
#ifndef SAME_RACE_H
#define SAME_RACE_H

#include "../guest/check.h"

/* Run until now_ms() is `end`, in the current directory.  Return an exit status. */
int race_model(double end);
int race_position(double end);
int race_tree(double end);

#endif /* SAME_RACE_H */
