/* SPDX-License-Identifier: MIT */
/* values.h - what a step's arguments stand for: numbers, places in memory, descriptors. */
#ifndef FUZZ_VALUES_H
#define FUZZ_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "sequence.h"

/* Places at fixed addresses, with nothing between them. */
enum region {
	REGION_PLAIN,	  /* private memory; its first page is furnished: names, iovecs and such */
	REGION_BUFFER,	  /* of four contexts' buffers */
	REGION_ARENA,	  /* two arenas, PARTs 0 and 1; what mremap moves goes to 2 and 3 */
	REGION_READ_ONLY, /* a file of root's: nothing that we do may change it */
	REGION_NONE,	  /* PROT_NONE */
	REGION_HOLE,	  /* nothing is mapped there */
	REGION_STATE,	  /* states and software stacks of all threads */
	REGION_CNT
};
#define REGION_PLACE(region) (0x20000000ull + (uint64_t)(region) * 0x2000000)
enum { PART = 0x40000, REGION_SIZE = 4 * PART, STATE_SIZE = 0x2000, STACK_SIZE = 0x4000 };
#define STATE_PLACE(thread) (REGION_PLACE(REGION_STATE) + (thread) * STATE_SIZE)
#define STACK_PLACE(thread) (REGION_PLACE(REGION_STATE) + PART + (thread) * STACK_SIZE)

/* Descriptors by what they are; the table has their numbers, which steps change. */
enum {
	SLOT_CONTEXT = 0,
	SLOT_ARENA = 4,
	SLOT_PARCEL = 6,
	SLOT_PORT = 8,	/* both ends */
	SLOT_FILE = 10, /* read and write, read only, append, memfd */
	SLOT_DIRECTORY = 14,
	SLOT_PIPE = 15,	  /* both ends */
	SLOT_SOCKET = 17, /* both ends */
	SLOT_NULL = 19,
	SLOT_ZERO,
	SLOT_EVENT,
	SLOT_POLL, /* an epoll set */
	SLOT_FREE, /* what calls return */
	SLOT_CNT = 28
};
extern int value_slots[SLOT_CNT];
enum { HANDLES = 8 };
extern uint32_t value_handles[HANDLES];

uint64_t value_number(uint32_t choice);
/* `letter` as in core/ops.def: p, r or P. */
uint64_t value_pointer(char letter, uint32_t choice);
/* Returns one of the memory that is ours: what mappings are changed there does no harm here. */
uint64_t value_own(uint32_t choice);
/* Returns a length that ends in the region, mostly. */
uint64_t value_length(uint32_t choice);
int value_descriptor(uint32_t choice);
uint64_t value_argument(char letter, uint32_t choice);

/*
 * Maps the regions, opens the descriptors, in a directory of our own; fd is a file of root's.
 * Returns whether all is there.
 */
bool values_init(int read_only);
/*
 * Does the same after an earlier sequence of this process: contexts, what moves, and their mappings
 * are given up.  The rest is kept with what it holds, as far as it is there, unless mappings
 * changed.
 */
bool values_renew(int read_only);
/* Tells values_renew() that memory may not be mapped as it was. */
void values_remapped(void);

/* True if what root's file has is what main.c put there. */
enum { READ_ONLY_BYTE = 0x5c };

#endif /* FUZZ_VALUES_H */
