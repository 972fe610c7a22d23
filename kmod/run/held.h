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

#endif /* COSY_HELD_H */
