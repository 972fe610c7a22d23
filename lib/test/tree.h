/* SPDX-License-Identifier: MIT */
/* tree.h - directories and files for the tests of <cosy/files.h>, below one temporary directory. */
#ifndef COSY_LIB_TEST_TREE_H
#define COSY_LIB_TEST_TREE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/files.h>

#include "check.h"

static char tree_top[] = "/tmp/cosy-files-XXXXXX";

/* Makes the temporary directory and goes there. */
static inline void tree_begin(void)
{
	MUST(mkdtemp(tree_top));
	MUST(!chmod(tree_top, 0777));
	MUST(!chdir(tree_top));
	umask(022);
}

static inline void tree_end(void)
{
	MUST(!chdir("/"));
	/* Some versions of rm cannot remove a tree deeper than PATH_MAX. */
	MUST(!cosy_remove_tree(AT_FDCWD, tree_top, NULL));
}

static inline void file_make(const char *path, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char *bytes = malloc(size + 1);

	MUST(fd >= 0 && bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = 'a' + (i * 7 + i / 251) % 26;
	MUST(write(fd, bytes, size) == (ssize_t)size);
	MUST(!close(fd));
	free(bytes);
}

static inline void dir_make(const char *path)
{
	MUST(!mkdir(path, 0755));
}

/* Returns how many descriptors the process has open. */
static inline int fds_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) != -1;
	return count;
}

/* Leaves `left` descriptors to the process; returns the limit to give back to fds_restore. */
static inline struct rlimit fds_limit(int left)
{
	struct rlimit old, now;
	int fd = 0;

	MUST(!getrlimit(RLIMIT_NOFILE, &old));
	/* The limit is one of numbers. */
	for (; left; fd++)
		left -= fcntl(fd, F_GETFD) == -1;
	now = old;
	now.rlim_cur = fd;
	MUST(!setrlimit(RLIMIT_NOFILE, &now));
	return old;
}

static inline void fds_restore(const struct rlimit *old)
{
	MUST(!setrlimit(RLIMIT_NOFILE, old));
}

/* Becomes a user whom permissions bind.  False: the test runs as one already. */
static inline bool user_drop(void)
{
	if (geteuid())
		return false;
	MUST(!seteuid(65534));
	return true;
}

static inline void user_restore(bool dropped)
{
	if (dropped)
		MUST(!seteuid(0));
}

#endif /* COSY_LIB_TEST_TREE_H */
