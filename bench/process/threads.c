// SPDX-License-Identifier: MIT
/* threads.c - reads a file's blocks in four threads and adds up what they begin with. */
#include <pthread.h>

#include "process.h"

static int fd;
static long count;

static void *add(void *arg)
{
	unsigned long sum = 0, words[64];

	COSY_START;
	for (long i = (long)arg; i < count; i += 4) {
		if (pread(fd, words, sizeof(words), i % 256 * 1024) <= 0)
			break;
		sum += words[0] ^ words[63];
	}
	COSY_END;
	return (void *)sum;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0;
	pthread_t thread[4];
	void *part;

	fd = process_open(argv[1], "log", O_RDONLY);
	count = argc > 2 ? atol(argv[2]) : 0;
	for (long i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, add, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &part);
		sum += (unsigned long)part;
	}
	printf("%lx\n", sum);
	return 0;
}
