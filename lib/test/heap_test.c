// SPDX-License-Identifier: MIT
/*
 * heap_test.c - tests cosy_malloc and its family: contents, alignment, exhaustion, threads, signal
 * handlers, forks; on the shared buffer if there is a module, else on a range of the same size.  And
 * core's own allocator.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cosy/cosy.h>

#define COSY_OWN_MEMORY /* core_alloc is libcosy's, not libc's */
#include "../../core/core.h"
#include "process/context.h"
#include "memory/heap.h"
#include "process/settings.h"

#include "check.h"

#define SIZE (1u << 20)

/* Makes a range to test on where the kernel gives none. */
static void give_heap(void)
{
	void *range;

	if (libcosy_context_open() && libcosy_context_fd() >= 0) {
		printf("on the shared buffer\n");
		return;
	}
	libcosy_settings.mode = COSY_MODE_INTERP;
	/* Locks tell one address space from another by what comes with a context. */
	libcosy_native_only = false;
	MUST(libcosy_context_open());
	range = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(range != MAP_FAILED);
	libcosy_heap_init(range, SIZE, SIZE / 8, 0);
	printf("on memory of our own\n");
}

/* --- Random use against what is remembered of it --------------------------------------- */

struct piece {
	unsigned char *at;
	size_t size;
	unsigned char fill;
};

static bool intact(const struct piece *piece)
{
	for (size_t i = 0; i < piece->size; i++)
		if (piece->at[i] != piece->fill)
			return false;
	return true;
}

static unsigned int next_random(unsigned int *seed)
{
	return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

/* Allocates and frees at random.  Returns the number of mistakes. */
static uintptr_t churn(unsigned int seed, int rounds, size_t largest)
{
	struct piece pieces[200] = {0};
	uintptr_t bad = 0;

	for (int i = 0; i < rounds; i++) {
		struct piece *piece = &pieces[next_random(&seed) % 200];
		size_t size = next_random(&seed) % largest, kept;
		unsigned char *now;

		bad += !intact(piece);
		switch (next_random(&seed) % 4) {
		case 0:
			cosy_free(piece->at);
			piece->at = NULL;
			piece->size = 0;
			continue;
		case 1:
			now = cosy_realloc(piece->at, size);
			kept = size < piece->size ? size : piece->size;
			for (size_t k = 0; now && k < kept; k++)
				bad += now[k] != piece->fill;
			break;
		case 2:
			cosy_free(piece->at);
			now = cosy_calloc(size, 1);
			for (size_t k = 0; now && k < size; k++)
				bad += now[k] != 0;
			break;
		default:
			cosy_free(piece->at);
			now = cosy_malloc(size);
			break;
		}
		bad += !now || (uintptr_t)now % 16;
		piece->at = now;
		piece->size = size;
		piece->fill = (unsigned char)next_random(&seed);
		if (now)
			memset(now, piece->fill, size);
	}
	for (int i = 0; i < 200; i++) {
		bad += !intact(&pieces[i]);
		cosy_free(pieces[i].at);
	}
	return bad;
}

static void *churn_in_thread(void *arg)
{
	return (void *)churn((unsigned int)(uintptr_t)arg, 4000, 3000);
}

static void threads(void)
{
	pthread_t thread[4];
	void *bad;

	for (uintptr_t i = 0; i < 4; i++)
		MUST(!pthread_create(&thread[i], NULL, churn_in_thread, (void *)(i + 7)));
	for (int i = 0; i < 4; i++) {
		MUST(!pthread_join(thread[i], &bad));
		CHECK_EQ((uintptr_t)bad, 0);
	}
}

/* Checks that a full buffer gives ordinary memory, and serves again once memory is freed. */
static void exhaustion(void)
{
	enum { MANY = 300 };
	static void *piece[MANY];
	size_t room;
	int shared = 0;

	/* Take more than the first heap has, so that both are there. */
	cosy_free(cosy_malloc(SIZE / 2));
	room = libcosy_heap_room();
	for (int i = 0; i < MANY; i++) {
		piece[i] = cosy_malloc(10000);
		MUST(piece[i]);
		memset(piece[i], i, 10000);
		shared += cosy_is_shared(piece[i]);
	}
	CHECK(shared >= (int)(room / 10100) - 5 && shared < MANY && shared > 10);
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(*((unsigned char *)piece[i] + 9999), (unsigned char)i);
		cosy_free(piece[i]);
	}
	CHECK_EQ(libcosy_heap_room(), room);
	piece[0] = cosy_malloc(SIZE + 1);
	CHECK(piece[0] && !cosy_is_shared(piece[0]));
	/* Ordinary memory, too, is still there with no bytes. */
	piece[0] = cosy_realloc(piece[0], 0);
	CHECK(piece[0]);
	cosy_free(piece[0]);
	CHECK(!cosy_malloc(SIZE_MAX / 2));
	CHECK(!cosy_calloc(SIZE_MAX / 2, 3));
	cosy_free((void *)NULL);
}

