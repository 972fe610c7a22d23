/* SPDX-License-Identifier: MIT */
/*
 * walk.h - what du does: the blocks of every file below a folder, each counted once.  The tree
 * is a real one: TREE, a folder the caller puts beside the directory (bench/run.py: the kernel's
 * own headers).  An operation is one pass over the tree.
 */
#ifndef WALK_H
#define WALK_H

#define _GNU_SOURCE
#include <dirent.h>

#include "bench.h"

/* Blocks of 512 bytes in and below a directory that is open; -1 when something failed. */
static long walk_tree(int root);

void bench_prepare(void) {}

long bench_work(long n)
{
	const char *tree = bench_text("tree", "tree");
	long sum = 0;

	while (n--) {
		int root = BENCH_TRY(open(tree, O_RDONLY | O_DIRECTORY));

		sum += BENCH_TRY(walk_tree(root));
		close(root);
	}
	return sum;
}

#endif /* WALK_H */
