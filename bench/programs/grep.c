// SPDX-License-Identifier: MIT
/*
 * grep.c - grep -rlF WORD: the files that have it.  Its output is written as in find.c, twice on
 * purpose: each program is whole in its file.
 */
#include "programs.h"

#define OUTPUT 4096
#define PIECE  32768

static char path[PATHS], output[OUTPUT], word[64];
static size_t filled, word_length;

static int flush(void)
{
	ssize_t wrote = write(1, output, filled);

	if (wrote != (ssize_t)filled)
		return -1;
	filled = 0;
	return 0;
}

static int say(size_t length)
{
	if (filled + length + 1 > OUTPUT && flush())
		return -1;
	if (length + 1 > OUTPUT)
		return -1;
	memcpy(output + filled, path, length);
	output[filled + length] = '\n';
	filled += length + 1;
	return 0;
}

/* Returns 1 if the open file has the word, 0 if not. */
static int has_word(int fd)
{
	char text[PIECE + sizeof(word)];
	size_t kept = 0;
	ssize_t len;

	while ((len = read(fd, text + kept, PIECE)) > 0) {
		size_t have = kept + (size_t)len;

		if (memmem(text, have, word, word_length))
			return 1;
		kept = have < word_length ? have : word_length - 1;
		memmove(text, text + have - kept, kept);
	}
	return (int)len;
}

static int below(int dir, size_t length)
{
	char names[NAMES] __attribute__((aligned(16)));
	ssize_t len;

	while ((len = getdents64(dir, names, NAMES)) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			int fd, result, folder = d->d_type == DT_DIR;
			size_t end;

			at += d->d_reclen;
			if (is_dots(d->d_name) || (!folder && d->d_type != DT_REG))
				continue;
			end = path_add(path, length, d->d_name);
			fd = openat(dir, d->d_name,
				    O_RDONLY | O_NOFOLLOW | (folder ? O_DIRECTORY : 0));
			if (!end || fd < 0)
				return -1;
			result = folder ? below(fd, end) : has_word(fd);
			close(fd);
			if (result < 0 || (result && say(end)))
				return -1;
		}
	}
	return (int)len;
}

int main(int argc, char **argv)
{
	const char *tree = argc > 2 ? argv[2] : ".";
	int root = open(tree, O_RDONLY | O_DIRECTORY), failed;

	if (argc < 2 || root < 0 || strlen(tree) >= PATHS || strlen(argv[1]) >= sizeof(word))
		program_fail(tree);
	strcpy(word, argv[1]);
	word_length = strlen(word);
	strcpy(path, tree);
	COSY_START;
	failed = below(root, strlen(tree));
	failed |= flush();
	COSY_END;
	if (failed)
		program_fail(tree);
	return 0;
}
