/* SPDX-License-Identifier: MIT */
/* seek.h - keeps positions in user space. */
#ifndef COSY_RUN_SEEK_H
#define COSY_RUN_SEEK_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

/* Learns whether a position that is kept no longer was worth it; under LOCKED. */
void seek_learn(struct file *file);

#pragma GCC visibility pop

#endif /* COSY_RUN_SEEK_H */
