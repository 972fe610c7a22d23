/* SPDX-License-Identifier: MIT */
/*
 * pthread_cancel of threads in a region by a program that does not refer to it: dlsym gives it.
 * The first thread has run regions while it was the only one.
 */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>

static int (*cancel)(pthread_t);
static int wire[2];
static volatile int reached;
static volatile pid_t tid;

static void wait_read(void)
{
	char c;

	COSY_START;
	reached = 1;
	read(wire[0], &c, 1);
	COSY_END;
}

static void *waiter(void *unused)
{
	tid = gettid();
	wait_read();
	return unused;
}

/* Cancels the thread in its read, and joins it. */
static void cancel_waiting(pthread_t thread, const char *whose)
{
	void *result;
	char c;

	while (!reached || !tid || !is_asleep(tid))
		sleep_ms(1);
	MUST(!cancel(thread));
	/* A thread that is not cancelled goes on when there is something to read. */
	sleep_ms(200);
	MUST(write(wire[1], "x", 1) == 1);
	MUST(!pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED, "%s: it ended by itself", whose);
	if (result == PTHREAD_CANCELED)
		MUST(read(wire[0], &c, 1) == 1);
}

static void *canceller(void *first)
{
	pthread_t thread;

	cancel_waiting(*(pthread_t *)first, "the first thread");
	reached = tid = 0;
	MUST(!pthread_create(&thread, NULL, waiter, NULL));
	cancel_waiting(thread, "a thread");
	exit(check_end());
}

int main(void)
{
	static pthread_t self;
	struct cosy_stats before = counts();
	pthread_t thread;

	MUST(!pipe(wire) && write(wire[1], "x", 1) == 1);
	cancel = (int (*)(pthread_t))dlsym(RTLD_DEFAULT, "pthread_cancel");
	MUST(cancel);
	wait_read();
	CHECK_KERNEL(before, 1, 1);
	self = pthread_self();
	reached = 0;
	MUST(!pthread_create(&thread, NULL, canceller, &self));
	waiter(NULL);
	pthread_exit(NULL);
}
