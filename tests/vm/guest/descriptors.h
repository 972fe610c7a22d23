/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - what the files of descriptors share: the comparison (descriptors.c), the kinds of
 * descriptors (descriptors_kinds.c) and a FUSE server (descriptors_fuse.c).
 */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#define CHECK_SHARED
#include "raw.h"

/* What a kind is like. */
enum {
	VARIES = 1,  /* two objects of it do not have the same bytes */
	REPEATS = 2, /* make each call several times on one object, too */
	RARE = 4,    /* not every machine has it, with all modules loaded and as root */
	SERVED = 8,  /* readc reads it in the kernel ... */
	LEFT = 16,   /* ... or leaves it to an ordinary call */
};

struct kind {
	const char *name;
	int (*open)(void); /* returns a descriptor, or -1 with errno */
	int flags;
};

extern const struct kind kinds[];
extern const size_t kinds_count;

/* Closes what an object needed besides its descriptor, such as its peer. */
void kind_close_rest(void);

/* Bytes of both of the FUSE server's files, which are read with FOPEN_DIRECT_IO. */
#define FUSE_TEXT "hello from the server"

/*
 * Mounts a file system at `path`, served by a child.  Its file "direct" is read; of "fault" the first
 * read fails with EFAULT.  False: it cannot be mounted here.
 */
bool fuse_start(const char *path);
/* Returns how many reads the server was asked for. */
unsigned int fuse_reads(void);
/* Unmounts, and waits for the child. */
void fuse_stop(const char *path);

#endif /* DESCRIPTORS_H */
