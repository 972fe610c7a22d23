/* SPDX-License-Identifier: MIT */
/*
 * move_random.h - what the files of move_random share: the driver (move_random.c) with its thread,
 * steps with pages of 4 KB (move_random_pages.c) and with 2 MB at once (move_random_huge.c).
 */
#ifndef MOVE_RANDOM_H
#define MOVE_RANDOM_H

#define CHECK_SHARED
#include "stamps.h"
#include <sched.h>

#define MAX_PAGES 8UL /* in a message, at least two */
#define LINE	  64UL
#define LINES	  (PAGE / LINE) /* and stamps of a page */

/* --- The driver ------------------------------------------------------------------------------- */

extern int from, to; /* ends of the pipe */
extern bool with_pinned;
extern long forks, kills, races;

/*
 * With `lacking` what the module asks memory for fails now and then during a step: of this thread
 * alone, by tests/vm/failing.  lack_begin and lack_end are around what may.  lacked() tells whether
 * that is why a call failed, to be made again: it has changed nothing.
 */
extern bool lacking;
extern long lacks; /* calls that failed so */
void lack_begin(void);
void lack_end(void);
bool lacked(void);

/* Makes a call until it does not lack memory. */
#define LASTING(result, call)                                                                      \
	do {                                                                                       \
		(result) = (call);                                                                 \
	} while ((result) < 0 && lacked())

/* Memory that the thread writes while `raced`: MAX_PAGES, and 2 MB, or NULL. */
extern char *racing, *volatile huge_racing;
extern volatile bool raced;

/* Returns new memory of an arena, of which most may be pinned if any may. */
char *arena_new(size_t pages);

/* Has the thread write from now on, and waits until it does. */
void race_begin(void);

/* Ends that, and waits until it has. */
void race_end(void);

/* --- Pages of 4 KB ---------------------------------------------------------------------------- */

extern long pins;

void pages_new(void);
void pages_step(long step);

/* --- 2 MB as one ------------------------------------------------------------------------------ */

struct huge_counts {
	long steps, looks;
	unsigned long seen; /* pages of 2 MB, in all looks; other processes', too */
};
extern struct huge_counts huge_counts;

void huge_new(void);
void huge_step(long step);

#endif /* MOVE_RANDOM_H */
