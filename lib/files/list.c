// SPDX-License-Identifier: MIT
/* list.c - see list.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "files/list.h"

/*
 * Bytes of a portion.  The first one of a directory is small, because most directories are, and
 * because a region is asked for once in each portion.
 */
#define FIRST_PORTION 4096
#define MAX_PORTION   32768

bool libcosy_list_create(struct libcosy_list *list, enum list_attributes attributes, bool dots)
{
	*list = (struct libcosy_list){.attributes = attributes, .dots = dots, .fd = -1};
	list->buffer = malloc(MAX_PORTION);
	return list->buffer;
}

void libcosy_list_destroy(struct libcosy_list *list)
{
	free(list->buffer);
}

void libcosy_list_begin(struct libcosy_list *list, int fd)
{
	list->fd = fd;
	list->at = list->end = 0;
	list->portion = FIRST_PORTION;
}

static bool name_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static uint8_t type_of_mode(mode_t mode)
{
	return IFTODT(mode);
}

/* Has `entry` get its attributes from list->stat, or the reason why there are none. */
static void list_examine(struct libcosy_list *list, struct cosy_dir_entry *entry)
{
	int failed = -1;

	if (list->attributes == LIST_FOLLOW)
		failed = fstatat(list->fd, entry->name, &list->stat, 0);
	if (failed && (list->attributes == LIST_STAT || errno == ENOENT || errno == ELOOP))
		failed = fstatat(list->fd, entry->name, &list->stat, AT_SYMLINK_NOFOLLOW);
	if (failed) {
		entry->error = errno;
		return;
	}
	entry->stat = &list->stat;
	entry->type = type_of_mode(list->stat.st_mode);
}

/* Reads the next portion.  Returns its bytes, 0 at the end, or a negative errno. */
static ssize_t list_fill(struct libcosy_list *list)
{
	ssize_t bytes;

	do
		bytes = getdents64(list->fd, list->buffer, list->portion);
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return -errno;
	list->at = 0;
	list->end = bytes;
	if (list->portion < MAX_PORTION)
		list->portion *= 2;
	return bytes;
}

int libcosy_list_next(struct libcosy_list *list, struct cosy_dir_entry *entry)
{
	const struct dirent64 *from;
	int saved = errno;
	ssize_t bytes;

	do {
		if (list->at >= list->end) {
			bytes = list_fill(list);
			if (bytes <= 0) {
				errno = saved;
				return bytes;
			}
		}
		from = (const struct dirent64 *)(list->buffer + list->at);
		list->at += from->d_reclen;
	} while (!list->dots && name_is_dots(from->d_name));
	entry->name = from->d_name;
	entry->name_length = strlen(from->d_name);
	entry->inode = from->d_ino;
	entry->type = from->d_type;
	entry->stat = NULL;
	entry->error = 0;
	if (list->attributes != LIST_NAMES)
		list_examine(list, entry);
	errno = saved;
	return 1;
}
