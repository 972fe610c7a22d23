/* SPDX-License-Identifier: MIT */
/*
 * lease.h - takes read leases, the guard READ_ONLY, and notices their end.
 *
 * While there is a lease the kernel keeps everyone who would open the file for writing, or
 * truncate it, waiting until the lease is returned (at most
 * /proc/sys/fs/lease-break-time).  Nobody asks the program.  The kernel tells a thread of this
 * library's (lease_thread.h) of the break of an own lease, and the daemon of its leases'.  Either
 * changes what `guard` says, and only then returns the lease.  A thread that has copied from a
 * window looks at that before the copy counts, and replugs the file if it has changed.
 *
 * An own lease is cheap (about 1.7 us); one by the daemon costs a conversation (about
 * 60 us) and is for files on which the kernel grants this process none.
 */
#ifndef COSY_RUN_LEASE_H
#define COSY_RUN_LEASE_H

#include <fcntl.h>

#include "../cosyd/protocol.h"
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
 * True if there is a thread for a file that has earned a window, or if reads like its next one,
 * which would save `saved` ns, have paid for a thread.
 */
bool lease_earned(const struct file *file, int saved);

/*
 * True if, as far as anybody knows, bytes copied since the word was loaded are the file's.  To be
 * asked after the copy and before the word is exchanged.  A late reader may find the members of
 * different leases here, but then the word has changed, too.
 */
static inline bool lease_holds(const struct file *file)
{
	const uint64_t *guard = __atomic_load_n(&file->guard, __ATOMIC_ACQUIRE);

	return __builtin_expect(!guard, 1) ||
	       (__atomic_load_n(guard, __ATOMIC_ACQUIRE) ==
			__atomic_load_n(&file->guard_value, __ATOMIC_RELAXED) &&
		cosyd_alive(__atomic_load_n(&file->keeper, __ATOMIC_RELAXED)));
}

/* Gives the file a mapped window, unless its lease is over; under LOCKED. */
bool lease_holds_map(struct file *file, struct mapping *map);

/* Replugs a file whose lease is over. */
void lease_check(struct file *file);

/* True if this process has leases. */
bool lease_any(void);

/* Replugs all, and waits until all leases are returned. */
void lease_return_all(enum guard why);

/*
 * True for flags of an open before which the process returns its own leases.  One for writing waits
 * for them, their signal comes in the middle of it, and it would fail where it must not wait.  One
 * that truncates, but is for reading alone, ends no lease.
 */
static inline bool lease_is_in_the_way(int flags)
{
	return flags & ((flags & O_ACCMODE) == O_RDONLY ? O_TRUNC : O_NONBLOCK);
}

/* Returns them before such an open. */
static inline void lease_make_way(int flags)
{
	if (lease_is_in_the_way(flags))
		lease_return_all(GUARD_READ_ONLY);
}

/* Forgets all leases, in the child of a fork, which has none. */
void lease_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_LEASE_H */
