/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a lock that records its owner.  A signal handler that interrupted the owner cannot take
 * it, and gets an error instead of a deadlock.  If a raw clone was made while another thread owned
 * the lock, the child, which has no such thread, takes it over.  The only system call is futex(2),
 * to wait and to wake waiters, because a seccomp filter may kill the program for any other.
 */
#ifndef COSY_LIB_LOCK_H
#define COSY_LIB_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct libcosy_lock {
	uint64_t word; /* 0: free; else the owner (lock.c); the lowest bit: a thread may wait */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the lock, and waits for it if need be.  False: the calling thread holds it already. */
bool libcosy_lock(struct libcosy_lock *lock);
/* Drops the lock, which the calling thread holds, and wakes a waiter. */
void libcosy_unlock(struct libcosy_lock *lock);

#ifdef __cplusplus
}
#endif

#endif /* COSY_LIB_LOCK_H */
