/* SPDX-License-Identifier: GPL-2.0 */
/* slots.h - functions that arena.c and slots.c, the two halves of an arena, have for each other. */
#ifndef COSY_MOVE_SLOTS_H
#define COSY_MOVE_SLOTS_H

#include "move/arena.h"

/*
 * Maps slot `s->i` and as many of the next ones as need neither a page nor an entry removed.
 * Returns a VM_FAULT_* code; the arena's lock is held.
 */
vm_fault_t cosy_slots_fault(const struct cosy_slots *s, bool write);

/*
 * Returns the page of slot `s->i`, to be written in place through the kernel's mapping; or an
 * error.
 */
struct page *cosy_slot_own(const struct cosy_slots *s);

/* Adds up frozen pages, and those of them that others have as well; the arena's lock is held. */
void cosy_slots_count(const unsigned long *slot, unsigned long count, struct cosy_moving *sum);

/* Removes every entry of the slots. */
void cosy_slots_unmap(const struct cosy_slots *s, unsigned long from, unsigned long to);

/*
 * Returns a child's slot for fork: another reference to the page that slot i has now.  No entry
 * refers to the page.
 */
unsigned long cosy_slot_fork(struct cosy_arena *arena, unsigned long i);

#endif /* COSY_MOVE_SLOTS_H */
