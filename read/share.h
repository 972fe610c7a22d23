/* SPDX-License-Identifier: MIT */
/* share.h - other processes that share this one's descriptors or memory: NO_FP_SHARE. */
#ifndef COSY_READ_SHARE_H
#define COSY_READ_SHARE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Is this the child of a vfork, before its exec?  Then what is in memory is its parent's. */
bool share_in_vfork_child(void);

#pragma GCC visibility pop

#endif /* COSY_READ_SHARE_H */
