/* SPDX-License-Identifier: MIT */
/* Runs regions at once in two processes of eight threads each; none sees another's data. */
#include "check.h"
#include <pthread.h>

#define THREADS 8
#define TURNS	150
#define BLOCK	512

static int file;
static _Atomic int wrong;
static int process;

static __attribute__((noinline)) uint32_t mix(uint32_t x, int depth)
{
	return depth ? mix(x * 1664525u + 1013904223u, depth - 1) ^ (uint32_t)depth : x;
}

/* Writes blocks that only this thread knows, and reads them back, all in regions. */
static void *work(void *arg)
{
	const uint32_t me = (uint32_t)(uintptr_t)arg;
	const off_t at = (off_t)me * BLOCK * 4;
	uint8_t out[BLOCK], in[BLOCK];

	for (int turn = 0; turn < TURNS; turn++) {
		uint32_t expect = mix(me * 77 + (uint32_t)turn, 20), got = 0;
		int differ = 0, moved = 0;

		COSY_START;
		memset(in, 0, sizeof(in));
		for (int i = 0; i < BLOCK; i++)
			out[i] = (uint8_t)(me * 31 + (uint32_t)turn * 7 + (uint32_t)i);
		for (int block = 0; block < 4; block++) {
			moved += pwrite(file, out, BLOCK, at + block * BLOCK) == BLOCK;
			moved += pread(file, in, BLOCK, at + block * BLOCK) == BLOCK;
			for (int i = 0; i < BLOCK; i++)
				differ += in[i] != out[i];
		}
		got = mix(me * 77 + (uint32_t)turn, 20);
		COSY_END;
		if (differ || moved != 8 || got != expect)
			wrong++;
	}
	return NULL;
}

static void one_process(void *unused)
{
	struct cosy_stats before = counts();
	pthread_t threads[THREADS];

	(void)unused;
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, work,
				     (void *)(uintptr_t)(process * THREADS + i)));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(threads[i], NULL));
	CHECK(!wrong, "process %d: %d turns went wrong", process, wrong);
	CHECK_KERNEL(before, THREADS * TURNS, THREADS * TURNS * 8);
}

/* Starts and ends threads: their stacks in the shared buffer must come back. */
static void *short_lived(void *arg)
{
	char text[1000];
	int *sum = arg, len = 0;

	COSY_START;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	len = (int)strlen(text) + (getpid() > 0);
	COSY_END;
	*sum = len;
	return NULL;
}

static void come_and_go(void *unused)
{
	struct cosy_stats before = counts();
	int bad = 0;

	(void)unused;
	for (int i = 0; i < 1000; i++) {
		pthread_t thread;
		int sum = 0;

		MUST(!pthread_create(&thread, NULL, short_lived, &sum));
		MUST(!pthread_join(thread, NULL));
		bad += sum != 1000;
	}
	CHECK(!bad, "%d short threads went wrong", bad);
	CHECK_KERNEL(before, 1000, 1000);
}

int main(void)
{
	int status;
	pid_t pid;

	directory_enter();
	file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	MUST(file >= 0);
	unlink("file");
	directory_leave();
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		process = 1;
		one_process(NULL);
		_exit(check_end());
	}
	one_process(NULL);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK_CHILD(in_child(come_and_go, NULL));
	return check_end();
}
