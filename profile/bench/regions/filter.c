// SPDX-License-Identifier: MIT
/* filter.c - writes a command's output in capitals: filter FILE COMMAND */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	FILE *command = argc == 3 ? popen(argv[2], "r") : NULL;
	int from = command ? fileno(command) : -1;
	int to = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char text[256];
	ssize_t got;

	if (from < 0 || to < 0) {
		perror("filter");
		return 1;
	}
	while ((got = read(from, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++)
			if (text[i] >= 'a' && text[i] <= 'z')
				text[i] -= 'a' - 'A';
		if (write(to, text, got) != got)
			break;
	}
	pclose(command);
	return got != 0;
}
