// SPDX-License-Identifier: MIT
/* stat_many.c - cosy_stat_many of <cosy/files.h>. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include <cosy/files.h>

#define STAT_FLAGS                                                                                 \
	(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_FORCE_SYNC |             \
	 AT_STATX_DONT_SYNC)

static bool stat_is_valid(int flags, uint32_t mask)
{
	return !(flags & ~STAT_FLAGS) && (flags & AT_STATX_SYNC_TYPE) != AT_STATX_SYNC_TYPE &&
	       !(mask & STATX__RESERVED);
}

ssize_t cosy_stat_many(int dirfd, const char *const *names, size_t count, int flags, uint32_t mask,
		       struct cosy_stat_result *results)
{
	int saved = errno;
	ssize_t failed = 0;

	if (!stat_is_valid(flags, mask)) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		struct cosy_stat_result *to = &results[i];

		to->reserved = 0;
		to->error = 0;
		if (!statx(dirfd, names[i], flags, mask, &to->statx))
			continue;
		to->error = errno;
		memset(&to->statx, 0, sizeof(to->statx));
		failed++;
	}
	errno = saved;
	return failed;
}
