/* SPDX-License-Identifier: GPL-2.0 */
/* slots.h - what arena.c and slots.c, the two halves of an arena, know of each other. */
#ifndef COSY_MOVE_SLOTS_H
#define COSY_MOVE_SLOTS_H

#include "move/arena.h"

/*
 * Maps slot `s->i` and, of those that follow, as many as need neither a page nor an entry removed.
 * A VM_FAULT_* code; the arena's lock is held.
 */
vm_fault_t cosy_slots_fault(const struct cosy_slots *s, bool write);

/* The page of slot `s->i`, to be written in place through the kernel's mapping; or an error. */
struct page *cosy_slot_own(const struct cosy_slots *s);

/* Removes every entry of the slots. */
void cosy_slots_unmap(const struct cosy_slots *s, unsigned long from, unsigned long to);

/* fork: another reference to what slot i holds now, for a child's slot.  No entry refers to it. */
unsigned long cosy_slot_fork(struct cosy_arena *arena, unsigned long i);

#endif /* COSY_MOVE_SLOTS_H */
