/* SPDX-License-Identifier: MIT */
/*
 * Interrupts a sleep in a region: by a handler it ends with EINTR and the rest of its time; after
 * SIGSTOP and SIGCONT it goes on to its end, and does not start over (restart_syscall).
 */
#include "check.h"
#include <poll.h>
#include <sys/syscall.h>

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static void interrupted(void)
{
	struct cosy_stats before = counts();
	struct timespec want = { 3600, 0 }, left = { 0, 0 };
	int ret = -1, times = 0, err = 0;
	double start = now_ms(), took;

	handle(SIGALRM, on_tick, SA_RESTART); /* nanosleep is not restarted by SA_RESTART */
	ticks = 0;
	alarm_us(50000, 50000);
	COSY_START;
	/*
	 * Interrupt it three times in an hour, which nobody oversleeps; then let a shorter time
	 * end.
	 */
	while ((ret = syscall(SYS_nanosleep, &want, &left)) < 0) {
		err = errno;
		if (err != EINTR)
			break;
		want = left;
		if (++times == 3) {
			want.tv_sec = 0;
			want.tv_nsec = 300000000;
		}
	}
	COSY_END;
	took = now_ms() - start;
	alarm_us(0, 0);
	printf("%d interruptions: %.0f ms\n", times, took);
	CHECK(ret == 0, "nanosleep is %d, errno %d", ret, err);
	CHECK(times >= 3 && ticks >= times, "%d interruptions, %d handlers", times, (int)ticks);
	CHECK(took >= 299, "%.0f ms", took);
	CHECK_KERNEL(before, 1, times + 1);
}

/* The state of a child that sleeps for an hour, shared with it. */
struct hour {
	volatile uint32_t begun;
	double left; /* ms */
};

static void sleep_an_hour(struct hour *hour)
{
	struct cosy_stats before = counts();
	struct timespec want = { 3600, 0 }, left = { 0, 0 };
	int ret, err;

	handle(SIGUSR1, on_tick, 0);
	COSY_START;
	hour->begun = 1;
	ret = syscall(SYS_nanosleep, &want, &left);
	err = errno;
	COSY_END;
	CHECK(ret == -1 && err == EINTR, "an hour: nanosleep is %d, errno %d", ret, err);
	hour->left = (double)left.tv_sec * 1e3 + (double)left.tv_nsec / 1e6;
	CHECK_KERNEL(before, 1, 1);
}

/*
 * Stops it three times and then interrupts it: the rest is no longer than if it had never been
 * stopped.
 */
static void stopped_hour(void)
{
	struct hour *hour = shared_memory(sizeof(*hour));
	double asleep, gone;
	int status;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		sleep_an_hour(hour);
		_exit(check_end());
	}
	WAIT_FOR(pid, hour->begun && is_asleep(pid));
	asleep = now_ms();
	for (int i = 0; i < 3; i++) {
		kill(pid, SIGSTOP);
		MUST(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
		kill(pid, SIGCONT);
		WAIT_FOR(pid, is_asleep(pid));
		sleep_ms(50);
	}
	gone = now_ms() - asleep;
	kill(pid, SIGUSR1);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(hour->left > 0 && hour->left <= 3600e3 - gone,
	      "%.0f ms of an hour are left after %.0f ms", hour->left, gone);
	munmap(hour, sizeof(*hour));
}

/* Sleeps in a child that is stopped and continued all the time. */
static void stopped_nanosleep(void *arg)
{
	struct cosy_stats before = counts();
	struct timespec want = { 1, 0 }, left;
	int ret, err;
	double start = now_ms(), took;

	(void)arg;
	COSY_START;
	ret = syscall(SYS_nanosleep, &want, &left);
	err = errno;
	COSY_END;
	took = now_ms() - start;
	printf("sleep of 1000 ms, stopped over and over: %.0f ms\n", took);
	CHECK(ret == 0, "nanosleep is %d, errno %d", ret, err);
	CHECK(took >= 999, "%.0f ms", took);
	CHECK_KERNEL(before, 1, 1);
}

static void stopped_poll(void *arg)
{
	struct cosy_stats before = counts();
	int ret, err;
	double start = now_ms(), took;

	(void)arg;
	COSY_START;
	ret = syscall(SYS_poll, 0, 0, 1000);
	err = errno;
	COSY_END;
	took = now_ms() - start;
	printf("poll of 1000 ms, stopped over and over: %.0f ms\n", took);
	CHECK(ret == 0, "poll is %d, errno %d", ret, err);
	CHECK(took >= 999, "%.0f ms", took);
	CHECK_KERNEL(before, 1, 1);
}

static void stopped_read(void *arg)
{
	struct cosy_stats before = counts();
	int *wire = arg, ret, err;
	char c = 0;

	COSY_START;
	ret = read(wire[0], &c, 1);
	err = errno;
	COSY_END;
	CHECK(ret == 1 && c == 'x', "read is %d, errno %d", ret, err);
	CHECK_KERNEL(before, 1, 1);
}

/*
 * Stops and continues a child that runs f, every 50 ms, `stops` times at most or until it ends;
 * then calls late(arg) and waits for it.  Returns the stops made.
 */
static int stop_and_go(void (*f)(void *), void *arg, int stops, void (*late)(void *))
{
	int status, made = 0;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		f(arg);
		_exit(check_end());
	}
	while (made < stops) {
		sleep_ms(50);
		if (waitpid(pid, &status, WNOHANG) == pid)
			goto ended;
		kill(pid, SIGSTOP);
		MUST(waitpid(pid, &status, WUNTRACED) == pid);
		if (!WIFSTOPPED(status))
			goto ended;
		kill(pid, SIGCONT);
		made++;
	}
	if (late)
		late(arg);
	MUST(waitpid(pid, &status, 0) == pid);
ended:
	CHECK_CHILD(status);
	return made;
}

static void write_x(void *arg)
{
	int *wire = arg;

	MUST(write(wire[1], "x", 1) == 1);
}

int main(void)
{
	int wire[2], stops;

	interrupted();
	stopped_hour();
	/*
	 * A sleep that started over at each stop would end only after the last, the 200th.  One
	 * without a stop tells nothing.
	 */
	while (!(stops = stop_and_go(stopped_nanosleep, NULL, 200, NULL)))
		;
	CHECK(stops < 200, "nanosleep: over after %d stops", stops);
	while (!(stops = stop_and_go(stopped_poll, NULL, 200, NULL)))
		;
	CHECK(stops < 200, "poll: over after %d stops", stops);
	MUST(!pipe(wire));
	stops = stop_and_go(stopped_read, wire, 10, write_x);
	CHECK(stops == 10, "read: over after %d stops", stops);
	return check_end();
}
