// SPDX-License-Identifier: MIT
/* grepl.c - says which of COUNT files contain a word, by libc's functions on strings. */
#include "process.h"

static int file_has(const char *path, const char *word)
{
	char block[2049];
	int found = 0;
	ssize_t got;

	COSY_START;
	int fd = open(path, O_RDONLY);

	if (fd >= 0) {
		while (!found && (got = read(fd, block, sizeof(block) - 1)) > 0) {
			block[got] = 0;
			found = strstr(block, word) != NULL;
		}
		close(fd);
	}
	COSY_END;
	return found;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, found = 0;
	char path[512], word[16];

	snprintf(path, sizeof(path), "%s/log", argv[1]);
	for (long i = 0; i < count; i++) {
		snprintf(word, sizeof(word), "%06ld ", i * 37 % 8000);
		found += file_has(path, word);
	}
	printf("%ld\n", found);
	return 0;
}
