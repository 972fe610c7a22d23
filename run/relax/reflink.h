/* SPDX-License-Identifier: MIT */
/*
 * reflink.h - serves copy loops on file systems that share blocks between files (btrfs, xfs).
 *
 * A program that writes a buffer that it has just read into may have looked at the bytes, so they
 * are read all the same.  The write compares them with the source's.  If they are equal it need
 * not copy them: one FICLONERANGE for many such writes makes the destination share the source's
 * blocks.
 *
 * Until that is done nothing may change the source, so there is a read lease on it.  The
 * destination is the file whose writes are coalesced (coalesce.h), with REFLINK in coalesce_word,
 * and has a write lease.  Where blocks cannot be shared none of this is done.
 */
#ifndef COSY_RUN_REFLINK_H
#define COSY_RUN_REFLINK_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Bytes of the shortest read that is worth a comparison. */
#define MIN_REFLINK 16384

/* The last long read, whose bytes a copy loop writes next. */
struct reflink_read {
	int fd;
	const void *buf;
	size_t len;
};

extern struct reflink_read reflink_read;

static inline void reflink_note(int fd, const void *buf, long len)
{
	if (len >= MIN_REFLINK)
		reflink_read = (struct reflink_read){fd, buf, len};
}

/* True if a write of these bytes may be one of a copy loop. */
static inline bool reflink_may(int fd, const void *buf, size_t len)
{
	return buf == reflink_read.buf && len == reflink_read.len && fd != reflink_read.fd;
}

/* Makes such a write.  False: the caller makes it the ordinary way. */
bool reflink_write(int fd, const void *buf, size_t len);

/* Ends every kind of relaxing for `fd`. */
void reflink_release(int fd);

#pragma GCC visibility pop

#endif /* COSY_RUN_REFLINK_H */
