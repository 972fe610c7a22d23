/* SPDX-License-Identifier: MIT */
/*
 * content.h - fills the benchmarks' files: text in lines of 64 bytes, no two of which
 * are the same, whatever the file, so that bytes of another place or of another file show.
 *
 *	0000001e eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeHKTGPVML
 *
 * The line's number, letters, and a tag made of the number and of the file's name.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <sys/types.h>

#define CONTENT_LINE 64
#define CONTENT_TAG  55 /* where the tag's eight bytes begin in a line */

/* Makes the len bytes at `at` of the file that is called `name`. */
void content_bytes(void *to, const char *name, off_t at, size_t len);

/*
 * Makes `path` a file of size bytes, or writes over one: the bytes of `name`.  Returns 0, or -1 and
 * errno.
 */
int content_write(const char *path, const char *name, size_t size);

#endif /* CONTENT_H */
