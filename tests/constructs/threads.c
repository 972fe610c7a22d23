// SPDX-License-Identifier: MIT
// The same regions in four threads at once, on shared atomics and own memory.
// expect: compiled
// flags: -pthread
#include <cosy/cosy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_long total;
static int failed;

static void *worker(void *arg)
{
	long id = (long)arg, own = 0;
	char buf[256];

	for (int round = 0; round < 50; round++) {
		COSY_START;
		for (int i = 0; i < 256; i++)
			buf[i] = i * id + round;
		for (int i = 0; i < 256; i++)
			if (buf[i] != (char)(i * id + round))
				__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
		own += getpid() > 0;
		atomic_fetch_add(&total, id);
		COSY_END;
	}
	return (void *)own;
}

int main(void)
{
	pthread_t t[4];
	long sum = 0;

	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		void *own;
		pthread_join(t[i], &own);
		sum += (long)own;
	}
	printf("%ld %ld %d\n", (long)total, sum, failed);
	return 0;
}
