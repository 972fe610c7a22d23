/* SPDX-License-Identifier: MIT */
/*
 * lease.h - read leases, the guard READ_ONLY, and how their end is noticed.
 *
 * While there is a lease the kernel keeps everyone who would open the file for writing, or
 * truncate it, waiting until the lease is returned (at most
 * /proc/sys/fs/lease-break-time).  Nobody asks the program: of a lease of its own a thread of
 * this library's is told (lease_thread.h), of one of the daemon's the daemon.  Either changes
 * what `guard` says, and only then returns the lease; whoever has copied from a window looks at
 * that before the copy counts, and replugs the file if it has changed.
 *
 * One's own lease is cheap to have (about 1.7 us); one by the daemon costs a conversation (about
 * 60 us) and is for files on which the kernel grants this process none.
 */
#ifndef COSY_PRELOAD_LEASE_H
#define COSY_PRELOAD_LEASE_H

#include "cosyd/protocol.h"
#include "file/file.h"
#include "file/price.h"

#pragma GCC visibility push(hidden)

/* Further ns that a lease by the daemon costs, compared with an own one. */
#define LEASE_DISTANCE 60000

/*
 * Takes a lease on what `fd` names; under LOCKED.  False, with the guard that failed in *why;
 * if that is EARNED the file is now `distant`, and was not before, or the thread is still coming.
 */
bool lease_take(struct file *file, int fd, enum guard *why);
/* Returns it; under LOCKED. */
void lease_return(struct file *file, int fd);

/* Further ns that a lease for this file costs, compared with an own one. */
int lease_price(const struct file *file);

/*
 * Is there a thread for a file that has earned a window, or have reads like its next one, which
 * would save `saved` ns, paid for a thread?
 */
bool lease_earned(const struct file *file, int saved);

/*
 * Is what was copied since the file's word was read the file's, as far as anybody knows?
 * Looked at when it has been copied and before the word is exchanged: a late reader may find the
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

/* Under LOCKED: gives the file a mapped window, unless its lease is over. */
bool lease_holds_map(struct file *file, struct map *map);

/* Replugs a file whose lease is over. */
void lease_check(struct file *file);

/*
 * In the thread: the lease on what `fd` named when it was taken has been broken; below 0, all are asked.
 */
void lease_broken(int fd);

/* The thread may not have run for longer than the kernel waits: all own leases are asked, by the first thread. */
void lease_overslept(void);

/* Has this process any? */
bool lease_any(void);
/* Replugs all, and waits until all leases are returned. */
void lease_return_all(enum guard why);

/* In the child of fork, which has none. */
void lease_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_LEASE_H */
