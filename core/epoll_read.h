/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * epoll_read.h - how the operation epoll_read divides its buffer, for the module and libcosy alike.
 *
 * epoll_wait writes its events, of 12 bytes each, to the end of the arrivals' array.  So they can
 * be converted to arrivals, of 16 bytes each, from first to last: none is overwritten before
 * it has been read.
 *
 *	arrival[max] | share 0 | share 1 | .. | share max - 1
 *	     ^ 4 * max: event[max]
 */
#ifndef COSY_EPOLL_READ_H
#define COSY_EPOLL_READ_H

#include "core.h"

/* epoll_wait's struct epoll_event, which has no padding on x86-64. */
struct epoll_read_event {
	u32 events;
	u64 data;
} __attribute__((packed));

/* EPOLLIN and EPOLLERR. */
#define EPOLL_READ_IN	 1u
#define EPOLL_READ_ERROR 8u

/* Returns the bytes of each descriptor's share, a multiple of 8, or -EINVAL. */
static inline s64 epoll_read_share(u64 size, u32 max)
{
	if (!max || max > COSY_MAX_ARRIVALS || size / max < sizeof(struct cosy_arrival) + 8)
		return -EINVAL;
	return COSY_ARRIVAL_SHARE(size, max);
}

/* Returns the address of an arrival, of an event, or of a share. */
static inline u64 epoll_read_arrival(u64 buffer, u32 i)
{
	return buffer + (u64)i * sizeof(struct cosy_arrival);
}

static inline u64 epoll_read_event_at(u64 buffer, u32 max, u32 i)
{
	return buffer + (u64)max * (sizeof(struct cosy_arrival) - sizeof(struct epoll_read_event)) +
	       (u64)i * sizeof(struct epoll_read_event);
}

static inline u64 epoll_read_bytes(u64 buffer, u32 max, u64 share, u32 i)
{
	return epoll_read_arrival(buffer, max) + i * share;
}

/* Returns whether the descriptor is to be read. */
static inline bool epoll_read_wanted(const struct cosy_arrival *arrival)
{
	return arrival->data & COSY_ARRIVAL_READ &&
	       (arrival->events & (EPOLL_READ_IN | EPOLL_READ_ERROR)) == EPOLL_READ_IN;
}

/* Returns the arrival that an event makes. */
static inline struct cosy_arrival epoll_read_arrived(const struct epoll_read_event *event)
{
	return (struct cosy_arrival){
		.data = event->data,
		.events = event->events,
		.result = COSY_NOT_READ,
	};
}

#endif /* COSY_EPOLL_READ_H */
