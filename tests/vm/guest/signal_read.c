/* SPDX-License-Identifier: MIT */
/* Interrupts a blocking read in a region, with and without SA_RESTART. */
#include "check.h"

static volatile sig_atomic_t ticks, interrupted;
static int wire[2];

static void write_x(void)
{
	if (write(wire[1], "x", 1) != 1)
		abort();
}

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static void on_third_tick(int sig)
{
	(void)sig;
	if (++ticks == 3)
		write_x();
}

/* Acts once a read has been interrupted; ticks that come before the first one waits do nothing. */
static void on_tick_after_one(int sig)
{
	(void)sig;
	if (interrupted && !ticks++)
		write_x();
}

static void without_restart(void)
{
	struct cosy_stats before = counts();
	int ret, err;
	char c = 0;

	handle(SIGALRM, on_tick, 0);
	ticks = 0;
	errno = 0;
	alarm_us(20000, 20000);
	COSY_START;
	ret = read(wire[0], &c, 1);
	err = errno;
	COSY_END;
	alarm_us(0, 0);
	CHECK(ret == -1 && err == EINTR, "without SA_RESTART: read is %d, errno %d", ret, err);
	CHECK(ticks, "without SA_RESTART: no handler ran");
	CHECK_KERNEL(before, 1, 1);
}

static void with_restart(void)
{
	struct cosy_stats before = counts();
	int ret, again;
	char c = 0;

	handle(SIGALRM, on_third_tick, SA_RESTART);
	ticks = 0;
	errno = 0;
	alarm_us(20000, 20000);
	COSY_START;
	ret = read(wire[0], &c, 1);
	again = ret == 1 && c == 'x';
	COSY_END;
	alarm_us(0, 0);
	CHECK(ret == 1 && c == 'x' && again, "with SA_RESTART: read is %d '%c', errno %d", ret, c,
	      errno);
	CHECK(ticks >= 3, "with SA_RESTART: %d handlers ran", (int)ticks);
	CHECK_KERNEL(before, 1, 1);
}

/* Loops around EINTR in the usual way. */
static void retried_by_hand(void)
{
	struct cosy_stats before = counts();
	int ret = 0;
	char c = 0;

	handle(SIGALRM, on_tick_after_one, 0);
	interrupted = 0;
	ticks = 0;
	alarm_us(20000, 20000);
	COSY_START;
	while ((ret = read(wire[0], &c, 1)) < 0 && errno == EINTR)
		interrupted++;
	COSY_END;
	alarm_us(0, 0);
	CHECK(ret == 1 && c == 'x', "by hand: read is %d '%c'", ret, c);
	CHECK(interrupted >= 1, "by hand: never interrupted");
	CHECK_KERNEL(before, 1, 1 + (int)interrupted);
}

int main(void)
{
	MUST(!pipe(wire));
	without_restart();
	with_restart();
	retried_by_hand();
	return check_end();
}
