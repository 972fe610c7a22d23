/* SPDX-License-Identifier: MIT */
/* Waits in a region for a flag that only a signal handler sets. */
#include "check.h"
#include <sys/syscall.h>

static volatile sig_atomic_t flag;

static void on_alarm(int sig)
{
	(void)sig;
	flag++;
}

/* Repeats the timer: a tick before the region or between test and sleep delays but never hangs. */
static void ready(void)
{
	flag = 0;
	alarm_us(20000, 20000);
}

static void spin(void)
{
	struct cosy_stats before = counts();
	int seen;

	ready();
	COSY_START;
	while (!flag)
		;
	seen = flag;
	COSY_END;
	alarm_us(0, 0);
	CHECK(seen >= 1, "spin: flag is %d", seen);
	CHECK_KERNEL(before, 1, 0);
}

static void by_nanosleep(void)
{
	struct cosy_stats before = counts();
	struct timespec hour = { 3600, 0 }, left = { 0, 0 };
	int ret = 0, err = 0;

	ready();
	COSY_START;
	while (flag < 3) {
		ret = syscall(SYS_nanosleep, &hour, &left);
		err = errno;
	}
	COSY_END;
	alarm_us(0, 0);
	CHECK(ret == -1 && err == EINTR, "nanosleep: %d, errno %d", ret, err);
	CHECK(left.tv_sec > 3000 && left.tv_sec <= 3600, "nanosleep: %ld seconds left",
	      (long)left.tv_sec);
	CHECK_KERNEL(before, 1, 1);
}

static void by_pause(void)
{
	struct cosy_stats before = counts();
	int ret = 0, err = 0;

	ready();
	COSY_START;
	while (flag < 3) {
		ret = syscall(SYS_pause);
		err = errno;
	}
	COSY_END;
	alarm_us(0, 0);
	CHECK(ret == -1 && err == EINTR, "pause: %d, errno %d", ret, err);
	CHECK_KERNEL(before, 1, 1);
}

static void by_sigsuspend(void)
{
	struct cosy_stats before = counts();
	uint64_t none = 0;
	sigset_t alrm, old, now;
	int ret = 0, err = 0;

	sigemptyset(&alrm);
	sigaddset(&alrm, SIGALRM);
	MUST(!sigprocmask(SIG_BLOCK, &alrm, &old));
	ready();
	COSY_START;
	while (flag < 3) {
		ret = syscall(SYS_rt_sigsuspend, &none, 8);
		err = errno;
	}
	COSY_END;
	MUST(!sigprocmask(SIG_SETMASK, &old, &now));
	alarm_us(0, 0);
	CHECK(ret == -1 && err == EINTR, "sigsuspend: %d, errno %d", ret, err);
	CHECK(sigismember(&now, SIGALRM) == 1, "sigsuspend left its own mask");
	CHECK_KERNEL(before, 1, 1);
}

int main(void)
{
	handle(SIGALRM, on_alarm, 0);
	spin();
	by_nanosleep();
	by_pause();
	by_sigsuspend();
	return check_end();
}
