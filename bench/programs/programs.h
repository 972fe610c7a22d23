/* SPDX-License-Identifier: MIT */
/*
 * programs.h - what the equivalents of everyday commands share, which are measured as whole
 * processes beside the commands themselves (../workloads/programs.c).  PROGRAM TREE prints
 * what the command prints, byte for byte.  Written as a C programmer would, a directory after
 * the other by descriptor, and marked; with COSY_OFF the same source makes plain calls.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/cosy.h>

#define PATHS 4096  /* bytes of a path */
#define NAMES 16384 /* ... of names read at once */

static inline int is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Where the path of `length` bytes ends with /name added; 0 if it is too long. */
static inline size_t path_add(char *path, size_t length, const char *name)
{
	size_t more = strlen(name);

	if (length + more + 2 > PATHS)
		return 0;
	path[length] = '/';
	memcpy(path + length + 1, name, more + 1);
	return length + 1 + more;
}

_Noreturn static inline void program_fail(const char *what)
{
	perror(what);
	exit(1);
}

#endif /* PROGRAMS_H */
