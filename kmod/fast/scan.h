/* SPDX-License-Identifier: GPL-2.0 */
/* scan.h - the scan of a directory as scan_dir makes it, for callers that make several. */
#ifndef COSY_SCAN_H
#define COSY_SCAN_H

#include "run/activation.h"

/*
 * Scans once as scan_dir with r1-r4, for the composite `op`.  Returns bytes, 0 at the end, or an
 * error.  With run->status it leaves, and `*left` of the bytes, the last ones, are not examined
 * yet.
 */
s64 cosy_scan_once(struct cosy_activation *run, const u64 *r, enum cosy_op op, u64 *left);

/*
 * Goes on with r1-r5 as COSY_UNDER_WAY says of scan_dir.  Returns the bytes of all entries, or an
 * error.  With run->status it leaves, and r holds the remaining work.
 */
s64 cosy_scan_rest(struct cosy_activation *run, u64 *r, enum cosy_op op);

#endif /* COSY_SCAN_H */
