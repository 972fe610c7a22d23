// SPDX-License-Identifier: MIT
/* room.c - see room.h. */
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "room.h"
#include "syscall.h"
#include "vfork.h"

/* The rooms that children of vforks have taken. */
static struct room *rooms;

static void room_unmap(struct room *room)
{
	cosy_syscall3(SYS_munmap, (unsigned long)room, room->len, 0);
}

static void rooms_add(struct room *room)
{
	struct room *first = __atomic_load_n(&rooms, __ATOMIC_RELAXED);

	do
		room->next = first;
	while (!__atomic_compare_exchange_n(&rooms, &first, room, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

/* Unmaps those that are not occupied.  Takes all of them first: threads and children may sweep. */
static void rooms_sweep(void)
{
	struct room *room = __atomic_exchange_n(&rooms, NULL, __ATOMIC_ACQUIRE), *next;

	for (; room; room = next) {
		next = room->next;
		if (__atomic_load_n(&room->occupied, __ATOMIC_ACQUIRE))
			rooms_add(room);
		else
			room_unmap(room);
	}
}

struct room *room_take(size_t bytes)
{
	size_t len = sizeof(struct room) + bytes;
	struct room *room;
	long mapping;

	rooms_sweep();
	mapping = cosy_syscall6(SYS_mmap, 0, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0 && mapping >= -4095)
		return NULL;
	room = (struct room *)mapping;
	room->len = len;
	if (vfork_in_child()) {
		/*
		 * The kernel clears this number when a thread ends, or leaves its memory by exec.
		 */
		room->occupied = 1;
		cosy_syscall3(SYS_set_tid_address, (unsigned long)&room->occupied, 0, 0);
		rooms_add(room);
	}
	return room;
}

void room_return(struct room *room)
{
	if (!room)
		return;
	if (!room->occupied) {
		room_unmap(room);
		return;
	}
	/* The exec has failed. */
	cosy_syscall3(SYS_set_tid_address, 0, 0, 0);
	__atomic_store_n(&room->occupied, 0, __ATOMIC_RELEASE);
	rooms_sweep();
}
