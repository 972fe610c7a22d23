// SPDX-License-Identifier: GPL-2.0
/*
 * read_file.c - a small file opened, read and closed: the composite read_file.
 *
 * Opening and closing are the kernel's own calls, so that the file has a descriptor
 * meanwhile, as it would have; what there is to save is in the reads, and in the two
 * calls that the compound does not make.
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/unistd.h>
#include "fast/fast.h"

/* Calls that may not leave: what is done already cannot be done again. */
static s64 made_here(struct cosy_activation *run, s64 result)
{
	if (likely(run->status == COSY_DONE))
		return result;
	run->status = COSY_DONE;
	return -EINTR;
}

/*
 * Nothing here can be gone on with later, so signals wait; but not for long, as there are
 * files without an end.  What freezes tasks comes as a signal, too.
 */
static bool is_interrupted(unsigned long begun)
{
	return fatal_signal_pending(current) ||
	       (signal_pending(current) && time_after(jiffies, begun + HZ));
}

static s64 read_all(struct cosy_activation *run, u32 fd, u64 to, u64 size)
{
	unsigned long begun = jiffies;
	u64 done = 0;
	s64 result;

	while (done < size) {
		const u64 read[] = { 0, fd, to + done, size - done };

		result = cosy_fast_read(run, read);
		if (result == COSY_ORDINARY)
			result = cosy_ordinary(run, __NR_read, fd, to + done, size - done, 0);
		result = made_here(run, result);
		if (result < 0)
			return result;
		if (!result)
			break;
		done += result;
		if (is_interrupted(begun))
			return -EINTR;
		cond_resched();
	}
	return done;
}

/*
 * openat(dirfd, path, flags), read up to the end of the file or until `size` bytes are at
 * user address `to`, close.  Bytes, or the error of the call that failed; the file is
 * closed either way.  A read that would have to be restarted fails with -EINTR, and so
 * does reading on for more than a second while a signal waits.  Non-zero run->status:
 * opening is to be restarted, and nothing is done.
 */
s64 cosy_op_read_file(struct cosy_activation *run, u64 *r)
{
	s64 fd = cosy_ordinary(run, __NR_openat, (s32)r[1], r[2], (u32)r[5], 0), result, closed;

	if (fd < 0)
		return fd;
	result = read_all(run, fd, r[3], r[4]);
	closed = made_here(run, cosy_ordinary(run, __NR_close, fd, 0, 0, 0));
	return result < 0 || closed >= 0 ? result : closed;
}
