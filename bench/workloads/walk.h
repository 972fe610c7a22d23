/* SPDX-License-Identifier: MIT */
/*
 * walk.h - counts as du does: the blocks of every file below a folder, each counted once.  The tree
 * is a real one: TREE, a folder the caller puts beside the directory (bench/run.py: the kernel's
 * own headers).  An operation is one pass over the tree.
 */
#ifndef WALK_H
#define WALK_H

#define _GNU_SOURCE
#include <dirent.h>
#include <ftw.h>

#include "bench.h"
#include "compare.h"

/* The folder that is walked, while the walks are compared; else NULL. */
static const char *walk_checked;

/* Counts blocks of 512 bytes in and below a directory that is open; -1 if something failed. */
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

static long walk_wanted;

static int add_blocks(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)path, (void)kind;
	if (where->level)
		walk_wanted += st->st_blocks;
	return 0;
}

static void check_walk(const char *folder)
{
	int root = BENCH_TRY(open(folder, O_RDONLY | O_DIRECTORY));

	walk_wanted = 0;
	BENCH_TRY(nftw(folder, add_blocks, 32, FTW_PHYS));
	walk_checked = folder;
	compare_number(folder, 0, walk_tree(root), walk_wanted);
	walk_checked = NULL;
	close(root);
}

/* Compares each folder by itself, and the tree. */
void bench_check(long n, long answer)
{
	const char *tree = bench_text("tree", "tree");
	struct dirent *entry;
	DIR *dir = opendir(tree);
	char path[512];

	(void)n, (void)answer;
	if (!dir)
		bench_fail(tree);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", tree, entry->d_name);
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			check_walk(path);
	}
	closedir(dir);
	check_walk(tree);
}

#endif /* WALK_H */
