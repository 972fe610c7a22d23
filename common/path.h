/* SPDX-License-Identifier: MIT */
/* path.h - extracts names from paths, and interpreters from scripts. */
#ifndef COSY_COMMON_PATH_H
#define COSY_COMMON_PATH_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The kernel's limits: bytes of a script's first line, and scripts that run scripts. */
enum { SCRIPT_LINE = 256, MAX_SCRIPTS = 5 };

/* Returns the part of `path` after the last slash, or all of it if there is none. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* True if a path leads to another file in each process. */
static inline bool path_is_own(const char *path)
{
	static const char *const own[] = {"/proc/self/", "/proc/thread-self/", "/dev/fd/",
					  "/dev/stdin"};

	for (unsigned int i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strncmp(path, own[i], strlen(own[i])))
			return true;
	return false;
}

/*
 * Takes the interpreter from the beginning of a file, a string of less than SCRIPT_LINE bytes, into
 * `ret`, which has SCRIPT_LINE.  False: the file is no script, or names none.
 */
static inline bool script_interpreter(const char *line, char *ret)
{
	const char *name;
	int len;

	if (strncmp(line, "#!", 2))
		return false;
	name = line + 2 + strspn(line + 2, " \t");
	len = strcspn(name, " \t\n");
	snprintf(ret, SCRIPT_LINE, "%.*s", len, name);
	return len;
}

#endif /* COSY_COMMON_PATH_H */
