/* SPDX-License-Identifier: MIT */
/* open.h - opens directories and files for the functions of <cosy/files.h>. */
#ifndef COSY_LIB_FILES_OPEN_H
#define COSY_LIB_FILES_OPEN_H

#include <errno.h>
#include <fcntl.h>

/* Does openat, again where a signal handler has interrupted it.  -1 with errno. */
static inline int libcosy_open_file(int dirfd, const char *name, int flags)
{
	int fd;

	do
		fd = openat(dirfd, name, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Opens a directory to be listed; `flags`: 0 or O_NOFOLLOW. */
static inline int libcosy_open_dir(int dirfd, const char *name, int flags)
{
	return libcosy_open_file(dirfd, name, O_RDONLY | O_DIRECTORY | flags);
}

#endif /* COSY_LIB_FILES_OPEN_H */