/* Allocates in a handler while the interrupted code does, which must not deadlock. */
static void on_alarm(int sig)
{
	void *memory = cosy_malloc(100);

	(void)sig;
	if (cosy_is_shared(memory))
		cosy_free(memory);
	else
		free(memory);
}

static void in_handler(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	pid_t self = getpid();

	sigaction(SIGUSR1, &action, NULL);
	CHECK(libcosy_heap_alloc(16));
	libcosy_heap_lock();
	/* The heap refuses while the lock is this thread's, so the handler gets ordinary memory. */
	CHECK(!libcosy_heap_alloc(16));
	kill(self, SIGUSR1);
	libcosy_heap_unlock();
	CHECK(libcosy_heap_alloc(16));
}

/*
 * Checks that live data keep address and contents, and that the parent does not see the child's
 * stores.
 */
static void forks(bool raw)
{
	unsigned char *memory = cosy_malloc(50000);
	int status;
	pid_t pid;

	MUST(memory && cosy_is_shared(memory));
	memset(memory, 0x3c, 50000);
	pid = raw ? syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
	MUST(pid >= 0);
	if (!pid) {
		check_failures = 0;
		CHECK(memory[0] == 0x3c && memory[49999] == 0x3c);
		/* On a real shared buffer this opens the child's own, in the same place. */
		libcosy_context_open();
		CHECK(memory[0] == 0x3c && memory[49999] == 0x3c);
		CHECK_EQ(churn(5, 2000, 3000), 0);
		memory = cosy_realloc(memory, 60000);
		CHECK(memory && memory[49999] == 0x3c);
		cosy_free(memory);
		_exit(check_failures != 0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	CHECK(memory[0] == 0x3c && memory[49999] == 0x3c);
	cosy_free(memory);
}

enum { FREE, HELD, LET_GO };

static void *hold_the_lock(void *state)
{
	libcosy_heap_lock();
	__atomic_store_n((int *)state, HELD, __ATOMIC_RELEASE);
	while (__atomic_load_n((int *)state, __ATOMIC_ACQUIRE) != LET_GO)
		usleep(1000);
	libcosy_heap_unlock();
	return NULL;
}

/* Makes a child by a raw clone: it has the lock as another thread held it, but not the thread. */
static void lock_left_behind(void)
{
	pthread_t thread;
	int state = FREE, status;
	pid_t pid;

	MUST(!pthread_create(&thread, NULL, hold_the_lock, &state));
	while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != HELD)
		usleep(1000);
	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	MUST(pid >= 0);
	if (!pid) {
		alarm(600); /* only one that waits for ever takes so long */
		_exit(!libcosy_heap_alloc(16));
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	__atomic_store_n(&state, LET_GO, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/*
 * Allocates core's pieces until their shared mapping is full, and beyond that: each is zeroed, and
 * apart from the others.
 */
static void core_pieces(void)
{
	static const size_t sizes[] = {1, 40, 1000, 5000, 9000, 200000};
	struct piece pieces[120];

	for (int i = 0; i < 120; i++) {
		struct piece *piece = &pieces[i];

		*piece = (struct piece){.size = sizes[i % 6]};
		piece->at = core_alloc(piece->size);
		MUST(piece->at);
		CHECK_EQ((uintptr_t)piece->at % 16, 0);
		CHECK(intact(piece));
		piece->fill = (unsigned char)(i + 1);
		memset(piece->at, piece->fill, piece->size);
		/* What was freed may be used again, but zeroed. */
		if (i % 7 == 3) {
			core_free(piece->at);
			piece->size = 0;
		}
	}
	for (int i = 0; i < 120; i++) {
		CHECK(intact(&pieces[i]));
		if (pieces[i].size)
			core_free(pieces[i].at);
	}
}

int main(void)
{
	core_pieces();
	give_heap();
	CHECK_EQ(churn(1, 20000, 4000), 0);
	CHECK_EQ(churn(2, 3000, 20000), 0);
	exhaustion();
	threads();
	in_handler();
	forks(false);
	forks(true);
	lock_left_behind();
	return check_result();
}
