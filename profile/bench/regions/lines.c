// SPDX-License-Identifier: MIT
/* lines.c - counts lines and their longest, byte by byte as a shell's read does: lines FILE... */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		long lines = 0, longest = 0, len = 0;
		char c;

		if (fd < 0) {
			perror(argv[i]);
			return 1;
		}
		while (read(fd, &c, 1) == 1) {
			len++;
			if (c != '\n')
				continue;
			lines++;
			if (len > longest)
				longest = len;
			len = 0;
		}
		printf("%ld lines, longest %ld: %s\n", lines, longest, argv[i]);
		close(fd);
	}
	return 0;
}
