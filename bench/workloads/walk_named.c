// SPDX-License-Identifier: MIT
/*
 * walk.h by cosy_scan_dir and openat, in one recursive function.  What it shares with walk.c is
 * written twice on purpose, since a row compares whole sources.
 */
#include "walk.h"

#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <linux/cosy.h>

#define SCAN (16 << 10)

static int is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static long below(int dir)
{
	char found[SCAN] __attribute__((aligned(16)));
	long sum = 0;
	ssize_t len;

	while ((len = cosy_scan_dir(dir, found, SCAN, AT_SYMLINK_NOFOLLOW)) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct cosy_dirent *d = (const struct cosy_dirent *)(found + at);
			const struct stat *st = (const struct stat *)d->stat;

			at += d->reclen;
			if (is_dots(d->name))
				continue;
			if (d->error)
				return -1;
			sum += st->st_blocks;
			if (S_ISDIR(st->st_mode)) {
				int fd = openat(dir, d->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
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
