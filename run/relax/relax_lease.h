/* SPDX-License-Identifier: MIT */
/*
 * relax_lease.h - takes and returns the leases that coalesced writes need, and handles their
 * signal.
 *
 * A process that breaks such a lease has to wait until what is pending has been written, which only
 * this process can do.  So this process has the lease itself, not the daemon or a thread, and a
 * signal tells it; it has one thread only.  (Windows need none of that: lease.h.)
 */
#ifndef COSY_RUN_RELAX_LEASE_H
#define COSY_RUN_RELAX_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The real-time signal that programs are least likely to choose: not the last one. */
#define RELAX_SIGNAL 62

/*
 * Take and return a lease of `kind`: F_RDLCK, or F_WRLCK, which is granted when nobody else has the
 * file open at all.  Signals are blocked.  When a lease is broken its signal calls `broken`, which
 * is the same for all leases.
 */
bool relax_lease_take(int fd, int kind, void (*broken)(void));
void relax_lease_return(int fd);

bool relax_lease_armed(void);
bool relax_lease_forbidden(void);

/* Takes no more leases, since the program wants RELAX_SIGNAL for itself; none is held. */
void relax_lease_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_RELAX_LEASE_H */
