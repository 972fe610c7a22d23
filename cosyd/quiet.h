/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - decides how long a file gets no lease after a writer has broken one.
 *
 * A writer with O_NONBLOCK is refused while there is a lease, and any client can have a lease taken
 * on any file that it may read.  So each break multiplies the time without a lease by 4, up to 15
 * minutes.  Only 15 minutes without a waiting writer make it short again.  If the first time is
 * 100 ms, a file's writers wait at most QUIET_BREAKS times in 15 minutes and once in the next 15,
 * whatever clients do.
 *
 * Files share entries, so a file may be quiet because of another file's writers.  That costs
 * readers time, and writers nothing.  The assignment of files to entries is a secret of the
 * process.
 */
#ifndef COSYD_QUIET_H
#define COSYD_QUIET_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_QUIET    (15 * 60 * 1000) /* ms */
#define QUIET_FACTOR 4
#define QUIET_BREAKS 8

/* To be called before all else. */
void quiet_init(void);

/* Notes that a writer wanted the file: no lease for `first` ms or longer; 0: none at once. */
void quiet_begin(uint64_t dev, uint64_t ino, unsigned int first);

bool quiet_now(uint64_t dev, uint64_t ino);

#endif /* COSYD_QUIET_H */
