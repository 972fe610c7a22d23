/* SPDX-License-Identifier: MIT */
/*
 * relax_lease.h - the leases of this process's own that coalesced writes need, and their signal.
 *
 * Who breaks such a lease has to be kept waiting until what is pending has been written, which only
 * this process can do.  So it has the lease itself, and is told by a signal, in a process with one
 * thread only.  (Windows need none of that: lease.h.)
 */
#ifndef COSY_PRELOAD_RELAX_LEASE_H
#define COSY_PRELOAD_RELAX_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The real-time signal that programs are least likely to choose: not the last one. */
#define RELAX_SIGNAL 62

/*
 * F_WRLCK, which is granted when nobody else has the file open at all, or F_RDLCK.  With signals
 * blocked.  Their signal calls relax_lease_broken.
 */
bool relax_lease_take(int fd, int kind);
void relax_lease_return(int fd);

bool relax_lease_armed(void);
bool relax_lease_forbidden(void);

/* The program wants RELAX_SIGNAL for itself: no such leases any more. */
void relax_lease_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_RELAX_LEASE_H */
