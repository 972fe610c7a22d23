/* SPDX-License-Identifier: MIT */
/*
 * life.h - which address space this is of those that descend from each other by fork and clone.
 *
 * The page of struct libcosy_alive is wiped in a fork child.  So a child reads generation 0, has no
 * context, and gets a life of its own, by which it tells locks of its parent's threads (lock.h).
 */
#ifndef COSY_LIB_LIFE_H
#define COSY_LIB_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* Lies in a page of its own, which a fork wipes in the child. */
struct libcosy_alive {
	uint32_t generation; /* of the context in use; 0 = none yet, or forked */
	uint32_t life;	     /* see libcosy_life; 0 = not asked for yet, or forked */
};
extern struct libcosy_alive *libcosy_alive;

/* The generation of the last context, whichever process opened it. */
extern uint32_t libcosy_last_generation;

static inline uint32_t libcosy_generation(void)
{
	return __atomic_load_n(&libcosy_alive->generation, __ATOMIC_ACQUIRE);
}

/* Maps the page.  On kernels without pages that a fork wipes, pthread_atfork has to do. */
void libcosy_life_begin(void);

/*
 * Returns the number, of 16 bits, of this address space among those that it descends from; 0 as
 * long as libcosy_life_begin was not called.
 */
uint32_t libcosy_life(void);

/* Counts on to the next generation, under the context's lock. */
void libcosy_generation_begin(void);

/* Ends a generation, unless another one has begun since. */
void libcosy_generation_end(uint32_t generation);

/* Ends whichever there is, in a fork child. */
void libcosy_generation_child(void);

#endif /* COSY_LIB_LIFE_H */
