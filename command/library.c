// SPDX-License-Identifier: MIT
/* library.c - see command.h. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"

/* Returns the length of a path without its last `count` components, and the slash before them. */
static size_t length_above(const char *path, size_t length, int count)
{
	while (length && count)
		count -= path[--length] == '/';
	return length;
}

bool library_find(const char *name, char *ret)
{
	static const char *const places[] = {COSY_LIBDIR "/cosy", "lib/cosy"};
	char self[PATH_MAX];
	/* It has neither symbolic links nor dots. */
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self));

	/* PREFIX/bin/cosy or PREFIX/libexec/cosy/cosy-inspect */
	for (int count = 2; length > 0 && count <= 3; count++) {
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			if (snprintf(ret, PATH_MAX, "%.*s/%s/%s",
				     (int)length_above(self, length, count), self, places[i],
				     name) < PATH_MAX &&
			    !access(ret, R_OK))
				return true;
		}
	}
	return snprintf(ret, PATH_MAX, COSY_FULL_LIBDIR "/cosy/%s", name) < PATH_MAX &&
	       !access(ret, R_OK);
}
