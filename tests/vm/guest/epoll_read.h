/* SPDX-License-Identifier: MIT */
/*
 * epoll_read.h - what the files of epoll_read share: the driver (epoll_read.c) with the ways to wait
 * and read, and the two servers (epoll_read_servers.c).
 */
#ifndef EPOLL_READ_H
#define EPOLL_READ_H

#define CHECK_SHARED
#include "raw.h"
#include <cosy/fast.h>
#include <sys/epoll.h>

enum { MAX = 6, SHARE = 96, SIZE = MAX * (sizeof(struct cosy_arrival) + SHARE) };

/* What epoll_ctl is given: the number of the connection lies above the mark. */
#define READ(fd, number)                                                                           \
	((union epoll_data){ .u64 = (uint32_t)(fd) | COSY_ARRIVAL_READ | (uint64_t)(number) << 33 })
#define NUMBER(arrival) ((int)((arrival)->data >> 33))
#define FD(arrival)	((int)(arrival)->data)

extern int device;
extern char *shared; /* the shared buffer */

/* Waits and reads; returns how many are ready, or a negative errno. */
typedef int wait_function(int epfd, void *buffer, size_t size, int max, int timeout);

/* By plain calls; shares no code with core/epoll_read.h. */
int wait_plainly(int epfd, void *buffer, size_t size, int max, int timeout);
int wait_in_region(int epfd, void *buffer, size_t size, int max, int timeout);

struct way {
	const char *name;
	wait_function *waits; /* NULL: a turn is a region as a whole */
};

enum { WAYS = 5 };
extern const struct way ways[WAYS]; /* the first is plain, the last the whole turn */

/* Have the servers do the same in each way. */
void test_squid(void);
void test_nginx(void);

#endif /* EPOLL_READ_H */
