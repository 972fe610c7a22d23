/* SPDX-License-Identifier: MIT */
/* seek.h - positions that are kept in user space. */
#ifndef COSY_READ_SEEK_H
#define COSY_READ_SEEK_H

#include "file.h"

#pragma GCC visibility push(hidden)

/* A position that was kept no longer is; under HELD.  Was it worth it? */
void seek_learn(struct file *file);

#pragma GCC visibility pop

#endif /* COSY_READ_SEEK_H */
