// SPDX-License-Identifier: MIT
/* conf.c - counts settings in many small files, as servers read theirs: conf TURNS FILE... */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns how many lines have a "=" and are no comments. */
static int settings_in(const char *text, long size)
{
	int settings = 0, start = 1, comment = 0;

	for (long i = 0; i < size; i++) {
		if (start)
			comment = text[i] == '#';
		if (text[i] == '=' && !comment)
			settings++;
		start = text[i] == '\n';
	}
	return settings;
}

static int settings_of(const char *path)
{
	int fd = open(path, O_RDONLY), settings = 0;
	char text[1024];
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, text, sizeof(text))) > 0)
		settings += settings_in(text, got);
	close(fd);
	return settings;
}

int main(int argc, char **argv)
{
	int turns = argc > 2 ? atoi(argv[1]) : 0;
	long all = 0, missing = 0;

	for (int turn = 0; turn < turns; turn++)
		for (int i = 2; i < argc; i++) {
			int settings = settings_of(argv[i]);

			if (settings < 0)
				missing++;
			else
				all += settings;
		}
	printf("%ld, %ld files missing\n", all, missing);
	return 0;
}
