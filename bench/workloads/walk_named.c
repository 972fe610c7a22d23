// SPDX-License-Identifier: MIT
/*
 * walk.h by cosy_scan_tree: the whole tree in a few operations.  What it shares with walk.c is
 * written twice on purpose, since a row compares whole sources.
 */
#include "walk.h"

#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <linux/cosy.h>

#define SCAN  (16 << 10)
#define NAMES (16 << 10)

static int is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static long walk_tree(int root)
{
	char found[SCAN] __attribute__((aligned(16)));
	struct {
		struct cosy_tree head;
		char names[NAMES];
	} tree;
	long sum = 0;
	ssize_t len;

	tree.head = (struct cosy_tree){.size = sizeof(tree), .dirfd = root};
	COSY_START;
	while (sum >= 0 && (len = cosy_scan_tree(&tree.head, found, SCAN)) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct cosy_dirent *d = (const struct cosy_dirent *)(found + at);
			const struct stat *st = (const struct stat *)d->stat;

			at += d->reclen;
			if (d->error) {
				/* Size 0 closes what is open. */
				cosy_scan_tree(&tree.head, found, 0);
				sum = -1;
				break;
			}
			if (d->kind == COSY_TREE_ENTRY && !is_dots(d->name))
				sum += st->st_blocks;
		}
	}
	COSY_END;
	return len < 0 ? -1 : sum;
}
