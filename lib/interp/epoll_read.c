// SPDX-License-Identifier: MIT
/*
 * epoll_read.c - the operation epoll_read in user mode: epoll_wait, then a read of each descriptor
 * that is ready, by libc's functions, in which a thread may be cancelled.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../../core/epoll_read.h"
#include "interp/fast_calls.h"

_Static_assert(sizeof(struct epoll_read_event) == sizeof(struct epoll_event) &&
		       EPOLL_READ_IN == EPOLLIN && EPOLL_READ_ERROR == EPOLLERR,
	       "struct epoll_read_event is struct epoll_event");

static s64 read_arrived(const struct cosy_arrival *arrival, u64 to, u64 share)
{
	int saved = errno;
	s64 result = read((int)arrival->data, (void *)to, share);

	if (result < 0)
		result = -errno;
	errno = saved;
	return result;
}

void libcosy_do_epoll_arrival(u64 buffer, u64 size, u32 max, u32 i)
{
	struct cosy_arrival *arrival = (void *)epoll_read_arrival(buffer, i);
	s64 share = epoll_read_share(size, max);

	if (epoll_read_wanted(arrival))
		arrival->result =
			read_arrived(arrival, epoll_read_bytes(buffer, max, share, i), share);
}

s64 libcosy_do_epoll_read_rest(u64 count, u64 buffer, u64 size, u32 max, u32 next)
{
	s64 share = epoll_read_share(size, max);

	if (share < 0)
		return share;
	if (count > max)
		return -EINVAL;
	for (u32 i = next; i < count; i++)
		libcosy_do_epoll_arrival(buffer, size, max, i);
	return count;
}

s64 libcosy_do_epoll_wait(int epfd, u64 buffer, u64 size, u32 max, int timeout)
{
	s64 share = epoll_read_share(size, max), count;
	int saved = errno;

	if (share < 0)
		return share;
	count = epoll_wait(epfd, (struct epoll_event *)epoll_read_event_at(buffer, max, 0), max,
			   timeout);
	if (count < 0)
		count = -errno;
	errno = saved;
	for (u32 i = 0; (s64)i < count; i++) {
		struct epoll_read_event event =
			*(struct epoll_read_event *)epoll_read_event_at(buffer, max, i);

		*(struct cosy_arrival *)epoll_read_arrival(buffer, i) = epoll_read_arrived(&event);
	}
	return count;
}

s64 libcosy_do_epoll_read(int epfd, u64 buffer, u64 size, u32 max, int timeout)
{
	s64 count = libcosy_do_epoll_wait(epfd, buffer, size, max, timeout);

	return count <= 0 ? count : libcosy_do_epoll_read_rest(count, buffer, size, max, 0);
}
