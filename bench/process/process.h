/* SPDX-License-Identifier: MIT */
/*
 * process.h - what the small systems programs share that are measured as whole processes
 * (../workloads/process.c): PROGRAM DIRECTORY COUNT, in ordinary C, marked as a programmer would
 * mark them who has not measured anything.  What a program prints is compared.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cosy/cosy.h>

/* Opens NAME in the directory of the arguments, or ends the program. */
static inline int process_open(const char *directory, const char *name, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags, 0644);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

#endif /* PROCESS_H */
