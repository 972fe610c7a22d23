/* SPDX-License-Identifier: MIT */
/*
 * stats.h - counts events for `cosy run --stats`, and tells `--explain` of them.  Counts are
 * exact in a process with one thread and may be low in others.
 */
#ifndef COSY_RUN_STATS_H
#define COSY_RUN_STATS_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

struct stats {
	unsigned long opened;	/* files that might have been specialised */
	unsigned long writable; /* regular files opened for reading and writing, if --stats asks */
	unsigned long ordinary; /* reads of these by ordinary calls */
	unsigned long specialised; /* how often a file became so */
	unsigned long distant;	   /* of these, by leases of the daemon's */
	unsigned long reads;  /* by windows; a file's are added when it is replugged or closed */
	unsigned long direct; /* by pread, of specialised files */
	unsigned long fetches, fetched; /* of windows; bytes */
	unsigned long maps;		/* mapped windows made */
	unsigned long seeks;		/* that the kernel did not see */
	unsigned long declined[GUARDS]; /* enough reads for a window, but no window */
	unsigned long replugs[GUARDS];
	unsigned long trunc;		/* files opened without truncation (--relax=trunc) */
	unsigned long coalesce;		/* small writes that were coalesced (--relax=coalesce) */
	unsigned long coalesce_flushes; /* writes that handed these over */
	unsigned long reflink;		/* bytes of shared blocks (--relax=reflink) */
	unsigned long metadata_reads;	/* of directories' attributes (--metadata) */
	unsigned long metadata_entries; /* that these had */
	unsigned long metadata_served;	/* calls of stat and its kin */
};

extern struct stats stats;

/* True unless there is neither --stats nor --explain. */
extern bool stats_asked;

/* Notes a descriptor that was opened with flags with which it is never specialised. */
void stats_passed_over_asked(int fd, int flags);

static inline void stats_passed_over(int fd, int flags)
{
	if (unlikely(stats_asked))
		stats_passed_over_asked(fd, flags);
}

/* Count an event, and tell of it if --explain names this file. */
void stats_declined(struct file *file, int fd, enum guard why);
void stats_replugged(struct file *file, enum guard why); /* in a signal handler, too */
void stats_specialised(struct file *file, int fd);
/* `why` it was not mapped, or GUARDS: it was. */
void stats_mapped(int fd, enum guard why);
void stats_closed_explained(struct file *file, int fd);

/* True if there is no --explain; false before anybody has looked. */
extern bool stats_silent;

static inline void stats_closed(struct file *file, int fd)
{
	if (unlikely(!stats_silent))
		stats_closed_explained(file, fd);
}

/*
 * Has the statistics printed when the program ends, or that it did not open what --explain names.
 * `complete` adds to them what is counted elsewhere until then.
 */
void stats_begin(void (*complete)(void));

/*
 * Prints both now, once: the statistics to what COSY_RUN_STATS names:
 * "DESCRIPTOR,DEVICE,INODE,PID", or "DESCRIPTOR" alone, which is not compared with anything.  The
 * process of that number, which `cosy run` started, says it also when it opened nothing.
 */
void stats_end(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_STATS_H */
