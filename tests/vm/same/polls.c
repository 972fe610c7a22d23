// SPDX-License-Identifier: MIT
/*
 * polls.c - makes epoll_read by plain calls: epoll_wait into the upper part of the arrivals' place,
 * as <linux/cosy.h> says that it is done, then a read of each descriptor that is ready.  Shares no
 * code with core/epoll_read.h.
 */
#include <sys/epoll.h>
#include <sys/syscall.h>
#include "same.h"

long poll_plainly(int poll, char *to, size_t size, int max)
{
	char *events, *share;
	size_t bytes;
	long count;

	if (max < 1 || max > COSY_MAX_ARRIVALS || size / (size_t)max < 24)
		return -EINVAL;
	bytes = (size / (size_t)max - 16) / 8 * 8;
	events = to + 4 * max;
	share = to + 16 * max;
	count = syscall(SYS_epoll_wait, poll, events, max, 0);
	if (count < 0)
		return -errno;
	for (long i = 0; i < count; i++) {
		struct cosy_arrival arrival = { .result = COSY_NOT_READ };

		memcpy(&arrival.events, events + 12 * i, 4);
		memcpy(&arrival.data, events + 12 * i + 4, 8);
		memcpy(to + 16 * i, &arrival, sizeof(arrival));
	}
	for (long i = 0; i < count; i++, share += bytes) {
		struct cosy_arrival arrival;
		long result;

		memcpy(&arrival, to + 16 * i, sizeof(arrival));
		if (!(arrival.data & POLL_READS) || !(arrival.events & EPOLLIN) ||
		    arrival.events & EPOLLERR)
			continue;
		result = syscall(SYS_read, (int)arrival.data, share, bytes);
		arrival.result = (int)(result < 0 ? -errno : result);
		memcpy(to + 16 * i, &arrival, sizeof(arrival));
	}
	return count;
}
