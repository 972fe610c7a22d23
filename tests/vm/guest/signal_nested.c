/* SPDX-License-Identifier: MIT */
/* Runs regions in handlers while a region is interrupted. */
#include "check.h"

#define ROUNDS 300

static int wire[2], me;
static volatile sig_atomic_t inner, innermost, wrong;

static void on_usr2(int sig)
{
	char text[16], back[16];
	int ret;

	(void)sig;
	COSY_START;
	for (int i = 0; i < 16; i++)
		text[i] = (char)('a' + i);
	ret = write(wire[1], text, 16);
	ret += read(wire[0], back, 16);
	COSY_END;
	if (ret != 32 || memcmp(text, back, 16))
		wrong++;
	innermost++;
}

static void on_usr1(int sig)
{
	int before = innermost, late = 0;

	(void)sig;
	COSY_START;
	kill(me, SIGUSR2);
	if (innermost != before + 1)
		late = 1;
	COSY_END;
	if (late)
		wrong++;
	inner++;
}

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	uint32_t x = 1;

	(void)sig;
	COSY_START;
	for (int i = 0; i < 100; i++)
		x = x * 1664525u + 1013904223u;
	COSY_END;
	if (x != 2146152485u)
		wrong++;
	ticks++;
}

int main(void)
{
	struct cosy_stats before;
	uint32_t sum = 0, expect = 1;
	int late = 0;
	uint64_t x = 1, n = 0, y = 1;

	me = getpid();
	MUST(!pipe(wire));
	handle(SIGUSR1, on_usr1, 0);
	handle(SIGUSR2, on_usr2, 0);
	handle(SIGALRM, on_tick, SA_RESTART);

	/* Ask for it: three regions deep. */
	before = counts();
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		kill(me, SIGUSR1);
		if (inner != i + 1)
			late++;
		sum += (uint32_t)i;
	}
	COSY_END;
	CHECK(!late && inner == ROUNDS && innermost == ROUNDS, "%d late, %d and %d handlers", late,
	      (int)inner, (int)innermost);
	CHECK(sum == ROUNDS * (ROUNDS - 1) / 2, "the outer region lost count: %u", sum);
	CHECK_KERNEL(before, 3 * ROUNDS, 4 * ROUNDS);

	/* Be interrupted unasked, wherever the timer strikes. */
	for (int i = 0; i < 100; i++)
		expect = expect * 1664525u + 1013904223u;
	CHECK(expect == 2146152485u, "the test itself is wrong: %u", expect);
	before = counts();
	alarm_us(3000, 3000);
	COSY_START;
	while (ticks < 50) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		n++;
	}
	COSY_END;
	alarm_us(0, 0);
	for (uint64_t i = 0; i < n; i++)
		y = y * 6364136223846793005u + 1442695040888963407u;
	CHECK(x == y, "wrong after %llu steps", (unsigned long long)n);
	CHECK(!wrong, "%d wrong results in handlers", (int)wrong);
	CHECK_KERNEL(before, 50, 0);
	return check_end();
}
