/* SPDX-License-Identifier: MIT */
/*
 * pthread_cancel of a thread in a region: at the calls that libc makes cancellation points, at
 * no other place, with clean-up handlers once.
 */
#include "check.h"

#include <cosy/fast.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static int wire[2], poll_fd, zero, listener, lock_file, fifo, full;
static int timed_listener, timed_pair[2], stuck[2];
static volatile int reached, cleaned, arrived;
static volatile long part;
static volatile pid_t tid;
static volatile long pair[2];

static void on_cancel(void *arg)
{
	(void)arg;
	cleaned++;
}

/* --- Waiting ------------------------------------------------------------------------ */

static void wait_read(void)
{
	char c;

	COSY_START;
	reached = 1;
	arrived = read(wire[0], &c, 1) != -1;
	COSY_END;
}

static void wait_poll(void)
{
	struct pollfd fds = { wire[0], POLLIN, 0 };

	COSY_START;
	reached = 1;
	arrived = poll(&fds, 1, -1) != -1;
	COSY_END;
}

static void wait_nanosleep(void)
{
	COSY_START;
	struct timespec time = { 1000, 0 };

	reached = 1;
	arrived = nanosleep(&time, NULL) != -1;
	COSY_END;
}

static void wait_accept(void)
{
	COSY_START;
	reached = 1;
	arrived = accept(listener, NULL, NULL) != -1;
	COSY_END;
}

static void wait_lock(void)
{
	COSY_START;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	reached = 1;
	arrived = fcntl(lock_file, F_SETLKW, &lock) != -1;
	COSY_END;
}

/* Cancels at the region's second call; the program closes what the first has opened. */
static void close_opened(void *arg)
{
	CHECK(!close(*(int *)arg), "what the region opened is not open: %s", strerror(errno));
}

static void wait_with_file(void)
{
	int fd = -1;

	pthread_cleanup_push(close_opened, &fd);
	COSY_START;
	char c;

	fd = open("/dev/null", O_RDONLY);
	reached = 1;
	arrived = read(wire[0], &c, 1) != -1;
	COSY_END;
	pthread_cleanup_pop(1);
}

/* Checks that the file that read_file has open is closed, as it is natively. */
static void wait_read_file(void)
{
	static char text[64];

	MUST(write(fifo, "abc", 3) == 3);
	COSY_START;
	reached = 1;
	arrived = cosy_read_file(AT_FDCWD, "fifo", text, sizeof(text), O_RDONLY) != -1;
	COSY_END;
}

/* The same of write_file: the pipe takes a part, and nobody reads it. */
static void wait_write_file(void)
{
	static const char text[1 << 17];

	COSY_START;
	reached = 1;
	arrived = cosy_write_file(AT_FDCWD, "full", text, sizeof(text), O_WRONLY) != -1;
	COSY_END;
}

/* Waits in epoll_wait, for a pipe into which nobody writes. */
static void wait_epoll_read(void)
{
	static char area[256] __attribute__((aligned(8)));

	COSY_START;
	reached = 1;
	arrived = cosy_epoll_read(poll_fd, area, sizeof(area), 2, -1) != -1;
	COSY_END;
}

/* --- Waiting in calls that are not made again after a signal: they give EINTR -------------- */

static void wait_epoll(void)
{
	struct epoll_event event;

	COSY_START;
	reached = 1;
	epoll_wait(poll_fd, &event, 1, -1);
	arrived = 1;
	COSY_END;
}

static void wait_timed_recv(void)
{
	char c;

	COSY_START;
	reached = 1;
	recv(timed_pair[0], &c, 1, 0);
	arrived = 1;
	COSY_END;
}

static void wait_timed_accept(void)
{
	COSY_START;
	reached = 1;
	accept(timed_listener, NULL, NULL);
	arrived = 1;
	COSY_END;
}

/* Comes back with what it has written: it is the next call that the cancellation ends. */
static void wait_part(void)
{
	static const char text[1 << 17];

	MUST(!pipe(stuck));
	COSY_START;
	char c;

	reached = 1;
	part = write(stuck[1], text, sizeof(text));
	lseek(zero, 0, SEEK_SET);
	part++;
	read(zero, &c, 1);
	arrived = 1;
	COSY_END;
}

static void *waiter(void *wait)
{
	tid = gettid();
	pthread_cleanup_push(on_cancel, NULL);
	((void (*)(void))wait)();
	pthread_cleanup_pop(0);
	return NULL;
}

static pthread_t start(void *(*f)(void *), void *arg)
{
	pthread_t thread;

	reached = cleaned = arrived = 0;
	tid = 0;
	MUST(!(errno = pthread_create(&thread, NULL, f, arg)));
	return thread;
}

static void check_cancelled(pthread_t thread, const char *name)
{
	void *result;

	MUST(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED, "%s: the thread ended by itself", name);
	CHECK(cleaned == 1, "%s: the clean-up handler ran %d times", name, cleaned);
	CHECK(!arrived, "%s: it went on after the call", name);
}

static void waiting(const char *name, void (*wait)(void))
{
	struct cosy_stats before = counts();
	pthread_t thread = start(waiter, wait);

	while (!reached || !is_asleep(tid))
		sleep_ms(1);
	pthread_cancel(thread);
	check_cancelled(thread, name);
	CHECK_KERNEL(before, 1, 0);
}

/* --- Between two points -------------------------------------------------------------- */

/* Counts: the two numbers differ only where the thread may not be cancelled. */
static void *counter(void *arg)
{
	pthread_cleanup_push(on_cancel, NULL);
	for (;;) {
		COSY_START;
		char c;

		for (int i = 0; i < 1000; i++) {
			pair[0]++;
			lseek(zero, 0, SEEK_SET);
			for (int j = 0; j < 100; j++)
				pair[1] += j == 50;
			lseek(zero, 0, SEEK_SET);
			reached = 1;
			read(zero, &c, 1);
		}
		COSY_END;
	}
	pthread_cleanup_pop(0);
	return arg;
}

