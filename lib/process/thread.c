// SPDX-License-Identifier: MIT
/* thread.c - see thread.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/cancel.h"
#include "process/context.h"
#include "memory/heap.h"
#include "lock.h"
#include "syscall.h"
#include "process/thread.h"

#define SHARED_SLICE   (256u << 10) /* at most; the first thread's is reserved, see heap.h */
#define MIN_SLICE      (16u << 10)
#define SMALL_FRAME    256	  /* of which a slice of MIN_SLICE has room for enough */
#define OTHER_SLICE    (1u << 20) /* address space only, until used */
#define MAX_SOFT_STACK (64ul << 20)
#define MAX_MAIN_STACK (64ul << 20)
#define PAGE	       4096ul
#define THREAD_SIZE    ((sizeof(struct libcosy_thread) + PAGE - 1) & ~(PAGE - 1))

_Thread_local struct libcosy_thread *libcosy_thread_self __attribute__((tls_model("initial-exec")));

static struct libcosy_lock list_lock;
static bool any_filtered;
static struct libcosy_thread *list;
/*
 * Those of `list` whose threads have ended, for threads to come: a filter may kill for munmap where
 * a native thread ends.  Any thread adds to them, only one under the lock takes.
 */
static struct libcosy_thread *spare;
static pthread_key_t exit_key;
static bool exit_key_made;

static bool thread_is_first(void)
{
	return cosy_syscall3(SYS_gettid, 0, 0, 0) == cosy_syscall3(SYS_getpid, 0, 0, 0);
}

/*
 * Finds this thread's native stack without opening files, and without calls that are needed for
 * further threads alone where there are none (LIBCOSY_FILTER_THREADS).
 */
static void thread_find_stack(struct libcosy_thread *thread)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	/* The kernel puts these bytes above all frames of the first thread's. */
	uintptr_t top = getauxval(AT_RANDOM);
	pthread_attr_t attr;
	struct rlimit limit;
	size_t size;
	void *low;

	/* Nearer to them other mappings, among them other stacks, do not begin. */
	if (here < top && top - here <= MAX_MAIN_STACK) {
		if (cosy_limit_get(RLIMIT_STACK, &limit))
			return;
		if (limit.rlim_cur > MAX_MAIN_STACK)
			limit.rlim_cur = MAX_MAIN_STACK;
		thread->stack_high = top;
		thread->stack_low = thread->stack_high - limit.rlim_cur;
	} else if (!__libc_single_threaded && !thread_is_first() &&
		   !pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &low, &size)) {
			thread->stack_low = (uintptr_t)low;
			thread->stack_high = thread->stack_low + size;
		}
		pthread_attr_destroy(&attr);
	}
	/* After a fork by a thread, or on a stack that the program made: unknown. */
	if (here < thread->stack_low || here >= thread->stack_high)
		thread->stack_low = thread->stack_high = 0;
}

/*
 * Returns how much of the buffer a further thread takes: at most 25 % of the free part, so that many
 * threads get some.  The front must cover all slices that are used, and the kernel allocates it, so
 * small frames get small slices.
 */
static uint64_t slice_share(void)
{
	uint64_t share = libcosy_heap_room() / 4 & ~(PAGE - 1);
	uint64_t most = __atomic_load_n(&libcosy_largest_frame, __ATOMIC_RELAXED) <= SMALL_FRAME
				? MIN_SLICE
				: SHARED_SLICE;

	return share < most ? share : most;
}

static void thread_find_slices(struct libcosy_thread *thread)
{
	uint64_t share = slice_share();
	struct libcosy_slice *slice = &thread->slice[0];

	slice->base = libcosy_heap_take_reserved(&slice->whole);
	for (; share >= MIN_SLICE && !slice->base; share /= 2) {
		slice->base = libcosy_heap_alloc(share);
		slice->whole = slice->base ? share : 0;
	}
	libcosy_slice_measure(slice);
	slice = &thread->slice[1];
	slice->base = (uint8_t *)thread + THREAD_SIZE;
	slice->whole = slice->size = OTHER_SLICE;
}

