/* SPDX-License-Identifier: MIT */
/* proc_kib.h - amounts of memory that the kernel reports of this process. */
#ifndef COSY_RUN_TEST_PROC_KIB_H
#define COSY_RUN_TEST_PROC_KIB_H

#include <string.h>

#include "check.h"

/* Returns the number in the line "NAME: NUMBER kB" of a file of /proc/self. */
static inline long proc_kib(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	size_t len = strlen(name);
	char line[200];
	long kib = -1;

	CHECK(file);
	while (kib < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, len) && line[len] == ':')
			kib = strtol(line + len + 1, NULL, 10);
	fclose(file);
	CHECK(kib >= 0);
	return kib;
}

#endif /* COSY_RUN_TEST_PROC_KIB_H */
