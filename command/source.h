/* SPDX-License-Identifier: MIT */
/* source.h - reads lines of source files. */
#ifndef COSY_COMMAND_SOURCE_H
#define COSY_COMMAND_SOURCE_H

#include <stddef.h>

struct cosy_source;

struct cosy_source *cosy_source_create(void);
void cosy_source_destroy(struct cosy_source *source);

/*
 * Returns line `line`, from 1, of the regular file `path`, without its newline: *len bytes
 * that live as long as `source`.  NULL when there is no such line to read.
 */
const char *cosy_source_line(struct cosy_source *source, const char *path, unsigned int line,
			     size_t *len);

/* Prints bytes that a stranger chose: control characters as '?'; tabs stay. */
void cosy_print_clean(const char *text, size_t len);

#endif /* COSY_COMMAND_SOURCE_H */
