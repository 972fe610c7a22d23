// SPDX-License-Identifier: MIT
/*
 * find.c - find -size +100k: what is larger than 100 KB, begun ones counted.  Its output is written
 * as in grep.c, twice on purpose: each program is whole in its file.
 */
#include "programs.h"

#define OUTPUT 4096

static char path[PATHS], output[OUTPUT];
static size_t filled;

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

static int is_large(const struct stat *st)
{
	return (st->st_size + 1023) / 1024 > 100;
}

static int below(int dir, size_t length)
{
	char names[NAMES] __attribute__((aligned(16)));
	ssize_t len;

	while ((len = getdents64(dir, names, NAMES)) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			struct stat st;
			size_t end;
			int fd, failed;

			at += d->d_reclen;
			if (is_dots(d->d_name))
				continue;
			end = path_add(path, length, d->d_name);
			if (!end || fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				return -1;
			if (is_large(&st) && say(end))
				return -1;
			if (!S_ISDIR(st.st_mode))
				continue;
			fd = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
			failed = fd < 0 || below(fd, end);
			if (fd >= 0)
				close(fd);
			if (failed)
				return -1;
		}
	}
	return (int)len;
}

int main(int argc, char **argv)
{
	const char *tree = argc > 1 ? argv[1] : ".";
	int root = open(tree, O_RDONLY | O_DIRECTORY), failed;
	struct stat st;

	if (root < 0 || fstat(root, &st) || strlen(tree) >= PATHS)
		program_fail(tree);
	strcpy(path, tree);
	failed = is_large(&st) && say(strlen(tree));
	COSY_START;
	failed |= below(root, strlen(tree));
	failed |= flush();
	COSY_END;
	if (failed)
		program_fail(tree);
	return 0;
}
