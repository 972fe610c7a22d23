/* SPDX-License-Identifier: MIT */
/*
 * contents.h - what a file holds, read into memory: others may cut the file short or rewrite it,
 * and a mapping of it would end the command by SIGBUS.
 */
#ifndef COSY_CONTENTS_H
#define COSY_CONTENTS_H

#include <stddef.h>

/*
 * Reads a regular file of at most `max` bytes.  Returns its bytes, which the caller frees, and
 * their number in *size; NULL on failure, and the reason in *why.  Refuses devices and pipes
 * without waiting for them.
 */
char *contents_read(const char *path, size_t max, size_t *size, const char **why);

#endif /* COSY_CONTENTS_H */
