// SPDX-License-Identifier: MIT
/* stat_calls.c - stat(2) and its kin, by all names that libc has for them. */
#include <fcntl.h>
#include <sys/stat.h>

#include "metadata/statx.h"
#include "metadata/table.h"
#include "next.h"

/* Programs that were built before glibc 2.33 call these; `version` is that of struct stat. */
int __xstat(int version, const char *path, struct stat *ret);
int __lxstat(int version, const char *path, struct stat *ret);
int __fxstatat(int version, int dirfd, const char *path, struct stat *ret, int flags);

#define STAT_VERSION 1 /* the only one of x86-64 that user space has */

/*
 * True while calls are only counted: programs that make few of them, or that tables cannot serve, pay
 * no more than this.
 */
static inline bool only_counted(int flags)
{
	if (flags & ~FLAGS_SERVED)
		return false;
	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) == WATCHER_UNTRIED)
		return watcher_waits();
	return set_rests();
}

/* Serves fstatat(2).  Inline in each function, so that a name in order needs no other one. */
static __attribute__((always_inline)) inline int serve_next(int dirfd, const char *path,
							    struct stat *ret, int flags)
{
	struct found found;

	return found_serve(table_expect(&found, dirfd, path, ret, flags), &found, ret);
}

/* Serves fstatat(2) after serve_next has returned `tried`, which is not TABLE_SERVED. */
static __attribute__((noinline)) bool serve_other(int tried, int dirfd, const char *path,
						  struct stat *ret, int flags)
{
	struct found found;

	if (tried == TABLE_JUMP)
		tried = found_serve(table_expect_other(&found, dirfd, path), &found, ret);
	else if (tried == TABLE_UNKNOWN)
		tried = found_serve(table_expect_shared(&found, dirfd, path, ret, flags), &found,
				    ret);
	return tried == TABLE_SERVED || (tried == TABLE_UNKNOWN && !only_counted(flags) &&
					 metadata_serve(dirfd, path, ret, flags));
}

static __attribute__((noinline)) int stat_slow(int tried, const char *path, struct stat *ret)
{
	return serve_other(tried, AT_FDCWD, path, ret, 0) ? 0 : NEXT(stat)(path, ret);
}

int stat(const char *restrict path, struct stat *restrict ret)
{
	int tried = serve_next(AT_FDCWD, path, ret, 0);

	return likely(tried == TABLE_SERVED) ? 0 : stat_slow(tried, path, ret);
}

static __attribute__((noinline)) int lstat_slow(int tried, const char *path, struct stat *ret)
{
	return serve_other(tried, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW)
		       ? 0
		       : NEXT(lstat)(path, ret);
}

int lstat(const char *restrict path, struct stat *restrict ret)
{
	int tried = serve_next(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);

	return likely(tried == TABLE_SERVED) ? 0 : lstat_slow(tried, path, ret);
}

static __attribute__((noinline)) int fstatat_slow(int tried, int dirfd, const char *path,
						  struct stat *ret, int flags)
{
	return serve_other(tried, dirfd, path, ret, flags) ? 0
							   : NEXT(fstatat)(dirfd, path, ret, flags);
}

int fstatat(int dirfd, const char *restrict path, struct stat *restrict ret, int flags)
{
	int tried = serve_next(dirfd, path, ret, flags);

	return likely(tried == TABLE_SERVED) ? 0 : fstatat_slow(tried, dirfd, path, ret, flags);
}

static __attribute__((noinline)) int statx_slow(int tried, int dirfd, const char *path, int flags,
						unsigned int mask, struct statx *ret)
{
	struct found found;

	if (tried == TABLE_JUMP)
		tried = found_serve_statx(table_expect_other(&found, dirfd, path), &found, ret,
					  mask);
	else if (tried == TABLE_UNKNOWN)
		tried = found_serve_statx(table_expect_shared(&found, dirfd, path, ret, flags),
					  &found, ret, mask);
	return tried == TABLE_SERVED || (tried == TABLE_UNKNOWN && !only_counted(flags) &&
					 metadata_serve_statx(dirfd, path, ret, flags, mask))
		       ? 0
		       : NEXT(statx)(dirfd, path, flags, mask, ret);
}

int statx(int dirfd, const char *restrict path, int flags, unsigned int mask,
	  struct statx *restrict ret)
{
	struct found found;
	int tried = TABLE_CHANGED;

	if (likely(statx_is_served(mask)))
		tried = found_serve_statx(table_expect(&found, dirfd, path, ret, flags), &found,
					  ret, mask);
	return likely(tried == TABLE_SERVED) ? 0 : statx_slow(tried, dirfd, path, flags, mask, ret);
}

static __attribute__((noinline)) bool older_serve(int version, int dirfd, const char *path,
						  struct stat *ret, int flags)
{
	int tried = version == STAT_VERSION ? serve_next(dirfd, path, ret, flags) : TABLE_CHANGED;

	return tried == TABLE_SERVED || serve_other(tried, dirfd, path, ret, flags);
}

int __xstat(int version, const char *path, struct stat *ret)
{
	return older_serve(version, AT_FDCWD, path, ret, 0) ? 0 : NEXT(__xstat)(version, path, ret);
}

int __lxstat(int version, const char *path, struct stat *ret)
{
	return older_serve(version, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW)
		       ? 0
		       : NEXT(__lxstat)(version, path, ret);
}

int __fxstatat(int version, int dirfd, const char *path, struct stat *ret, int flags)
{
	return older_serve(version, dirfd, path, ret, flags)
		       ? 0
		       : NEXT(__fxstatat)(version, dirfd, path, ret, flags);
}

/* Both structures are the same on x86-64, as are libc's functions. */
OTHER_NAME(stat64, stat);
OTHER_NAME(lstat64, lstat);
OTHER_NAME(fstatat64, fstatat);
OTHER_NAME(__xstat64, __xstat);
OTHER_NAME(__lxstat64, __lxstat);
OTHER_NAME(__fxstatat64, __fxstatat);
