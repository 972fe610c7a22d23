/* SPDX-License-Identifier: MIT */
/*
 * contents.h - what a file holds, read into memory: others may cut the file short or rewrite it,
 * and a mapping of it would end the command by SIGBUS.
 */
#ifndef COSY_CONTENTS_H
#define COSY_CONTENTS_H

#include <stddef.h>

/*
 * Returns the bytes of a regular file of at most `max` bytes, for the caller to free, and how many
 * they are; or NULL, and in *why the reason.  A device or a pipe is refused and not waited for.
 */
char *contents_read(const char *path, size_t max, size_t *size, const char **why);

#endif /* COSY_CONTENTS_H */
