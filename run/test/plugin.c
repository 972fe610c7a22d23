// SPDX-License-Identifier: MIT
/*
 * plugin.c - waits, in the constructor and in the destructor, for a thread and for a child that
 * make calls for the first time.  The dynamic linker holds its lock meanwhile.  See plugin_test.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void *wait_for_nothing(void *unused)
{
	struct timespec none = {0, 0};
	struct timeval no_time = {0, 0};
	struct epoll_event event;
	int epoll = epoll_create1(0);

	CHECK(poll(NULL, 0, 0) == 0);
	CHECK(ppoll(NULL, 0, &none, NULL) == 0);
	CHECK(select(0, NULL, NULL, NULL, &no_time) == 0);
	CHECK(pselect(0, NULL, NULL, NULL, &none, NULL) == 0);
	CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
	CHECK(epoll_pwait(epoll, &event, 1, 0, NULL) == 0);
	CHECK(nanosleep(&none, NULL) == 0);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL) == 0);
	CHECK(usleep(0) == 0);
	CHECK(sleep(0) == 0);
	CHECK(prctl(PR_SET_NAME, "worker") == 0);
	close(epoll);
	return unused;
}

static void *call_descriptors(void *unused)
{
	struct msghdr nothing = {0};
	struct iovec part = {0};
	char *argv[] = {NULL};
	sigset_t set;
	int fd = openat(AT_FDCWD, "/dev/null", O_RDWR), copy = dup(fd);
	FILE *stream = fdopen(copy, "r");
	long left;

	CHECK(stream && fclose(stream) == 0);
	CHECK(dup3(fd, 100, O_CLOEXEC) == 100);
	CHECK(readv(fd, &part, 1) == 0);
	CHECK(sendfile(fd, -1, NULL, 1) == -1);
	CHECK(splice(-1, NULL, fd, NULL, 1, 0) == -1);
	CHECK(copy_file_range(-1, NULL, fd, NULL, 1, 0) == -1);
	CHECK(lockf(-1, F_TEST, 0) == -1);
	CHECK(ioctl(-1, FIONREAD, &left) == -1);
	CHECK(sendmsg(-1, &nothing, 0) == -1);
	CHECK(close_range(100, 100, 0) == 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0);
	CHECK(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
	CHECK(setuid(getuid()) == 0);
	CHECK(seteuid(geteuid()) == 0);
	CHECK(setfsuid(geteuid()) == (int)geteuid());
	CHECK(mlockall(0) == -1);
	CHECK(execveat(-1, "", argv, argv, 0) == -1);
	close(fd);
	return unused;
}

static void run(void *(*calls)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, calls, NULL));
	CHECK(!pthread_join(thread, NULL));
}

/* A thread that is not in the child has the lock there. */
static void run_in_child(void)
{
	pid_t child = _Fork();
	int status;

	if (!child) {
		sigset_t set;

		sigemptyset(&set);
		_exit(signalfd(-1, &set, 0) >= 0 && preadv2(-1, NULL, 0, 0, 0) < 0 ? 7 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

__attribute__((constructor)) static void plugin_begin(void)
{
	run(wait_for_nothing);
	run_in_child();
}

__attribute__((destructor)) static void plugin_end(void)
{
	run(call_descriptors);
}
