// SPDX-License-Identifier: MIT
/* tree.c - makes and removes directories, each with files that it looks at. */
#include "process.h"

static long one(const char *base, long number)
{
	char directory[600], file[700];
	struct stat st;
	long bytes = 0;
	int fd;

	snprintf(directory, sizeof(directory), "%s/d%ld", base, number);
	snprintf(file, sizeof(file), "%s/file", directory);
	COSY_START;
	mkdir(directory, 0755);
	fd = open(file, O_WRONLY | O_CREAT, 0644);
	write(fd, file, 100);
	close(fd);
	if (!stat(file, &st))
		bytes += st.st_size;
	unlink(file);
	rmdir(directory);
	COSY_END;
	return bytes;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, bytes = 0;

	for (long i = 0; i < count; i++)
		bytes += one(argv[1], i);
	printf("%ld bytes\n", bytes);
	return 0;
}
