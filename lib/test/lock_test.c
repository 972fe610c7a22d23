// SPDX-License-Identifier: MIT
/*
 * lock_test.c - tests that threads exclude each other by a libcosy_lock while one of them opens the
 * process's first context, by which locks begin to bear a life (lock.c).
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock.h"
#include "process/context.h"

#include "check.h"

#define THREADS 6
#define TURNS	3000

static struct libcosy_lock lock;
static volatile long counter;
static volatile int go, inside;

static void *turns_take(void *opens)
{
	while (!go)
		;
	if (opens)
		libcosy_context_open();
	for (int i = 0; i < TURNS; i++) {
		if (!libcosy_lock(&lock) || inside++)
			abort();
		counter++;
		if (!(i % 16))
			sched_yield();
		inside--;
		libcosy_unlock(&lock);
	}
	return NULL;
}

/* Takes part in a process of its own, since only the first context matters. */
static void process_run(void)
{
	pthread_t threads[THREADS];

	alarm(600); /* only one that waits for ever takes so long */
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, turns_take, i == 3 ? &lock : NULL));
	go = 1;
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(threads[i], NULL));
	_exit(counter != THREADS * TURNS);
}

int main(void)
{
	setenv("COSY_MODE", "interp", 1);
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();
		int status;

		MUST(pid >= 0);
		if (!pid)
			process_run();
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK_EQ(status, 0);
	}
	return check_result();
}
