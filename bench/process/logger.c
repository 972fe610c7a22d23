// SPDX-License-Identifier: MIT
/* logger.c - appends COUNT records to a log, begun anew when it has grown too long. */
#include "process.h"

static int fd;
static long written, turned;

static void logger_append(const char *text, size_t size)
{
	struct stat st;

	COSY_START;
	if (fstat(fd, &st) == 0 && st.st_size > 65536) {
		ftruncate(fd, 0);
		turned++;
	}
	if (write(fd, text, size) == (ssize_t)size)
		written += size;
	COSY_END;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	char text[128];

	fd = process_open(argv[1], "copy", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
	for (long i = 0; i < count; i++) {
		int size = snprintf(text, sizeof(text), "%08ld record number %ld\n", i * 1000, i);

		logger_append(text, size);
	}
	printf("%ld %ld\n", written, turned);
	return 0;
}
