// SPDX-License-Identifier: MIT
// Thread-local variables, the same code in two threads.
// expect: compiled
// flags: -pthread
#include <cosy/cosy.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static __thread int mine = 5;
_Thread_local long other[2] = {1, 2};

static void work(int n)
{
	COSY_START;
	for (int i = 0; i < n; i++) {
		mine += getpid() > 0;
		other[i & 1] += mine;
	}
	COSY_END;
}

static void *thread(void *arg)
{
	work(7);
	printf("thread %d %ld %ld\n", mine, other[0], other[1]);
	return arg;
}

int main(void)
{
	pthread_t t;

	work(3);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	printf("main %d %ld %ld\n", mine, other[0], other[1]);
	return 0;
}
