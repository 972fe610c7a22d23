/* SPDX-License-Identifier: MIT */
/*
 * metadata.h - metadata windows: hooks of `cosy run --metadata`, which serves stat(2) and its kin
 * from attributes that the module has read ahead (<linux/cosy_watch.h>).
 *
 * All this is only in libcosy-run-metadata.so; in the other libraries the hooks are empty.
 */
#ifndef COSY_RUN_METADATA_H
#define COSY_RUN_METADATA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "likely.h"

#pragma GCC visibility push(hidden)

#ifdef COSY_METADATA

/* Descriptors above are never those of a table. */
#define METADATA_FDS 1024

/*
 * Counts how often each number has come to name something else, from 1 on; 0: no table was ever
 * made of the directory that it names.
 */
extern unsigned int metadata_turns[METADATA_FDS];

void metadata_forget_slow(int fd);

/* No call is served from now on, in this process and its children. */
void metadata_off(void);

/* Makes the watcher, if there are calls to serve, while the process still has one thread. */
void metadata_before_thread(void);

#define METADATA_SERVES true

/*
 * Notes that `fd` names something else from now on.  To be called before a call that does that; and
 * afterwards as well, if another directory may have got the number by it.
 */
static inline void metadata_forget(int fd)
{
	if (unlikely((unsigned int)fd < METADATA_FDS && metadata_turns[fd]))
		metadata_forget_slow(fd);
}

/*
 * Surround an open: a directory that is opened gets a number that named nothing before, so tables
 * of other numbers hold.  The first returns what the second takes.
 */
uint64_t metadata_numbers(void);
void metadata_opened(int fd, int flags, uint64_t before);

/*
 * Serves fstatat(2) after table_expect (table.h) found nothing: true, with the answer; false: make
 * the call.
 */
bool metadata_serve(int dirfd, const char *path, struct stat *ret, int flags);

/* Serves statx(2) in the same way, for a mask of which statx_is_served. */
bool metadata_serve_statx(int dirfd, const char *path, struct statx *ret, int flags,
			  unsigned int mask);

/* Serves access(2): true if the file is known to permit it; false: make the call. */
bool metadata_serve_access(int dirfd, const char *path, int mode);

/*
 * Serves getxattr(2) and lgetxattr(2) where the file is known not to have the attribute: the errno.  0:
 * make the call.
 */
int metadata_xattr_error(const char *path, const char *name);

/* Serves listxattr(2) and llistxattr(2) where the file is known to have no names to list. */
bool metadata_has_no_xattrs(const char *path);

#else

#define METADATA_SERVES false

static inline void metadata_off(void) {}

static inline void metadata_before_thread(void) {}

static inline void metadata_forget(int fd)
{
	(void)fd;
}

static inline uint64_t metadata_numbers(void)
{
	return 0;
}

static inline void metadata_opened(int fd, int flags, uint64_t before)
{
	(void)fd;
	(void)flags;
	(void)before;
}

#endif

#pragma GCC visibility pop

#endif /* COSY_RUN_METADATA_H */
