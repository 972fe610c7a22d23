/* SPDX-License-Identifier: MIT */
/* seek.h - positions that are kept in user space. */
#ifndef COSY_PRELOAD_SEEK_H
#define COSY_PRELOAD_SEEK_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

/* A position that was kept no longer is; under LOCKED.  Was it worth it? */
void seek_learn(struct file *file);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_SEEK_H */
