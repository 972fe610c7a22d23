// SPDX-License-Identifier: MIT
/* relay.c - writes a command's output into a file and counts it, as tee does: relay FILE COMMAND */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	FILE *command = argc == 3 ? popen(argv[2], "r") : NULL;
	int from = command ? fileno(command) : -1;
	int to = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char block[512];
	long bytes = 0;
	ssize_t got;

	if (from < 0 || to < 0) {
		perror("relay");
		return 1;
	}
	while ((got = read(from, block, sizeof(block))) > 0) {
		if (write(to, block, got) != got)
			return 1;
		bytes += got;
	}
	printf("%ld\n", bytes);
	return pclose(command) || got;
}
