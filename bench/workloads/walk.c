// SPDX-License-Identifier: MIT
/* Does walk.h by openat, getdents64 and fstatat, in one recursive function. */
#include "walk.h"

#include <cosy/cosy.h>

#define NAMES 4096

static int is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
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
			sum += st.st_blocks;
			if (S_ISDIR(st.st_mode)) {
				int fd =
					openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
				long part = fd < 0 ? -1 : below(fd);

				if (fd >= 0)
					close(fd);
				if (part < 0)
					return -1;
				sum += part;
			}
		}
	}
	return len < 0 ? -1 : sum;
}

static long walk_tree(int root)
{
	long sum;

	COSY_START;
	sum = below(root);
	COSY_END;
	return sum;
}
