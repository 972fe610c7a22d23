// SPDX-License-Identifier: MIT
/* sizes.c - adds up the sizes of the files of a list, as du does: sizes LIST DIRECTORY TURNS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char **names_read(const char *path, size_t *count)
{
	FILE *list = fopen(path, "r");
	char **names = NULL, *line = NULL;
	size_t room = 0, space = 0;

	*count = 0;
	while (list && getline(&line, &space, list) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*count == room) {
			room = room ? 2 * room : 64;
			names = realloc(names, room * sizeof(*names));
		}
		names[(*count)++] = strdup(line);
	}
	free(line);
	if (list)
		fclose(list);
	return names;
}

int main(int argc, char **argv)
{
	int turns = argc == 4 ? atoi(argv[3]) : 0;
	int directory = turns ? open(argv[2], O_RDONLY | O_DIRECTORY) : -1;
	long long bytes = 0, blocks = 0, missing = 0;
	char **names;
	size_t count;

	if (directory < 0) {
		perror("sizes");
		return 1;
	}
	names = names_read(argv[1], &count);
	for (int turn = 0; turn < turns; turn++)
		for (size_t i = 0; i < count; i++) {
			struct stat st;

			if (fstatat(directory, names[i], &st, AT_SYMLINK_NOFOLLOW)) {
				missing++;
				continue;
			}
			bytes += st.st_size;
			blocks += st.st_blocks;
		}
	printf("%lld bytes, %lld blocks, %lld missing\n", bytes, blocks, missing);
	return 0;
}
