/* SPDX-License-Identifier: MIT */
/*
 * history_key.h - names a region of this program in the user's history.
 *
 * Several programs may contain the same region, for example by a library that they link.  What they
 * do beside it differs, and so does how far they get.  Each program therefore has a history of its
 * own: the key is the region's digest, mixed with the main program's identity.  The identity is
 * taken from the program headers and the linker's notes (with the build ID), so that copies of an
 * executable share their history.  Programs that an interpreter runs are one program here.
 */
#ifndef COSY_LIB_HISTORY_KEY_H
#define COSY_LIB_HISTORY_KEY_H

#include <stdint.h>

struct cosy_region;

/* As `key` of RECALL and LOAD; never 0. */
struct cosy_history_key {
	uint64_t words[2];
};

/* Returns the region's key; the region must have COSY_REGION_KEYED.  Async-signal-safe. */
struct cosy_history_key libcosy_history_key(const struct cosy_region *region);

#endif /* COSY_LIB_HISTORY_KEY_H */
