/* SPDX-License-Identifier: GPL-2.0 */
/* held.h - all that specialised versions hold between calls: references, views. */
#ifndef COSY_HELD_H
#define COSY_HELD_H

#include "run/activation.h"

/*
 * Writes views back into the shared buffer and drops all else that specialised versions hold.
 * Called before sleeping, at every safepoint and at the end.  Cannot fail.
 */
void cosy_held_drop(struct cosy_activation *run);

/*
 * Does the same before the ordinary call `number` with the arguments `r1` to `r3`, but keeps the
 * directories that names lead through if nobody can tell: see held.c.
 */
void cosy_held_drop_for(struct cosy_activation *run, u32 number, u64 r1, u64 r2, u64 r3);

#endif /* COSY_HELD_H */
