/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a lock that records its owner.  A signal handler that interrupted the owner gets an
 * error instead of a deadlock.  If a raw clone did not copy the owner, the child takes the lock
 * over. System calls are made only to wait, and to wake waiters, because filters may kill for any
 * other.
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
