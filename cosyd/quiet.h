/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - decides for how long a file gets no lease after a writer wanted it.
 *
 * A writer with O_NONBLOCK is refused while there is a lease, and any client may have one taken on
 * any file that it may read.  So each break of a lease makes the time without one four times
 * longer, up to a quarter of an hour; only a quarter of an hour in which no writer was kept
 * waiting makes it short again.  If the first time is 100 ms, a file's writers are kept waiting
 * at most QUIET_BREAKS times in a quarter of an hour and once in the next, whatever clients do.
 *
 * Files share entries, so a file may be quiet for another one's writers: that costs readers time
 * and writers nothing.  Which files share is a secret of the process.
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
