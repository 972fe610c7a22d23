// SPDX-License-Identifier: GPL-2.0
/* descriptor.c - see descriptor.h. */
#include "fast/descriptor.h"

struct fd cosy_descriptor_look_up(struct cosy_activation *run, u32 number)
{
	struct fd fd = fdget(number);
	const u32 slot = number % COSY_KNOWN;

	if (!fd_file(fd)) {
		run->refused = COSY_GUARD_LIMITED;
		return fd;
	}
	if (!cosy_cached_file(fd_file(fd))) {
		fdput(fd);
		run->refused = COSY_GUARD_FS_CONSTANT;
		return (struct fd){};
	}
	/*
	 * Go by fdget's answer, not by whether the table is shared now.  The thread that shared it
	 * a moment ago may have ended, and the reference that fdget took would be dropped again at
	 * each use.
	 */
	if (cosy_fd_is_borrowed(fd)) {
		run->descriptors.file[slot] = fd;
		run->descriptors.number[slot] = number;
	}
	return fd;
}
