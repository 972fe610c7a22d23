// SPDX-License-Identifier: MIT
/* Does grep.h by open, read, close, and a user function over each chunk. */
#include "grep.h"

#include <cosy/cosy.h>

static long grep_files(long count)
{
	char name[11];
	long lines = 0;

	COSY_START;
	for (long i = 0; i < count; i++) {
		char chunk[CHUNK];
		ssize_t len;

		grep_name(name, i);
		int fd = open(name, O_RDONLY);
		if (fd < 0)
			continue;
		while ((len = read(fd, chunk, CHUNK)) > 0)
			lines += matching_lines(chunk, len);
		close(fd);
	}
	COSY_END;
	return lines;
}
