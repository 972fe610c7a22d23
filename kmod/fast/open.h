/* SPDX-License-Identifier: GPL-2.0 */
/* open.h - which opens have a specialised version. */
#ifndef COSY_OPEN_H
#define COSY_OPEN_H

#include <linux/fcntl.h>
#include <linux/types.h>

/*
 * Flags that are served.  Others create, truncate, need an owner (O_NOATIME), want direct access or
 * make no open file at all.
 */
#define COSY_OPEN_FLAGS                                                                            \
	(O_ACCMODE | O_APPEND | O_CLOEXEC | O_DIRECTORY | O_LARGEFILE | O_NOCTTY | O_NOFOLLOW |    \
	 O_NONBLOCK)

static inline bool cosy_open_is_served(u32 flags)
{
	return !(flags & ~COSY_OPEN_FLAGS) && (flags & O_ACCMODE) != O_ACCMODE;
}

#endif /* COSY_OPEN_H */
