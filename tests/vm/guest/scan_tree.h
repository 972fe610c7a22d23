/* SPDX-License-Identifier: MIT */
/*
 * scan_tree.h - goes through trees by scan_tree, in three ways: by an operation in the kernel, in a
 * region, and by libcosy's own function.  Each scan_tree*.c includes it once.
 */
#ifndef SCAN_TREE_H
#define SCAN_TREE_H

#include "raw.h"
#include <cosy/fast.h>
#include <stddef.h>

enum { BUFFER = 65536, SPACE = 1 << 20, STREAM = 16 << 20 };

static int device;
static uint32_t program; /* makes one call */
static char *shared;	 /* the shared buffer: BUFFER for entries, the rest for the tree */
static struct cosy_tree *tree;
static char *stream; /* all that a walk told */
static size_t told;

/* --- Ways to make a call ------------------------------------------------------------------- */

typedef long scan_function(struct cosy_tree *tree, void *to, size_t size);

HELPER long scan_in_kernel(struct cosy_tree *tree, void *to, size_t size)
{
	static struct raw_run run;
	static uint64_t words[4];

	if (!program) {
		struct bpf_insn insns[] = {
			MOVR(6, 1),
			LOAD(BPF_DW, 1, 6, 0),
			LOAD(BPF_DW, 2, 6, 8),
			LOAD(BPF_DW, 3, 6, 16),
			CALL_OP(RAW_OP_scan_tree),
			STORE(BPF_DW, 6, 24, 0),
			EXIT,
		};

		program = raw_load(device, insns, COUNT(insns));
	}
	memcpy(words, (uint64_t[]){ (uintptr_t)tree, (uintptr_t)to, size, 1 }, sizeof(words));
	raw_run_init(&run, program, words);
	MUST(!raw_run_to_end(device, &run) && run.run.status == COSY_DONE);
	return (long)words[3];
}

HELPER long scan_in_region(struct cosy_tree *tree, void *to, size_t size)
{
	long result;
	int error;

	COSY_START;
	result = cosy_scan_tree(tree, to, size);
	error = errno;
	COSY_END;
	return result < 0 ? -error : result;
}

HELPER long scan_natively(struct cosy_tree *tree, void *to, size_t size)
{
	long result = cosy_scan_tree(tree, to, size);

	return result < 0 ? -errno : result;
}

static const struct {
	const char *name;
	scan_function *scan;
} ways[] = { { "kernel", scan_in_kernel },
	     { "region", scan_in_region },
	     { "library", scan_natively } };

static scan_function *scan;

/* Opens the device: a child cannot use its parent's. */
HELPER void begin(void)
{
	device = raw_open();
	program = 0;
	shared = raw_buffer(device, 2 * SPACE);
	tree = (struct cosy_tree *)(shared + BUFFER);
}

/* --- A walk ---------------------------------------------------------------------------------- */

HELPER void tree_begin(int dir, uint32_t flags, uint32_t depth)
{
	memset(tree, 0, sizeof(*tree));
	tree->size = SPACE;
	tree->dirfd = dir;
	tree->flags = flags;
	tree->max_depth = depth;
	MUST(!lseek(dir, 0, SEEK_SET));
	told = 0;
}

/* Walks on to the end, or for `calls` calls.  Returns the last call's result. */
HELPER long tree_walk(char *to, size_t size, int calls)
{
	long bytes = 1;

	while (calls-- && (bytes = scan(tree, to, size)) > 0) {
		CHECK(bytes <= (long)size && bytes % 8 == 0, "%ld bytes of %zu", bytes, size);
		MUST(told + (size_t)bytes <= STREAM);
		memcpy(stream + told, to, (size_t)bytes);
		told += (size_t)bytes;
	}
	return bytes;
}

HELPER struct cosy_dirent *told_at(size_t at)
{
	struct cosy_dirent *entry = (struct cosy_dirent *)(stream + at);

	MUST(at < told && entry->reclen >= sizeof(*entry) + 8 && entry->reclen <= told - at);
	return entry;
}

/* Counts what a walk told of one kind; with `error`, of that error. */
HELPER long count_told(int kind, int error)
{
	long ret = 0;

	for (size_t at = 0; at < told; at += told_at(at)->reclen)
		ret += told_at(at)->kind == kind && (!error || told_at(at)->error == error);
	return ret;
}

HELPER long free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Makes a chain of 21 directories, some with another one beside: deep/d/d/... */
HELPER void make_chain(void)
{
	char path[64] = "deep";

	MUST(!mkdir(path, 0755));
	for (int i = 0; i < 20; i++) {
		strcat(path, "/d");
		MUST(!mkdir(path, 0755));
		if (i % 4)
			continue;
		strcat(path, ".side");
		MUST(!mkdir(path, 0755));
		path[strlen(path) - 5] = 0;
	}
}

#endif /* SCAN_TREE_H */
