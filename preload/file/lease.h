/* SPDX-License-Identifier: MIT */
/*
 * lease.h - read leases, the guard READ_ONLY, and how their end is noticed.
 *
 * While there is a lease the kernel keeps everyone who would open the file for writing, or
 * truncate it, waiting until the lease is returned (at most
 * /proc/sys/fs/lease-break-time).  Of a lease of its own this process is told by a signal,
 * whose handler replugs first, then returns it.  A lease of the daemon's is returned
 * without asking this process, which finds the guard word changed when it has copied.
 *
 * One's own lease is cheap to have (about 1.5 us) but its signal can be noticed; a lease
 * by the daemon costs a conversation (about 60 us) and no more.  So the first is preferred by
 * processes with one thread, where AWAKE keeps the signal away from calls that it would cut
 * short, and the second where there are several.
 */
#ifndef COSY_PRELOAD_LEASE_H
#define COSY_PRELOAD_LEASE_H

#include "cosyd/protocol.h"
#include "file/file.h"

#pragma GCC visibility push(hidden)

/* Of the real-time signals that programs choose, the least likely: not the last one. */
#define LEASE_SIGNAL   62

/* What a lease by the daemon costs more than one's own, in ns. */
#define LEASE_DISTANCE 60000

/*
 * Own leases that belong to no file of file.h: F_WRLCK, which is granted when nobody else has the
 * file open at all, or F_RDLCK.  In a process with one thread, and with signals blocked.
 * Their signal calls relax_lease_broken.
 */
bool lease_take_kind(int fd, int kind);
void lease_return_kind(int fd);

/*
 * Takes a lease on what `fd` names; under HELD.  False, with the guard that failed in *why;
 * if that is EARNED the file is now `distant`, and was not before.
 */
bool lease_take(struct file *file, int fd, enum guard *why);
/* Returns it; under HELD. */
void lease_return(struct file *file, int fd);

/*
 * Is what was copied since the file's word was read the file's, as far as the daemon knows?
 * Looked at behind the copy and before the word is exchanged: a late reader may find the
 * members of different leases here, but then the word has changed as well.
 */
static inline bool lease_holds(const struct file *file)
{
	const uint64_t *guard = __atomic_load_n(&file->guard, __ATOMIC_ACQUIRE);

	return __builtin_expect(!guard, 1) ||
	       (__atomic_load_n(guard, __ATOMIC_ACQUIRE) ==
			__atomic_load_n(&file->guard_value, __ATOMIC_RELAXED) &&
		cosyd_alive(__atomic_load_n(&file->keeper, __ATOMIC_RELAXED)));
}

/* Replugs a file whose lease is over. */
void lease_check(struct file *file);

/* Has this process any, and any of its own? */
bool lease_any(void);
bool lease_any_own(void);
/* Replugs the files that it has its own leases on. */
void lease_return_own(enum guard why);
/* Replugs all, and waits until all leases are returned. */
void lease_return_all(enum guard why);

/* A signal mask without LEASE_SIGNAL, once this library uses that. */
uint64_t lease_signals(uint64_t signals);
bool lease_armed(void);
bool lease_forbidden(void);

/* The program wants LEASE_SIGNAL for itself: no leases any more. */
void lease_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_LEASE_H */
