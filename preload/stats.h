/* SPDX-License-Identifier: MIT */
/*
 * stats.h - what happened, for `cosy run --stats` and `--explain`.  Counts are exact
 * in a process with one thread and may be low in others.
 */
#ifndef COSY_PRELOAD_STATS_H
#define COSY_PRELOAD_STATS_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

struct stats {
	unsigned long opened;		/* files that might have been specialised */
	unsigned long ordinary;		/* reads of those by ordinary calls */
	unsigned long specialised;	/* how often a file became so */
	unsigned long distant;		/* of those, by leases of the daemon's */
	unsigned long reads;		/* by windows; of files in use when they are done */
	unsigned long direct;		/* by pread, of specialised files */
	unsigned long fetches, fetched; /* of windows; bytes */
	unsigned long maps;		/* mapped windows made */
	unsigned long seeks;		/* that the kernel did not see */
	unsigned long declined[GUARDS]; /* enough reads for a window, but no window */
	unsigned long replugs[GUARDS];
	unsigned long tails;		 /* opens without truncation (--relax=trunc) */
	unsigned long cloned;		 /* bytes of shared blocks (copy) */
	unsigned long gathered, flushes; /* writes, and writes that handed them over (coalesce) */
};

extern struct stats stats;

/* Each counts, and says so on standard error if --explain names this file. */
void stats_declined(struct file *file, int fd, enum guard why);
void stats_replugged(struct file *file, enum guard why); /* in a signal handler, too */
void stats_specialised(struct file *file, int fd);
/* `why` not, or GUARDS: it is. */
void stats_mapped(int fd, enum guard why);
void stats_closed_explained(struct file *file, int fd);

/* There is no --explain; false also before anybody has looked. */
extern bool stats_silent;

static inline void stats_closed(struct file *file, int fd)
{
	if (unlikely(!stats_silent))
		stats_closed_explained(file, fd);
}

/* They are to be printed when the program ends. */
void stats_begin(void);

/* Prints the statistics, once, to the descriptor that COSY_READ_STATS names. */
void stats_print(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_STATS_H */
