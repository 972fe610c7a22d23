/* SPDX-License-Identifier: MIT */
/* signals.h - masks without LEASE_SIGNAL. */
#ifndef COSY_READ_SIGNALS_H
#define COSY_READ_SIGNALS_H

#include <signal.h>

#pragma GCC visibility push(hidden)

/* `set` without the signal; `room` is for a changed copy. */
const sigset_t *signals_without_lease(const sigset_t *set, sigset_t *room);

#pragma GCC visibility pop

#endif /* COSY_READ_SIGNALS_H */
