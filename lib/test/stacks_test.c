// SPDX-License-Identifier: MIT
/*
 * stacks_test.c - tests a thread's blocks: order, longjmp, other stacks, other threads, overflow.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "memory/heap.h"
#include "process/settings.h"
#include "process/stacks.h"
#include "process/context.h"
#include "process/thread.h"

#include "check.h"

static struct libcosy_thread *self;

static struct libcosy_site at(uintptr_t depth, uintptr_t site)
{
	/* Deeper frames are lower; all of them lie on this thread's stack. */
	return (struct libcosy_site){self->stack_high - 64 - depth * 256, site};
}

static uint64_t used(void)
{
	return self->slice[0].used;
}

static void in_order(void)
{
	char *a, *b;

	a = libcosy_block_push(self, 100, at(1, 1));
	b = libcosy_block_push(self, 1000, at(2, 2));
	MUST(a && b);
	CHECK((uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0);
	CHECK(b >= a + 100 || a >= b + 1000);
	memset(a, 1, 100);
	memset(b, 2, 1000);
	CHECK_EQ(a[99], 1);
	libcosy_block_pop(b);
	libcosy_block_pop(a);
	CHECK_EQ(used(), 0);
}

static void jumped_over(void)
{
	void *outer = libcosy_block_push(self, 64, at(1, 1)), *same, *inner;
	uint64_t before = used();

	MUST(outer);
	/* A frame further out ends the blocks of frames that are gone. */
	for (int i = 0; i < 100; i++)
		MUST(libcosy_block_push(self, 64, at(10 - i % 5, 7)));
	same = libcosy_block_push(self, 64, at(2, 3));
	MUST(same);
	CHECK_EQ(used(), 2 * before);
	/* At the same place in the same frame the former block is dead. */
	for (int i = 0; i < 100; i++)
		MUST(libcosy_block_push(self, 64, at(2, 3)));
	CHECK_EQ(used(), 2 * before);
	/* At another place in the same frame both live. */
	inner = libcosy_block_push(self, 64, at(2, 4));
	MUST(inner);
	CHECK_EQ(used(), 3 * before);
	/* Ending a block ends what was made deeper and never ended. */
	MUST(libcosy_block_push(self, 64, at(5, 5)));
	libcosy_block_pop(outer);
	CHECK_EQ(used(), 0);
}

/* Checks that blocks of a signal or coroutine stack are not taken for dead. */
static void other_stacks(void)
{
	struct libcosy_site elsewhere = {(uintptr_t)self, 9};
	char *mine = libcosy_block_push(self, 64, at(3, 1)), *theirs, *mine2;

	theirs = libcosy_block_push(self, 64, elsewhere);
	MUST(mine && theirs);
	mine2 = libcosy_block_push(self, 64, at(1, 2));
	MUST(mine2);
	memset(theirs, 5, 64);
	memset(mine2, 6, 64);
	CHECK_EQ(theirs[63], 5);
	/* A block popped out of order is kept until those made after it are gone. */
	libcosy_block_pop(mine);
	CHECK_EQ(theirs[63], 5);
	CHECK(used());
	libcosy_block_pop(mine2);
	CHECK_EQ(theirs[63], 5);
	libcosy_block_pop(theirs);
	CHECK_EQ(used(), 0);
}

static void *end_for_another(void *block)
{
	libcosy_thread();
	libcosy_block_pop(block);
	return NULL;
}

static void other_thread(void)
{
	void *block = libcosy_block_push(self, 64, at(1, 1)), *next;
	pthread_t thread;

	MUST(block && !pthread_create(&thread, NULL, end_for_another, block));
	pthread_join(thread, NULL);
	/* It is marked only: this thread frees it when it next comes by. */
	next = libcosy_block_push(self, 64, at(2, 2));
	MUST(next);
	libcosy_block_pop(next);
	CHECK_EQ(used(), 0);
}

static void full(void)
{
	uint64_t size = self->slice[0].size;
	struct libcosy_activation *act;
	void *most;

	CHECK(!libcosy_block_push(self, size, at(1, 1)));
	CHECK(!libcosy_block_push(self, ~0ull, at(1, 1)));
	CHECK(!libcosy_block_push(self, ~0ull - 20, at(1, 1)));
	most = libcosy_block_push(self, size - 4096, at(1, 1));
	MUST(most);
	CHECK(!libcosy_block_push(self, 8192, at(2, 2)));
	/* A ctx that finds no room in the shared buffer gets ordinary memory. */
	act = libcosy_activation_push(self, 8192, at(2, 2));
	MUST(act);
	CHECK(!libcosy_heap_owns(act->ctx));
	CHECK(libcosy_activation_of(act->ctx) == act);
	memset(act->ctx, 1, 8192);
	libcosy_block_pop(act->ctx);
	CHECK_EQ(self->slice[1].used, 0);
	libcosy_block_pop(most);
	act = libcosy_activation_push(self, 64, at(1, 1));
	MUST(act);
	CHECK(libcosy_heap_owns(act->ctx));
	CHECK(!libcosy_heap_owns(act));
	libcosy_block_pop(act->ctx);
	CHECK(!libcosy_activation_push(self, 1ull << 40, at(1, 1)));
	CHECK_EQ(used(), 0);
	CHECK_EQ(self->slice[1].used, 0);
}

/* Handlers push and pop at any instruction of the same. */
static volatile int handled;

static void handler(int sig)
{
	struct libcosy_activation *act = libcosy_activation_push(self, 48, COSY_SITE());

	(void)sig;
	MUST(act);
	memset(act->ctx, 0xff, 48);
	libcosy_block_pop(act->ctx);
	handled++;
}

static void interrupted(void)
{
	struct sigaction action = {.sa_handler = handler};
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec often = {{0, 30000}, {0, 30000}}, never = {{0, 0}, {0, 0}};
	int wrong = 0;

	sigaction(SIGUSR1, &action, NULL);
	MUST(!timer_create(CLOCK_MONOTONIC, &event, &timer) &&
	     !timer_settime(timer, 0, &often, NULL));
	for (int i = 0; i < 300000 || (handled < 200 && i < 30000000); i++) {
		struct libcosy_activation *outer = libcosy_activation_push(self, 64, COSY_SITE()),
					  *inner;

		MUST(outer);
		memset(outer->ctx, i & 0x7f, 64);
		inner = libcosy_activation_push(self, 64, at(100000, 1));
		MUST(inner);
		memset(inner->ctx, 0x80, 64);
		wrong += *(unsigned char *)outer->ctx != (i & 0x7f);
		libcosy_block_pop(inner->ctx);
		wrong += *((unsigned char *)outer->ctx + 63) != (i & 0x7f);
		libcosy_block_pop(outer->ctx);
	}
	timer_settime(timer, 0, &never, NULL);
	timer_delete(timer);
	CHECK(handled >= 200);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(used(), 0);
	CHECK_EQ(self->slice[1].used, 0);
}

static void *count_slices(void *ret)
{
	struct libcosy_thread *thread = libcosy_thread();

	MUST(thread);
	*(bool *)ret = thread->slice[0].size != 0;
	return NULL;
}

/* Checks that the next thread gets what a thread had in the buffer. */
static void thread_exits(void)
{
	size_t room;
	pthread_t thread;
	bool got;

	/* Take more than the first heap has, so that both are there. */
	libcosy_heap_free(libcosy_heap_alloc(100000));
	room = libcosy_heap_room();
	for (int i = 0; i < 200; i++) {
		MUST(!pthread_create(&thread, NULL, count_slices, &got) &&
		     !pthread_join(thread, NULL));
		CHECK(got);
	}
	CHECK_EQ(libcosy_heap_room(), room);
}

static void *measure_slice(void *ret)
{
	struct libcosy_thread *thread = libcosy_thread();

	MUST(thread);
	*(uint64_t *)ret = thread->slice[0].whole;
	return NULL;
}

static uint64_t slice_of_thread(void)
{
	pthread_t thread;
	uint64_t whole;

	MUST(!pthread_create(&thread, NULL, measure_slice, &whole) && !pthread_join(thread, NULL));
	return whole;
}

static void *push_large(void *fits)
{
	struct libcosy_thread *thread = libcosy_thread();
	struct libcosy_site site = COSY_SITE();
	void *frame;

	MUST(thread);
	frame = libcosy_block_push(thread, 20 << 10, site);
	*(bool *)fits = frame;
	if (frame)
		libcosy_block_pop(frame);
	return NULL;
}

/*
 * Checks that threads take little of the buffer until there are frames that need more, also where
 * these are not their thread's first.
 */
static void small_frames(void)
{
	pthread_t thread;
	bool fits;

	libcosy_largest_frame = 200;
	CHECK_EQ(slice_of_thread(), 16 << 10);
	MUST(!pthread_create(&thread, NULL, push_large, &fits) && !pthread_join(thread, NULL));
	CHECK(!fits);
	CHECK(slice_of_thread() > 32 << 10);
	MUST(!pthread_create(&thread, NULL, push_large, &fits) && !pthread_join(thread, NULL));
	CHECK(fits);
}

int main(void)
{
	void *range =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(range != MAP_FAILED);
	libcosy_settings_init();
	libcosy_settings.mode = COSY_MODE_INTERP;
	libcosy_heap_init(range, 1 << 20, 32 << 10, 256 << 10);
	self = libcosy_thread();
	MUST(self && self->slice[0].size);
	CHECK((uintptr_t)&range > self->stack_low && (uintptr_t)&range < self->stack_high);
	in_order();
	jumped_over();
	other_stacks();
	other_thread();
	full();
	interrupted();
	thread_exits();
	small_frames();
	return check_result();
}
