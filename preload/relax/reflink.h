/* SPDX-License-Identifier: MIT */
/*
 * reflink.h - copy loops on file systems that share blocks between files (btrfs, xfs).
 *
 * A program that writes from the same buffer what it has just read may have looked at
 * the bytes or not, so they are read all the same.  But if they still are what the source
 * has, which is compared, the write need not copy them: the destination is told to share
 * the source's blocks (FICLONERANGE), for many such writes at once.
 *
 * Until that is done nothing may change the source, so there is a read lease on it; the
 * destination is the file that is coalesced (coalesce.h), with REFLINK in its word, and has a write
 * lease.  Where blocks cannot be shared this gains nothing, and is not done.
 */
#ifndef COSY_PRELOAD_REFLINK_H
#define COSY_PRELOAD_REFLINK_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Shorter reads are not worth a comparison. */
#define MIN_REFLINK 16384

/* The last long read: what a copy loop writes next. */
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

/* May a write of these bytes be one of a copy loop? */
static inline bool reflink_may(int fd, const void *buf, size_t len)
{
	return buf == reflink_read.buf && len == reflink_read.len && fd != reflink_read.fd;
}

/* Such a write.  False: it is to be made in the ordinary way. */
bool reflink_write(int fd, const void *buf, size_t len);

/* Makes `to` share what is pending, or writes it; with signals blocked. */
void reflink_hand_over(int to);

/* Gives up the source, with nothing pending; with signals blocked. */
void reflink_end(void);

/* Is `fd` the source? */
bool reflink_from(int fd);

/* Has the source's lease been broken? */
bool reflink_broken(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_REFLINK_H */
