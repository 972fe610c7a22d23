/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a lock that knows its owner.  A signal handler that interrupted the
 * owner is told so instead of deadlocking.  A lock whose owner a raw clone did not
 * bring along is taken over.  A system call is made only to wait, and to wake who waits: filters
 * may kill for any other.
 */
#ifndef COSY_LIB_LOCK_H
#define COSY_LIB_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct libcosy_lock {
	uint64_t word; /* the owner, or 0; the lowest bit: somebody waits */
};

#ifdef __cplusplus
extern "C" {
#endif

/* False when this very thread holds it already. */
bool libcosy_lock(struct libcosy_lock *lock);
void libcosy_unlock(struct libcosy_lock *lock);

#ifdef __cplusplus
}
#endif

#endif /* COSY_LIB_LOCK_H */
