/* SPDX-License-Identifier: MIT */
/* overlays.h - file systems that are changed through others. */
#ifndef COSY_TOOLS_OVERLAYS_H
#define COSY_TOOLS_OVERLAYS_H

#include "policy.h"

/*
 * An overlay truncates files of its upper directory without breaking their leases, so whoever
 * reads them there would not hear of it.  Adds a rule that switches off all below the upper directory
 * of each overlay that is mounted.  False: there is no memory, or there are too many rules.
 */
bool overlays_switch_off(struct policy_text *rules);

#endif /* COSY_TOOLS_OVERLAYS_H */
