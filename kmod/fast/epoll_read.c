// SPDX-License-Identifier: GPL-2.0
/*
 * epoll_read.c - the composite epoll_read: epoll_wait, then a read of each ready descriptor.
 *
 * All its calls are the kernel's own, so it sleeps, wakes and is interrupted like epoll_wait.
 * Before each read it checks for filters, tracers, signals and limits.  It leaves with the
 * remaining work in r1-r5 (COSY_UNDER_WAY) and in the arrivals.  Both are user memory and not
 * trusted: forging them leads only to reads that the user could make anyway.
 */
#include <linux/uaccess.h>
#include <linux/unistd.h>
#include "epoll_read.h"
#include "fast/fast.h"
#include "memory/memory.h"
#include "memory/reach.h"
#include "run/limits.h"
#include "run/ordinary.h"

/* Returns whether a byte of user memory can be written; changes nothing. */
static bool byte_is_writable(u64 address)
{
	int fault = 0;

	if (!user_write_access_begin(u64_to_user_ptr(address), 1))
		return false;
	cosy_poke_nothing((const void *)address, &fault);
	user_write_access_end();
	return !fault;
}

/*
 * Returns whether arrivals can be written if epoll_wait can write its first event: an event that is
 * reported once must not be lost by a fault.  They begin at most a page below that event, and end
 * where as many events do.
 */
static bool arrivals_are_writable(const struct cosy_activation *run, u64 buffer, u32 max)
{
	const u8 *first;

	if (likely(!((buffer ^ epoll_read_event_at(buffer, max, 0)) & PAGE_MASK)))
		return true;
	first = cosy_reach(run, buffer, 1);
	return first && (!cosy_reached_user(first, buffer) || byte_is_writable(buffer));
}

/* Makes arrivals of the events that epoll_wait has written.  False: a part cannot be reached. */
static bool events_arrive(struct cosy_activation *run, u64 buffer, u32 max, u32 count)
{
	struct epoll_read_event event;
	struct cosy_arrival arrival;
	u32 i;

	for (i = 0; i < count; i++) {
		if (!cosy_memory_read(run, &event, epoll_read_event_at(buffer, max, i),
				      sizeof(event)))
			return false;
		arrival = epoll_read_arrived(&event);
		if (!cosy_memory_write(run, epoll_read_arrival(buffer, i), &arrival,
				       sizeof(arrival)))
			return false;
	}
	return true;
}

/*
 * Makes the reads that remain: r5's lower half is the number of the next arrival.  It leaves after
 * a call only, so that each RUN makes one; `called`: this one has made epoll_wait.  Returns how
 * many arrivals there are, or -EFAULT.
 */
static s64 arrivals_read(struct cosy_activation *run, u64 *r, u32 count, u64 share, bool called)
{
	u32 max = r[4], i;
	struct cosy_arrival arrival;
	u64 at;
	s64 result;

	for (i = r[5]; i < count; i++) {
		at = epoll_read_arrival(r[2], i);
		if (!cosy_memory_read(run, &arrival, at, sizeof(arrival)))
			return -EFAULT;
		if (!epoll_read_wanted(&arrival))
			continue;
		r[5] = COSY_UNDER_WAY | i;
		if (called && cosy_between_many_calls(run, COSY_OP_epoll_read))
			return 0;
		called = true;
		result = cosy_ordinary(run, __NR_read, (u32)arrival.data,
				       epoll_read_bytes(r[2], max, share, i), share, 0);
		if (unlikely(run->status != COSY_DONE))
			return 0;
		/* The rest of it is the user's, who may have changed it since. */
		arrival.result = result;
		if (!cosy_memory_write(run, at + offsetof(struct cosy_arrival, result),
				       &arrival.result, sizeof(arrival.result)))
			return -EFAULT;
	}
	return count;
}

s64 cosy_op_epoll_read(struct cosy_activation *run, u64 *r)
{
	s64 share = epoll_read_share(r[3], r[4]), count;

	if (share < 0)
		return share;
	if (unlikely(COSY_IS_UNDER_WAY(r[5]))) {
		count = r[1];
		if ((u64)count > (u32)r[4])
			return -EINVAL;
		return arrivals_read(run, r, count, share, false);
	}
	if (unlikely(!arrivals_are_writable(run, r[2], r[4]))) {
		cosy_leave_fault(run, r[2]);
		return 0;
	}
	/* Interrupted, epoll_wait fails with EINTR: it is never restarted. */
	count = cosy_ordinary(run, __NR_epoll_wait, (s32)r[1], epoll_read_event_at(r[2], r[4], 0),
			      (u32)r[4], (s32)r[5]);
	if (count <= 0 || run->status != COSY_DONE)
		return count;
	if (!events_arrive(run, r[2], r[4], count))
		return -EFAULT;
	r[1] = count;
	r[5] = COSY_UNDER_WAY;
	return arrivals_read(run, r, count, share, true);
}
