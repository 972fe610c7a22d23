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

#include "../../scale.h"
#include "../guest/check.h"

/* Run for so many steps of some milliseconds, in the current directory.  Return an exit status. */
int race_model(uint64_t steps);
int race_position(uint64_t steps);
int race_tree(uint64_t steps);

#endif /* SAME_RACE_H */
