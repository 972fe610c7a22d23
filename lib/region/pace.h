/* SPDX-License-Identifier: MIT */
/*
 * pace.h - measures whether a region is faster in the kernel than its native twin.
 *
 * cosycc estimates the saving of a call; only a measurement can confirm it.  So a process measures
 * the processor time that the native twin takes from one level of savings to the next, and divides
 * it by the system calls that the twin made meanwhile: the native pace, in picoseconds for each
 * call.  Once the region is in the kernel the same is measured there, in windows: the first one is
 * short, without the calls that touch its memory first, and each later one ends at a level.  A
 * window is compared with the native pace between the same levels, as a program may do other work
 * later than first.  Both include what the program does between two entries.  A region whose pace
 * is worse by 1/32 in the first window, or by 1/5 in a later one, is given up in this process, and
 * left native in the user's next ones.  If few long RUNs fill the first window, 1/5 holds there as
 * well: they may do something else than what was measured natively.  Where earlier processes have
 * measured the levels natively, and found them even, less than 1/5 is tolerated.
 *
 * The native paces are kept in the user's history, since a process that enters early has none of
 * its own.  Only one region of a process is measured, the first one that enters, and only while the
 * process has one thread.
 */
#ifndef COSY_LIB_PACE_H
#define COSY_LIB_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct cosy_recall;
struct cosy_region;

/* Returns the native pace since this region reached its last level, or 0 where it is not known. */
uint32_t libcosy_pace_level(const struct cosy_region *owner);

/* Notes the native paces that the user's history has of a region. */
void libcosy_pace_recall(const struct cosy_region *owner, const struct cosy_recall *recall);

/*
 * Notes that the query is answered before which the native pace was taken.  The query's own time
 * says how long an instruction of the kernel's takes on this machine.
 */
void libcosy_pace_answered(const struct cosy_region *owner);

/* Returns the thread's processor time, in ns, at the region's last level; 0: not known. */
uint64_t libcosy_pace_so_far(const struct cosy_region *owner);

/* Returns how many ns so many instructions of the kernel's take; 0: not known. */
uint64_t libcosy_pace_time(int64_t instructions);

/* True if that is not by the first query alone, which may take several times as long. */
bool libcosy_pace_is_settled(void);

/* Begins to measure in the kernel; before the region's first RUN. */
void libcosy_pace_enter(const struct cosy_region *owner);

/* Begins again, after a program of the region was loaded: that is no part of its pace. */
void libcosy_pace_restart(void);

/*
 * Returns by how much the pace of a long RUN or of a later window that ends at these savings may be
 * worse than the native one: by 1/16 plus the difference of the user's native paces up to there.  It
 * is 1/5 at most, and 1/5 where these paces are not known.
 */
uint32_t libcosy_pace_tolerated(uint32_t native, uint64_t to);

/* Counts calls that a RUN of the region made.  True, once: it is slower in the kernel. */
bool libcosy_pace_is_slower(const struct cosy_region *owner, uint64_t calls);

#endif /* COSY_LIB_PACE_H */
