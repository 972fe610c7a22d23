/* SPDX-License-Identifier: MIT */
/* walk.h - what copies and removals of trees need of a walk beyond <cosy/files.h>. */
#ifndef COSY_LIB_FILES_WALK_H
#define COSY_LIB_FILES_WALK_H

#include <stdbool.h>

#include <cosy/files.h>

#include "files/levels.h"

/* Has the walk close descriptors of `other` levels, and these close the walk's, after EMFILE. */
void libcosy_walk_share(struct cosy_walk *walk, struct libcosy_levels *other);

/* After COSY_WALK_ENTRY: true if that is a directory which the walk will enter. */
bool libcosy_walk_enters(const struct cosy_walk *walk);

/* After COSY_WALK_ENTRY: marks the directory if the walk will enter it. */
void libcosy_walk_mark(struct cosy_walk *walk);

/* After COSY_WALK_LEAVE: true if the directory was marked. */
bool libcosy_walk_is_marked(struct cosy_walk *walk);

/*
 * Returns the descriptor of the directory that the walk is in, of the first one at the start and of
 * the one left after COSY_WALK_LEAVE, which it opens again if need be; -1 with errno.
 */
int libcosy_walk_dir_fd(struct cosy_walk *walk);

/* After COSY_WALK_LEAVE: true if the directory could not be opened, which was reported. */
bool libcosy_walk_failed(struct cosy_walk *walk);

/* After COSY_WALK_LEAVE: lists the directory again.  False: it is not open, or was often enough. */
bool libcosy_walk_again(struct cosy_walk *walk);

#endif /* COSY_LIB_FILES_WALK_H */
