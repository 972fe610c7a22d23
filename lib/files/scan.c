// SPDX-License-Identifier: MIT
/* scan.c - cosy_scan of <cosy/files.h>: one directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/list.h"
#include "files/open.h"

#define SCAN_FLAGS (COSY_SCAN_STAT | COSY_SCAN_FOLLOW | COSY_SCAN_DOTS)

struct cosy_scan {
	int fd;
	struct libcosy_list list;
	struct cosy_dir_entry entry;
};

static enum list_attributes scan_attributes(uint32_t flags)
{
	if (!(flags & COSY_SCAN_STAT))
		return LIST_NAMES;
	return flags & COSY_SCAN_FOLLOW ? LIST_FOLLOW : LIST_STAT;
}

struct cosy_scan *cosy_scan_open(int dirfd, const char *path, uint32_t flags)
{
	struct cosy_scan *scan;
	int fd;

	if (flags & ~SCAN_FLAGS || (flags & COSY_SCAN_FOLLOW && !(flags & COSY_SCAN_STAT))) {
		errno = EINVAL;
		return NULL;
	}
	fd = libcosy_open_dir(dirfd, path, 0);
	if (fd < 0)
		return NULL;
	scan = calloc(1, sizeof(*scan));
	if (!scan ||
	    !libcosy_list_create(&scan->list, scan_attributes(flags), flags & COSY_SCAN_DOTS)) {
		free(scan);
		close(fd);
		errno = ENOMEM;
		return NULL;
	}
	scan->fd = fd;
	libcosy_list_begin(&scan->list, fd);
	return scan;
}

int cosy_scan_next(struct cosy_scan *scan, const struct cosy_dir_entry **entry)
{
	int result = libcosy_list_next(&scan->list, &scan->entry);

	if (result < 0) {
		errno = -result;
		return -1;
	}
	scan->entry.path = scan->entry.name;
	scan->entry.path_length = scan->entry.name_length;
	scan->entry.depth = 1;
	*entry = &scan->entry;
	return result;
}

int cosy_scan_fd(const struct cosy_scan *scan)
{
	return scan->fd;
}

void cosy_scan_close(struct cosy_scan *scan)
{
	int saved = errno;

	if (!scan)
		return;
	close(scan->fd);
	libcosy_list_destroy(&scan->list);
	free(scan);
	errno = saved;
}