static void *early(void *arg)
{
	char c;

	pthread_cleanup_push(on_cancel, NULL);
	pthread_cancel(pthread_self());
	COSY_START;
	reached = 1;
	lseek(zero, 0, SEEK_SET);
	reached = 2;
	read(zero, &c, 1);
	arrived = 1;
	COSY_END;
	pthread_cleanup_pop(0);
	return arg;
}

static void precise(void)
{
	pthread_t thread;

	for (int i = 0; i < 10; i++) {
		thread = start(counter, NULL);
		while (!reached)
			sched_yield();
		pthread_cancel(thread);
		check_cancelled(thread, "counter");
		CHECK(pair[0] == pair[1], "cancelled between: %ld %ld", pair[0], pair[1]);
	}
	thread = start(early, NULL);
	check_cancelled(thread, "early");
	CHECK(reached == 2, "pending: cancelled at %d", reached);
}

/* --- Not now, and at once ---------------------------------------------------------------- */

static void *disabled(void *arg)
{
	int got = 0;
	char c = 0;

	tid = gettid();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	COSY_START;
	reached = 1;
	got = read(wire[0], &c, 1);
	COSY_END;
	CHECK(got == 1 && c == 'x', "disabled: read is %d '%c'", got, c);
	pthread_cleanup_push(on_cancel, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return arg;
}

static void *asynchronous(void *arg)
{
	pthread_cleanup_push(on_cancel, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	COSY_START;
	for (;;)
		reached = 1;
	COSY_END;
	pthread_cleanup_pop(0);
	return arg;
}

static void other_states(void)
{
	pthread_t thread = start(disabled, NULL);

	while (!reached || !is_asleep(tid))
		sleep_ms(1);
	pthread_cancel(thread);
	MUST(write(wire[1], "x", 1) == 1);
	check_cancelled(thread, "disabled");

	thread = start(asynchronous, NULL);
	while (!reached)
		sleep_ms(1);
	pthread_cancel(thread);
	check_cancelled(thread, "asynchronous");
}

/* --- What is left ----------------------------------------------------------------------------- */

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int found = 0;

	MUST(dir);
	while (readdir(dir))
		found++;
	closedir(dir);
	return found;
}

static volatile bool stop;

static void *bystander(void *arg)
{
	long *rounds = arg;

	while (!stop) {
		COSY_START;
		char c;

		read(zero, &c, 1);
		++*rounds;
		COSY_END;
	}
	return NULL;
}

static void all(void)
{
	waiting("read", wait_read);
	waiting("poll", wait_poll);
	waiting("nanosleep", wait_nanosleep);
	waiting("accept", wait_accept);
	waiting("fcntl", wait_lock);
	waiting("open", wait_with_file);
	waiting("read_file", wait_read_file);
	waiting("write_file", wait_write_file);
	waiting("epoll_read", wait_epoll_read);
	waiting("epoll_wait", wait_epoll);
	waiting("recv with a timeout", wait_timed_recv);
	waiting("accept with a timeout", wait_timed_accept);
	part = 0;
	waiting("a part", wait_part);
	/* Some versions of libc lose the count. */
	if (kernel_expected())
		CHECK(part == 65537, "a part: %ld", part);
	close(stuck[0]);
	close(stuck[1]);
	precise();
	other_states();
}

int main(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	struct timeval long_time = { .tv_sec = 1000 };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	pthread_t thread;
	int files, held[2];
	struct epoll_event ready = { .events = EPOLLIN };
	long rounds = 0;
	pid_t holder;

	directory_enter();
	MUST(!pipe(wire) && !pipe(held));
	MUST((poll_fd = epoll_create1(0)) >= 0);
	MUST(!epoll_ctl(poll_fd, EPOLL_CTL_ADD, wire[0], &ready));
	MUST((zero = open("/dev/zero", O_RDONLY)) >= 0);
	MUST(!mkfifo("fifo", 0600) && (fifo = open("fifo", O_RDWR)) >= 0);
	MUST(!mkfifo("full", 0600) && (full = open("full", O_RDWR)) >= 0);
	MUST((listener = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
	MUST(!bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, 1));
	MUST((timed_listener = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
	MUST(!bind(timed_listener, (struct sockaddr *)&address, sizeof(sa_family_t)));
	MUST(!listen(timed_listener, 1) && !socketpair(AF_UNIX, SOCK_STREAM, 0, timed_pair));
	MUST(!setsockopt(timed_listener, SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof(long_time)));
	MUST(!setsockopt(timed_pair[0], SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof(long_time)));
	MUST((lock_file = open("lock", O_RDWR | O_CREAT, 0600)) >= 0);
	holder = fork();
	MUST(holder >= 0);
	if (!holder) {
		char c = 'l';

		MUST(!fcntl(lock_file, F_SETLK, &lock) && write(held[1], &c, 1) == 1);
		close(wire[1]);
		close(held[1]);
		pause();
	}
	MUST(read(held[0], &rounds, 1) == 1);
	rounds = 0;

	MUST(!pthread_create(&thread, NULL, bystander, &rounds));
	all();
	files = open_files();
	all();
	CHECK(open_files() == files, "%d files are open, not %d", open_files(), files);
	stop = true;
	MUST(!pthread_join(thread, NULL));
	CHECK(rounds, "another thread did not go on");

	MUST(!kill(holder, SIGKILL) && waitpid(holder, NULL, 0) == holder);
	unlink("socket");
	unlink("lock");
	unlink("fifo");
	unlink("full");
	directory_leave();
	return check_end();
}
