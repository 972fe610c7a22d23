// SPDX-License-Identifier: MIT
// Constant tables of up to a page, which libcosy keeps in the shared buffer: read by several
// regions, by threads at once and by a child.
// expect: compiled
// flags: -pthread
#include <cosy/cosy.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define EIGHT(n) (n), (n) * 3, (n) * 5, (n) * 7, (n) * 11, (n) * 13, (n) * 17, (n) * 19
#define SIXTY(n)                                                                                   \
	EIGHT(n + 1), EIGHT(n + 2), EIGHT(n + 3), EIGHT(n + 4), EIGHT(n + 5), EIGHT(n + 6),        \
		EIGHT(n + 7), EIGHT(n + 8)
static const unsigned table[256] = {SIXTY(10), SIXTY(200), SIXTY(3000), SIXTY(40000)};
static const unsigned short page[2048] = {[7] = 9, [1000] = 77, [2047] = 5};
static const unsigned beyond[1025] = {[3] = 4, [1024] = 6};

static unsigned long first(unsigned seed)
{
	unsigned long sum = seed;

	COSY_START;
	for (int i = 0; i < 300; i++)
		sum = sum * 31 + table[sum % 256] + page[(sum >> 8) % 2048] + beyond[i + 725];
	sum += getppid() <= 0;
	COSY_END;
	return sum;
}

__attribute__((noinline)) static unsigned long deep(unsigned n)
{
	return n ? deep(n - 1) * 7 + table[n % 256] : table[0];
}

static unsigned long second(unsigned seed)
{
	unsigned long sum = 0;

	COSY_START;
	for (unsigned i = 0; i < 5; i++)
		sum += deep(seed % 9 + i) ^ page[(i * 1000 + 7) % 2048];
	sum += getppid() <= 0;
	COSY_END;
	return sum;
}

static void *thread(void *sum)
{
	for (unsigned i = 0; i < 50; i++)
		*(unsigned long *)sum += first(i) + second(i);
	return NULL;
}

int main(void)
{
	unsigned long sums[4] = {0};
	pthread_t threads[4];
	int status;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, &sums[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%lx %d\n", sums[0], sums[0] == sums[1] && sums[1] == sums[2] && sums[2] == sums[3]);
	fflush(stdout);
	if (!fork())
		_exit(first(3) % 100);
	if (wait(&status) < 0)
		return 99;
	printf("%d %lx\n", WEXITSTATUS(status), first(4) + second(5));
	return 0;
}
