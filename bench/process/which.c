// SPDX-License-Identifier: MIT
/*
 * which.c - looks a command up COUNT times as a shell does, in three directories, of which the last
 * has it; tells of those that none has, one in a thousand.
 */
#include "process.h"

static int path_make(char *path, size_t size, const char *directory, const char *name)
{
	size_t length = strlen(directory), more = strlen(name) + 1;

	if (length + 1 + more > size)
		return -1;
	memcpy(path, directory, length);
	path[length] = '/';
	memcpy(path + length + 1, name, more);
	return 0;
}

static int command_find(const char *const *directories, int count, const char *name, long *tried)
{
	char path[256];

	for (int i = 0; i < count; i++) {
		struct stat st;

		if (path_make(path, sizeof(path), directories[i], name))
			continue;
		++*tried;
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			return i;
	}
	printf("%s: not found\n", name);
	return -1;
}

int main(int argc, char **argv)
{
	const char *const directories[] = {"/usr/local/bin", "/usr/bin", argv[1]};
	long count = argc > 2 ? atol(argv[2]) : 0, found = 0, tried = 0;

	COSY_START;
	for (long at = 0; at < count; at++)
		if (command_find(directories, 3, at % 1000 == 500 ? "missing" : "log", &tried) >= 0)
			found++;
	COSY_END;
	printf("%ld found, %ld tried\n", found, tried);
	return 0;
}
