// SPDX-License-Identifier: MIT
/* life.c - see life.h. */
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "process/life.h"
#include "process/start.h"
#include "syscall.h"

static struct libcosy_alive not_alive LIBCOSY_EARLY_DATA;
struct libcosy_alive *libcosy_alive = &not_alive;
uint32_t libcosy_last_generation;

void libcosy_life_begin(void)
{
	void *page;

	if (libcosy_alive != &not_alive)
		return;
	page = cosy_map(sizeof(*libcosy_alive), MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!page)
		return;
	cosy_syscall3(SYS_madvise, (unsigned long)page, sizeof(*libcosy_alive), MADV_WIPEONFORK);
	__atomic_store_n(&libcosy_alive, page, __ATOMIC_RELEASE);
}

uint32_t libcosy_life(void)
{
	static uint32_t lives; /* a fork child goes on from its parent's */
	struct libcosy_alive *alive = __atomic_load_n(&libcosy_alive, __ATOMIC_ACQUIRE);
	uint32_t life = __atomic_load_n(&alive->life, __ATOMIC_RELAXED), next;

	if (life || alive == &not_alive)
		return life;
	next = __atomic_add_fetch(&lives, 1, __ATOMIC_RELAXED) % UINT16_MAX + 1;
	if (__atomic_compare_exchange_n(&alive->life, &life, next, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return next;
	return life;
}

void libcosy_generation_begin(void)
{
	libcosy_last_generation++;
	__atomic_store_n(&libcosy_alive->generation, libcosy_last_generation, __ATOMIC_RELEASE);
}

void libcosy_generation_end(uint32_t generation)
{
	__atomic_compare_exchange_n(&libcosy_alive->generation, &generation, 0, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void libcosy_generation_child(void)
{
	if (libcosy_alive)
		__atomic_store_n(&libcosy_alive->generation, 0, __ATOMIC_RELEASE);
}
