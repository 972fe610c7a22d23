// SPDX-License-Identifier: MIT
/* portion.c - entries that were read ahead, without the GIL: see module.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* Bytes of a portion: some 80 entries with attributes, or 300 names. */
#define PORTION 16384
/* Of the longest record: a name has at most 255 bytes. */
#define MAX_RECORD (sizeof(struct record) + sizeof(struct stat) + 256 + 8)

static void portion_add(struct portion *portion, const struct cosy_dir_entry *entry)
{
	struct record *record = (struct record *)(portion->bytes + portion->end);
	/* That of a walk's first directory is a whole path, which its caller knows. */
	size_t length = entry->name_length < 256 ? entry->name_length : 0;
	char *to = record->rest;

	record->depth = entry->depth;
	record->error = entry->error;
	record->type = entry->type;
	record->event = entry->event;
	record->ino = entry->inode;
	record->length = (uint8_t)length;
	record->examined = entry->stat;
	if (entry->stat) {
		memcpy(to, entry->stat, sizeof(*entry->stat));
		to += sizeof(*entry->stat);
	}
	memcpy(to, entry->name, length);
	to[length] = 0;
	record->size = (uint32_t)(to + length - (char *)record + 8) & ~7u;
	portion->end += record->size;
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
		portion_add(portion, entry);
	} while (entry->event == COSY_WALK_ENTRY && portion->end <= PORTION - MAX_RECORD);
}
