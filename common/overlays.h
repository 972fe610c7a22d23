/* SPDX-License-Identifier: MIT */
/* overlays.h - switches off files that an overlay file system changes. */
#ifndef COSY_COMMON_OVERLAYS_H
#define COSY_COMMON_OVERLAYS_H

#include "policy.h"

/*
 * Adds a rule for each mounted overlay that switches off all files below its upper directory.  The
 * overlay truncates these files without breaking their leases, so a program that reads them there
 * would miss the change.  False: there is no memory, or there are too many rules.
 */
bool overlays_switch_off(struct policy_text *rules);

#endif /* COSY_COMMON_OVERLAYS_H */
