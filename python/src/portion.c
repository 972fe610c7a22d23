// SPDX-License-Identifier: MIT
/* portion.c - entries that were read ahead, without the GIL: see module.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

/*
 * Bytes of the longest name, and the NUL.  Most file systems stop at 255 bytes; FUSE, and those that
 * count characters in place of bytes, do not.  The kernel's getdents64 refuses longer ones.
 */
#define MAX_NAME   4096
#define MAX_RECORD (sizeof(struct record) + sizeof(struct stat) + MAX_NAME + 8)
/* Bytes of a portion: some 80 entries with attributes, or 300 names, and room for a long one. */
#define PORTION (16384 + MAX_RECORD)

/* Returns 1, or -EIO for a name that getdents64 does not return. */
static int portion_add(struct portion *portion, const struct cosy_dir_entry *entry)
{
	struct record *record = (struct record *)(portion->bytes + portion->end);
	/* That of a walk's first directory is a whole path, which its caller knows. */
	size_t length = entry->depth ? entry->name_length : 0;
	char *to = record->rest;

	if (length >= MAX_NAME)
		return -EIO;
	record->depth = entry->depth;
	record->error = entry->error;
	record->type = entry->type;
	record->event = entry->event;
	record->ino = entry->inode;
	record->length = (uint16_t)length;
	record->examined = entry->stat;
	if (entry->stat) {
		memcpy(to, entry->stat, sizeof(*entry->stat));
		to += sizeof(*entry->stat);
	}
	memcpy(to, entry->name, length);
	to[length] = 0;
	record->size = (uint32_t)(to + length - (char *)record + 8) & ~7u;
	portion->end += record->size;
	return 1;
}

void portion_fill(struct portion *portion, portion_source *source, void *handle)
{
	const struct cosy_dir_entry *entry;

	portion->at = portion->end = 0;
	if (!portion->bytes)
		portion->bytes = malloc(PORTION);
	if (!portion->bytes) {
		portion->outcome = -ENOMEM;
		return;
	}
	do {
		portion->outcome = source(handle, &entry);
		if (portion->outcome < 0)
			portion->outcome = -errno;
		if (portion->outcome <= 0)
			return;
		portion->outcome = portion_add(portion, entry);
		if (portion->outcome < 0)
			return;
	} while (entry->event == COSY_WALK_ENTRY && portion->end <= PORTION - MAX_RECORD);
}
