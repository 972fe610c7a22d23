/* SPDX-License-Identifier: MIT */
/*
 * lease.h - read leases, the guard READ_ONLY, and the signal that tells of their end.
 *
 * While this process has a lease the kernel keeps everyone who would open the file for
 * writing, or truncate it, waiting until the lease is returned (at most
 * /proc/sys/fs/lease-break-time).  The signal's handler replugs first, then returns it.
 */
#ifndef COSY_READ_LEASE_H
#define COSY_READ_LEASE_H

#include "file.h"

#pragma GCC visibility push(hidden)

/* Of the real-time signals that programs choose, the least likely: not the last one. */
#define LEASE_SIGNAL 62

/* Takes a lease; under HELD.  False, with the guard that failed in *why. */
bool lease_take(int fd, enum guard *why);
/* Returns it; under HELD. */
void lease_return(int fd);

/* Has this process any? */
bool lease_any(void);

/* A signal mask without LEASE_SIGNAL, once this library uses that. */
uint64_t lease_signals(uint64_t signals);
bool lease_armed(void);
bool lease_forbidden(void);

/* The program wants LEASE_SIGNAL for itself: no leases any more. */
void lease_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_READ_LEASE_H */
