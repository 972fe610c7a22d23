// SPDX-License-Identifier: MIT
/*
 * du.c - du -s: the blocks below a folder, each file's once.  Its walk is also that of
 * ../workloads/walk.c, twice on purpose: each program is whole in its file.
 */
#include "programs.h"

#define LINKED 4096

/* Files of several names that have been counted already. */
static struct {
	dev_t device;
	ino_t inode;
} linked[LINKED];
static int linked_count;

static int is_counted(const struct stat *st)
{
	for (int i = 0; i < linked_count; i++)
		if (linked[i].inode == st->st_ino && linked[i].device == st->st_dev)
			return 1;
	if (linked_count < LINKED) {
		linked[linked_count].device = st->st_dev;
		linked[linked_count++].inode = st->st_ino;
	}
	return 0;
}

static long below(int dir)
{
	char names[NAMES] __attribute__((aligned(16)));
	long sum = 0;
	ssize_t len;

	while ((len = getdents64(dir, names, NAMES)) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			struct stat st;

			at += d->d_reclen;
			if (is_dots(d->d_name))
				continue;
			if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				return -1;
			if (S_ISDIR(st.st_mode)) {
				int fd =
					openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
				long part = fd < 0 ? -1 : below(fd);

				if (fd >= 0)
					close(fd);
				if (part < 0)
					return -1;
				sum += part;
			} else if (st.st_nlink > 1 && is_counted(&st)) {
				continue;
			}
			sum += st.st_blocks;
		}
	}
	return len < 0 ? -1 : sum;
}

int main(int argc, char **argv)
{
	const char *tree = argc > 1 ? argv[1] : ".";
	int root = open(tree, O_RDONLY | O_DIRECTORY);
	struct stat st;
	long sum;

	if (root < 0 || fstat(root, &st))
		program_fail(tree);
	COSY_START;
	sum = below(root);
	COSY_END;
	if (sum < 0)
		program_fail(tree);
	printf("%ld\t%s\n", (sum + st.st_blocks + 1) / 2, tree);
	return 0;
}
