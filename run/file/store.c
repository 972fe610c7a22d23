// SPDX-License-Identifier: MIT
/* store.c - see store.h. */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "file/policy.h"
#include "file/store.h"
#include "lock.h"
#include "syscall.h"

#define MAX_WHOLES 16
/* Small windows that keep their memory while nobody uses them. */
#define MAX_WARM 4

/* Unused windows; a list is whole between any two stores. */
static struct window *warm, *cold[2];
static uint32_t store_lock;
static unsigned int warm_windows, wholes;
static uint64_t taken;	/* bytes of windows that are used, or warm */
static uint64_t mapped; /* bytes of all windows */
static bool forbidden;	/* to map one more */

static struct window *window_pop(struct window **list)
{
	struct window *window = *list;

	if (window)
		__atomic_store_n(list, window->next, __ATOMIC_RELEASE);
	return window;
}

static void window_push(struct window **list, struct window *window)
{
	window->next = *list;
	__atomic_store_n(list, window, __ATOMIC_RELEASE);
}

/* Finds an unused window; locked.  False: no more are allowed.  *ret NULL: map one. */
static bool store_find(uint64_t capacity, struct window **ret)
{
	bool whole = capacity != STORE_SMALL;

	*ret = whole ? NULL : window_pop(&warm);
	if (*ret) {
		warm_windows--;
		return true;
	}
	if (taken + capacity > policy_memory())
		return false;
	*ret = window_pop(&cold[whole]);
	if (!*ret && ((whole && wholes == MAX_WHOLES) || forbidden ||
		      mapped + capacity > policy_addresses()))
		return false;
	if (!*ret) {
		wholes += whole;
		mapped += capacity;
	}
	taken += capacity;
	return true;
}

static struct window *store_map(uint64_t capacity)
{
	long mapping = cosy_syscall6(SYS_mmap, 0, sizeof(struct window) + capacity,
				     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct window *window = (struct window *)mapping;

	if (mapping < 0) {
		lock_take(&store_lock);
		taken -= capacity;
		mapped -= capacity;
		wholes -= capacity != STORE_SMALL;
		lock_drop(&store_lock);
		return NULL;
	}
	window->capacity = capacity;
	return window;
}

struct window *store_take(uint64_t capacity)
{
	struct window *window;
	bool allowed;

	lock_take(&store_lock);
	allowed = store_find(capacity, &window);
	lock_drop(&store_lock);
	return allowed && !window ? store_map(capacity) : window;
}

void store_put(struct window *window)
{
	bool keeps = false;

	window->len = 0;
	lock_take(&store_lock);
	if (window->capacity == STORE_SMALL && warm_windows < MAX_WARM) {
		window_push(&warm, window);
		warm_windows++;
		keeps = true;
	}
	lock_drop(&store_lock);
	if (keeps)
		return;
	/* Give back all but the page that the structure is in. */
	cosy_syscall3(SYS_madvise, ((unsigned long)window | 4095) + 1, window->capacity,
		      MADV_DONTNEED);
	lock_take(&store_lock);
	window_push(&cold[window->capacity != STORE_SMALL], window);
	taken -= window->capacity;
	lock_drop(&store_lock);
}

void store_forbid(void)
{
	__atomic_store_n(&forbidden, true, __ATOMIC_SEQ_CST);
}

void store_share_child(void)
{
	/* A fork locks nothing in the child. */
	forbidden = false;
	/* A thread that only the parent has may have held it. */
	store_lock = 0;
}
