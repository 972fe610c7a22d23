// SPDX-License-Identifier: MIT
// Calls that wait: pipes, poll, epoll, select, sleeping.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	int p[2], r[12] = {0};
	char c[8] = "";
	struct timespec before, after;

	if (pipe(p))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &before);
	COSY_START;
	struct pollfd fds[2] = {{p[0], POLLIN, 0}, {p[1], POLLOUT, 0}};
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = 42}, got;
	struct timeval zero = {0, 0};
	struct timespec nap = {0, 2000000};
	fd_set set;

	r[0] = poll(fds, 1, 1);
	r[1] = poll(fds, 2, 100) * 10 + (fds[1].revents == POLLOUT);
	r[2] = write(p[1], "xyz", 3);
	r[3] = poll(fds, 2, 100) * 10 + (fds[0].revents == POLLIN);
	int e = epoll_create1(0);
	epoll_ctl(e, EPOLL_CTL_ADD, p[0], &event);
	r[4] = epoll_wait(e, &got, 1, 100) * 100 + got.data.u32;
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	r[5] = select(p[0] + 1, &set, NULL, NULL, &zero) * 10 + (FD_ISSET(p[0], &set) != 0);
	r[6] = read(p[0], c, sizeof(c));
	r[7] = nanosleep(&nap, NULL);
	r[8] = usleep(1000);
	close(e);
	clock_gettime(CLOCK_MONOTONIC, &after);
	COSY_END;
	for (int i = 0; i < 9; i++)
		printf("%d ", r[i]);
	long ns = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec;
	printf("%s %d\n", c, ns >= 3000000);
	return 0;
}
