// SPDX-License-Identifier: MIT
/*
 * status.c - what git status asks first: whether each file of an index is as it was, by lstat of
 * its path.  The index is a file beside the tree (TREE.index), made by the first run.
 */
#include "programs.h"

#include <sys/mman.h>

struct item {
	unsigned int length; /* of the path, padded to 8 bytes with at least one 0 */
	unsigned int mode;
	long size, seconds, nanoseconds;
	unsigned long inode;
	char path[];
};

static size_t item_size(size_t length)
{
	return sizeof(struct item) + (length + 8) / 8 * 8;
}

static void index_make(FILE *to, int dir, char *path, size_t length)
{
	DIR *list = fdopendir(dir);
	struct dirent *d;

	while (list && (d = readdir(list))) {
		static const char zeros[8];
		struct item item;
		struct stat st;
		size_t end;

		if (is_dots(d->d_name))
			continue;
		end = path_add(path, length, d->d_name);
		if (!end || fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			program_fail(path);
		if (S_ISDIR(st.st_mode)) {
			index_make(to, openat(dir, d->d_name, O_RDONLY | O_DIRECTORY), path, end);
			continue;
		}
		item = (struct item){(unsigned int)end, st.st_mode,	    st.st_size,
				     st.st_mtim.tv_sec, st.st_mtim.tv_nsec, st.st_ino};
		fwrite(&item, sizeof(item), 1, to);
		fwrite(path, end, 1, to);
		fwrite(zeros, item_size(end) - sizeof(item) - end, 1, to);
	}
	closedir(list);
}

int main(int argc, char **argv)
{
	const char *tree = argc > 1 ? argv[1] : ".";
	char name[PATHS];
	size_t size = 0;
	long changed = 0;
	struct stat st;
	char *index;
	int fd;

	snprintf(name, sizeof(name), "%s.index", tree);
	fd = open(name, O_RDONLY);
	if (fd < 0) {
		char path[PATHS];
		FILE *to = fopen(name, "w");

		snprintf(path, sizeof(path), "%s", tree);
		if (!to)
			program_fail(name);
		index_make(to, open(tree, O_RDONLY | O_DIRECTORY), path, strlen(path));
		fclose(to);
		fd = open(name, O_RDONLY);
	}
	if (fd < 0 || fstat(fd, &st))
		program_fail(name);
	size = (size_t)st.st_size;
	index = mmap(NULL, size + 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (index == MAP_FAILED)
		program_fail(name);
	COSY_START;
	for (size_t at = 0; at < size;) {
		const struct item *item = (const struct item *)(index + at);

		if (lstat(item->path, &st) || st.st_mode != item->mode ||
		    st.st_size != item->size || st.st_mtim.tv_sec != item->seconds ||
		    st.st_mtim.tv_nsec != item->nanoseconds || st.st_ino != item->inode)
			changed++;
		at += item_size(item->length);
	}
	COSY_END;
	printf("%ld changed\n", changed);
	return 0;
}
