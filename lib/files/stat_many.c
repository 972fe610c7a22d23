// SPDX-License-Identifier: MIT
/* stat_many.c - cosy_stat_many of <cosy/files.h>. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "files/compounds.h"

#define STAT_FLAGS                                                                                 \
	(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_FORCE_SYNC |             \
	 AT_STATX_DONT_SYNC)

static bool stat_is_valid(int flags, uint32_t mask)
{
	return !(flags & ~STAT_FLAGS) && (flags & AT_STATX_SYNC_TYPE) != AT_STATX_SYNC_TYPE &&
	       !(mask & STATX__RESERVED);
}

/*
 * Names to make plain calls for until the compound is tried again, and names in one run of it,
 * which a signal should not have to wait for.
 */
#define MAX_NATIVE 64
#define MAX_RUN	   1024

struct stat_names {
	int dirfd, flags;
	uint32_t mask;
	const char *const *names;
	struct cosy_stat_result *results;
	ssize_t failed;
};

static void stat_one(struct stat_names *stat, size_t i)
{
	struct cosy_stat_result *to = &stat->results[i];

	to->reserved = 0;
	to->error = 0;
	if (!statx(stat->dirfd, stat->names[i], stat->flags, stat->mask, &to->statx))
		return;
	to->error = errno;
	memset(&to->statx, 0, sizeof(to->statx));
	stat->failed++;
}

/* Turns a result of the compound into the caller's form. */
static void stat_finish(struct stat_names *stat, size_t i)
{
	struct cosy_stat_result *to = &stat->results[i];

	if (!to->error)
		return;
	if (to->error == -EINTR) {
		stat_one(stat, i);
		return;
	}
	to->error = -to->error;
	to->reserved = 0;
	memset(&to->statx, 0, sizeof(to->statx));
	stat->failed++;
}

/* Has the compound do `count` names from `first` on.  False: nothing was done. */
static bool stat_run(struct stat_names *stat, size_t first, size_t count)
{
	struct files_stat words = {
		.dirfd = stat->dirfd,
		.flags = stat->flags,
		.mask = stat->mask,
		.names = (uint64_t)&stat->names[first],
		.results = (uint64_t)&stat->results[first],
		.end = (uint64_t)&stat->results[first + count],
	};

	if (!libcosy_files_run(FILES_STAT, &words))
		return false;
	for (size_t i = first; i < first + count; i++)
		stat_finish(stat, i);
	return true;
}

static void stat_natively(struct stat_names *stat, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++)
		stat_one(stat, i);
	libcosy_files_count(FILES_STAT, count);
}

static size_t at_most(size_t count, size_t max)
{
	return count < max ? count : max;
}

ssize_t cosy_stat_many(int dirfd, const char *const *names, size_t count, int flags, uint32_t mask,
		       struct cosy_stat_result *results)
{
	struct stat_names stat = {
		.dirfd = dirfd,
		.flags = flags,
		.mask = mask,
		.names = names,
		.results = results,
	};
	int saved = errno;
	size_t some;

	if (!stat_is_valid(flags, mask)) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 0; i < count; i += some) {
		some = at_most(count - i, MAX_RUN);
		if (some > 1 && stat_run(&stat, i, some))
			continue;
		some = at_most(some, MAX_NATIVE);
		stat_natively(&stat, i, some);
	}
	errno = saved;
	return stat.failed;
}