/* Leaves the state, without its slice of the buffer, to threads to come. */
static void thread_spare(struct libcosy_thread *thread)
{
	if (thread->slice[0].base)
		libcosy_heap_free(thread->slice[0].base);
	thread->slice[0].base = NULL;
	thread->next_spare = __atomic_load_n(&spare, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&spare, &thread->next_spare, thread, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void thread_exit(void *arg)
{
	struct libcosy_thread *thread = arg;

	libcosy_magazines_empty(&thread->magazines);
	for (size_t i = 0; i < sizeof(thread->spare_streams.at) / sizeof(void *); i++)
		free(thread->spare_streams.at[i]);
	libcosy_thread_self = NULL;
	thread_spare(thread);
}

/* Takes a spare state, cleared but for what it has mapped; under the lock. */
static struct libcosy_thread *thread_reuse(void)
{
	struct libcosy_thread *thread = __atomic_load_n(&spare, __ATOMIC_ACQUIRE), *next;
	uint64_t soft_size;
	uint8_t *soft_stack;

	while (thread && !__atomic_compare_exchange_n(&spare, &thread, thread->next_spare, false,
						      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		;
	if (!thread)
		return NULL;
	next = thread->next;
	soft_stack = thread->soft_stack;
	soft_size = thread->soft_size;
	memset(thread, 0, offsetof(struct libcosy_thread, acts));
	thread->next = next;
	thread->soft_stack = soft_stack;
	thread->soft_size = soft_size;
	return thread;
}

/* Maps a new one; under the lock. */
static struct libcosy_thread *thread_map(void)
{
	struct libcosy_thread *thread;

	thread = cosy_map(THREAD_SIZE + OTHER_SLICE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1);
	if (!thread)
		return NULL;
	thread->next = list;
	list = thread;
	return thread;
}

/* Takes one and sees that thread_exit gives it back; not pthread_once, which calls futex. */
static struct libcosy_thread *thread_take(void)
{
	struct libcosy_thread *thread;

	/* False: a handler interrupted this very function, and one of them is enough. */
	if (!libcosy_lock(&list_lock))
		return NULL;
	thread = thread_reuse();
	if (!thread)
		thread = thread_map();
	if (!exit_key_made)
		exit_key_made = !pthread_key_create(&exit_key, thread_exit);
	libcosy_unlock(&list_lock);
	return thread;
}

static struct libcosy_thread *thread_create(void)
{
	struct libcosy_thread *thread = thread_take();

	if (!thread)
		return NULL;
	thread->filtered = __atomic_load_n(&any_filtered, __ATOMIC_RELAXED);
	thread->cancels = libcosy_cancel_used();
	thread_find_stack(thread);
	thread_find_slices(thread);
	pthread_setspecific(exit_key, thread);
	return thread;
}

struct libcosy_thread *libcosy_thread(void)
{
	int saved = errno, state;

	if (!libcosy_thread_self) {
		state = libcosy_cancel_disable();
		libcosy_thread_self = thread_create();
		libcosy_cancel_restore(state);
	}
	errno = saved;
	return libcosy_thread_self;
}

void libcosy_thread_filtered(struct libcosy_thread *thread)
{
	thread->filtered = true;
	__atomic_store_n(&any_filtered, true, __ATOMIC_RELAXED);
}

void libcosy_threads_cancel(enum libcosy_cancels cancels)
{
	if (!libcosy_lock(&list_lock))
		return;
	for (struct libcosy_thread *thread = list; thread; thread = thread->next)
		__atomic_store_n(&thread->cancels, cancels, __ATOMIC_RELAXED);
	libcosy_unlock(&list_lock);
}

void libcosy_thread_soft_stack(struct libcosy_thread *thread)
{
	uint64_t size = MAX_SOFT_STACK;
	struct rlimit limit;
	int saved = errno;
	uint8_t *stack;

	if (thread->soft_stack)
		return;
	if (!cosy_limit_get(RLIMIT_STACK, &limit) && limit.rlim_cur < size)
		size = (limit.rlim_cur + PAGE - 1) & ~(PAGE - 1);
	stack = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack != MAP_FAILED) {
		mprotect(stack + size, PAGE, PROT_NONE);
		thread->soft_size = size;
		thread->soft_stack = stack;
	}
	errno = saved;
}

bool libcosy_thread_lock(void)
{
	return libcosy_lock(&list_lock);
}

void libcosy_thread_unlock(void)
{
	libcosy_unlock(&list_lock);
}

void libcosy_thread_child(void)
{
	list_lock.word = 0;
	spare = NULL;
	for (struct libcosy_thread *thread = list; thread; thread = thread->next)
		if (thread != libcosy_thread_self)
			thread_spare(thread);
	/* The pause was the parent's tracer's; filters are inherited, so `filtered` stays. */
	if (libcosy_thread_self)
		libcosy_thread_self->pause = libcosy_thread_self->next_pause = 0;
}
