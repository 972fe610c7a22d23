// SPDX-License-Identifier: MIT
// setjmp in the function of a region, longjmp from a handler within the region.
// expect: compiled
#include <cosy/cosy.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigjmp_buf back;

static void handler(int sig)
{
	siglongjmp(back, sig);
}

int main(void)
{
	volatile int rounds = 0;
	volatile int progress = 0;

	signal(SIGUSR1, handler);
	if (sigsetjmp(back, 1) && rounds > 3) {
		printf("rounds %d progress %d\n", rounds, progress);
		return 0;
	}
	rounds++;
	COSY_START;
	for (int i = 0; i < 100; i++) {
		progress++;
		if (i == 10)
			raise(SIGUSR1);
	}
	COSY_END;
	printf("not reached\n");
	return 1;
}
