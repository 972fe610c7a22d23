// SPDX-License-Identifier: MIT
/* copy.c - copies files into a directory: copy DIRECTORY FILE... */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long copy(int from, int to)
{
	char block[8192];
	long bytes = 0;
	ssize_t got;

	while ((got = read(from, block, sizeof(block))) > 0) {
		if (write(to, block, got) != got)
			return -1;
		bytes += got;
	}
	return got < 0 ? -1 : bytes;
}

int main(int argc, char **argv)
{
	long all = 0;

	for (int i = 2; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		char path[4096];
		int from, to;
		long bytes;

		snprintf(path, sizeof(path), "%s/%s", argv[1], name ? name + 1 : argv[i]);
		from = open(argv[i], O_RDONLY);
		to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		bytes = copy(from, to);
		if (bytes < 0) {
			perror(argv[i]);
			return 1;
		}
		all += bytes;
		close(from);
		close(to);
	}
	printf("%ld bytes copied\n", all);
	return 0;
}
