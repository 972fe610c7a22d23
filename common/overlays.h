/* SPDX-License-Identifier: MIT */
/* overlays.h - file systems that are changed through others. */
#ifndef COSY_COMMON_OVERLAYS_H
#define COSY_COMMON_OVERLAYS_H

#include "policy.h"

/*
 * Adds a rule, for each overlay that is mounted, that switches off all files below its upper
 * directory: the overlay truncates these without breaking their leases, so a program that reads
 * them there would not hear of it.  False: there is no memory, or there are too many rules.
 */
bool overlays_switch_off(struct policy_text *rules);

#endif /* COSY_COMMON_OVERLAYS_H */
