/* SPDX-License-Identifier: MIT */
/*
 * standard.h - standard input, output and error of every program here: none is another file by
 * chance, and a failed write is an error.
 */
#ifndef COSY_COMMON_STANDARD_H
#define COSY_COMMON_STANDARD_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Opens /dev/null at those of 0 to 2 that are closed, so that no file opened later gets their
 * number and is written to by mistake.  Writes to them fail as before; executed programs find them
 * closed.
 */
static inline void standard_fill(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

/*
 * Ends the process with status 1 if some output could not be written.  Also an atexit(3) handler.
 */
static inline void standard_check(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	fprintf(stderr, "%s: not all of the output can be written\n",
		program_invocation_short_name);
	_exit(1);
}

/* Begins a tool's main; its messages begin with `name`. */
static inline void standard_begin(const char *name)
{
	program_invocation_short_name = (char *)name;
	standard_fill();
	atexit(standard_check);
}

#endif /* COSY_COMMON_STANDARD_H */
