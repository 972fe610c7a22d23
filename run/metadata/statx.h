/* SPDX-License-Identifier: MIT */
/* statx.h - serves statx(2) from the entries of tables: see table.h. */
#ifndef COSY_RUN_STATX_H
#define COSY_RUN_STATX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "metadata/table.h"

/* True if entries have all fields of the mask.  The kernel alone has other fields. */
static inline bool statx_is_served(unsigned int mask)
{
	return mask && !(mask & ~(STATX_BASIC_STATS | STATX_MNT_ID));
}

static inline struct statx_timestamp statx_time(uint64_t seconds, uint64_t nanoseconds)
{
	return (struct statx_timestamp){.tv_sec = (int64_t)seconds, .tv_nsec = nanoseconds};
}

/*
 * Fills in struct statx as the kernel does for a mask that is served.  A file system with
 * multigrain timestamps (`counted_times`) returns mtime and ctime only if the mask has one of them.
 */
static inline void statx_copy(struct statx *to, const struct table *table,
			      const struct cosy_watch_entry *entry, unsigned int mask)
{
	/* Words of struct stat.  `restrict` promises the compiler that `to` does not overlap. */
	const uint64_t *restrict from = (const uint64_t *)entry->stat;
	uint64_t device = from[0], special = from[5];

	memset(to, 0, sizeof(*to));
	to->stx_mask = table->stx_mask;
	to->stx_attributes = entry->attributes;
	to->stx_attributes_mask = table->stx_attributes_mask;
	to->stx_mnt_id = table->stx_mnt_id;
	to->stx_dev_major = major(device);
	to->stx_dev_minor = minor(device);
	to->stx_ino = from[1];
	to->stx_nlink = from[2];
	to->stx_mode = from[3];
	to->stx_uid = from[3] >> 32;
	to->stx_gid = from[4];
	if (unlikely(special)) {
		to->stx_rdev_major = major(special);
		to->stx_rdev_minor = minor(special);
	}
	to->stx_size = from[6];
	to->stx_blksize = from[7];
	to->stx_blocks = from[8];
	to->stx_atime = statx_time(from[9], from[10]);
	if (unlikely(table->counted_times) && !(mask & (STATX_MTIME | STATX_CTIME))) {
		to->stx_mask &= ~(STATX_MTIME | STATX_CTIME);
		return;
	}
	to->stx_mtime = statx_time(from[11], from[12]);
	to->stx_ctime = statx_time(from[13], from[14]);
}

/* Serves statx(2) from what was found: `tried` is what table_expect returned. */
static __attribute__((always_inline)) inline int found_serve_statx(int tried,
								   const struct found *found,
								   struct statx *ret,
								   unsigned int mask)
{
	if (unlikely(tried != TABLE_SERVED))
		return tried;
	if (unlikely(!found->table->stx_mask)) {
		set_leave(found->set);
		return TABLE_UNKNOWN;
	}
	statx_copy(ret, found->table, found->entry, mask);
	found_leave(found);
	return TABLE_SERVED;
}

#endif /* COSY_RUN_STATX_H */
