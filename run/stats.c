// SPDX-License-Identifier: MIT
/* stats.c - see stats.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "environment.h"
#include "file/lease.h"
#include "file/map.h"
#include "file/price.h"
#include "file/policy.h"
#include "file/window.h"
#include "line.h"
#include "next.h"
#include "stats.h"
#include "syscall.h"

/* Costs in ns, as window.c has them, for the estimate of time saved. */
#define SAVED_PER_READ	   430
#define SAVED_PER_SEEK	   150
#define COST_OF_SPECIALISE 4000
#define COST_OF_FETCH	   900
#define BYTES_PER_NS	   24

struct stats stats;
bool stats_silent, stats_asked;

/* Reads a number, and passes it and a comma after it. */
static unsigned long number_next(const char **text)
{
	unsigned long number = 0;

	for (; **text >= '0' && **text <= '9'; ++*text)
		number = number * 10 + **text - '0';
	*text += **text == ',';
	return number;
}

/* Standard error as `cosy run` had it: a copy, and what file it was, unless `ino` is 0. */
struct outlet {
	int fd;
	dev_t dev;
	ino_t ino;
};

/* Reads "DESCRIPTOR,DEVICE,INODE," or "DESCRIPTOR", and passes it. */
static void outlet_next(struct outlet *outlet, const char **text)
{
	outlet->fd = (int)number_next(text);
	outlet->dev = number_next(text);
	outlet->ino = number_next(text);
}

static bool outlet_is(const struct outlet *outlet, int fd)
{
	struct stat st;

	return !cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) && st.st_dev == outlet->dev &&
	       st.st_ino == outlet->ino;
}

/*
 * Returns a descriptor of it.  The program may have closed the copy, and its own standard error,
 * and opened files of its own by these numbers: where both are gone it is -1.
 */
static int outlet_descriptor(const struct outlet *outlet)
{
	if (!outlet->ino || outlet_is(outlet, outlet->fd))
		return outlet->fd;
	return outlet_is(outlet, STDERR_FILENO) ? STDERR_FILENO : -1;
}

/* The file that --explain names, and where lines about it go. */
static struct {
	enum { UNREAD, NONE, SOME } state;
	struct outlet outlet;
	unsigned long process; /* that says so if it never opens the file */
	const char *path;
	dev_t dev;
	ino_t ino;
	bool opened;
} explained;

static bool stats_explains(int fd)
{
	struct stat st;

	if (explained.state == UNREAD) {
		const char *path = environment_get(ENVIRONMENT_EXPLAIN);

		explained.state = NONE;
		stats_silent = true;
		if (path) {
			outlet_next(&explained.outlet, &path);
			explained.process = number_next(&path);
		}
		if (path && !cosy_syscall6(SYS_newfstatat, AT_FDCWD, (unsigned long)path,
					   (unsigned long)&st, 0, 0, 0)) {
			explained.path = path;
			explained.dev = st.st_dev;
			explained.ino = st.st_ino;
			explained.state = SOME;
			stats_silent = false;
		}
	}
	return explained.state == SOME && !cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) &&
	       st.st_dev == explained.dev && st.st_ino == explained.ino;
}

static void stats_explain(int fd, const char *what, enum guard why)
{
	int to = outlet_descriptor(&explained.outlet);
	struct line line = {.len = 0};
	struct policy policy;

	explained.opened = true;
	if (to < 0)
		return;
	line_format(&line, "cosy: %s, descriptor %lu: %s", explained.path, (unsigned long)fd, what);
	if (why < GUARDS)
		line_format(&line, ": %s does not hold (%s)", guard_name(why), guard_what(why));
	policy_find(fd, 0, &policy);
	if (policy.place[0])
		line_format(&line, "; rule %s", policy.place);
	line_print(&line, to);
}

/* Says at the end that there was nothing to explain: silence would say that all is well. */
static void stats_explain_nothing(void)
{
	unsigned long process = cosy_syscall3(SYS_getpid, 0, 0, 0);
	struct line line = {.len = 0};
	int to;

	stats_explains(-1);
	if (explained.state != SOME || explained.opened || explained.process != process)
		return;
	explained.opened = true;
	to = outlet_descriptor(&explained.outlet);
	if (to < 0)
		return;
	line_format(
		&line,
		"cosy: %s: %s (%lu) has not opened it by libc's open(); files of stdio's have a buffer already",
		explained.path, environment_program(), process);
	line_print(&line, to);
}

void stats_passed_over_asked(int fd, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY;
	struct stat st;

	if (environment_get(ENVIRONMENT_STATS) && (flags & O_ACCMODE) == O_RDWR &&
	    !cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) && S_ISREG(st.st_mode))
		stats.writable++;
	if (!(flags & O_PATH) && stats_explains(fd))
		stats_explain(fd,
			      writes ? "opened for writing, not specialised" : "not specialised",
			      writes ? GUARD_READ_ONLY : GUARD_FS_CONSTANT);
}

void stats_declined(struct file *file, int fd, enum guard why)
{
	(void)file;
	stats.declined[why]++;
	if (stats_explains(fd))
		stats_explain(fd, "not specialised", why);
}

void stats_replugged(struct file *file, enum guard why)
{
	stats.replugs[why]++;
	stats.reads += file->reads;
	file->reads = 0;
	if (stats_explains(file->fd))
		stats_explain(file->fd, "ordinary reads again", why);
}

void stats_specialised(struct file *file, int fd)
{
	stats.specialised++;
	if (file->guard)
		stats.distant++;
	if (stats_explains(fd))
		stats_explain(fd,
			      file->guard ? "specialised, by a lease of cosyd's" : "specialised",
			      GUARDS);
}

void stats_mapped(int fd, enum guard why)
{
	if (why == GUARDS)
		stats.maps++;
	else
		stats.declined[why]++;
	if (stats_explains(fd))
		stats_explain(fd, why == GUARDS ? "mapped" : "not mapped", why);
}

void stats_closed_explained(struct file *file, int fd)
{
	if (!stats_explains(fd) || file->refs > 2)
		return;
	if ((file_word(file) & WORD_PLAIN) && !file->stays_plain)
		stats_explain(fd, "closed unspecialised", GUARD_EARNED);
	else
		stats_explain(fd, "closed", GUARDS);
}

static void stats_print_guards(int to, const char *what, const unsigned long *counts)
{
	struct line line = {.len = 0};

	for (int guard = 0; guard < GUARDS; guard++) {
		if (!counts[guard])
			continue;
		line_format(&line, "%s%s %lu", line.len ? ", " : what, guard_name(guard),
			    counts[guard]);
	}
	if (line.len)
		line_print(&line, to);
}

static void stats_print_relaxed(int to)
{
	struct line line = {.len = 0};

	if (!stats.trunc && !stats.coalesce && !stats.reflink)
		return;
	line_format(&line,
		    "cosy: relaxed: trunc %lu, coalesce %lu writes into %lu, reflink %lu bytes",
		    stats.trunc, stats.coalesce, stats.coalesce_flushes, stats.reflink);
	line_print(&line, to);
}

static void stats_print_metadata(int to)
{
	struct line line = {.len = 0};

	if (!stats.metadata_reads)
		return;
	line_format(
		&line,
		"cosy: metadata: %lu calls served, from %lu entries of %lu reads of directories",
		stats.metadata_served, stats.metadata_entries, stats.metadata_reads);
	line_print(&line, to);
}

/* Reads the thread's name.  A filter that the program was started with may kill it for prctl(2). */
static void stats_name(char *name, size_t size)
{
	long fd = cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)"/proc/thread-self/comm",
				O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long len = fd < 0 ? 0 : cosy_syscall3(SYS_read, fd, (unsigned long)name, size);

	if (fd >= 0)
		cosy_syscall3(SYS_close, fd, 0, 0);
	/* It ends with a newline. */
	name[len > 0 ? len - 1 : 0] = 0;
}

static void stats_print_counts(int to)
{
	struct line line = {.len = 0};
	char name[17] = "";

	stats_name(name, sizeof(name));
	line_format(&line, "cosy: %s (%lu): %lu %s opened, %lu specialised", name,
		    (unsigned long)cosy_syscall3(SYS_getpid, 0, 0, 0), stats.opened,
		    stats.opened == 1 ? "file" : "files", stats.specialised);
	if (stats.distant)
		line_format(&line, " (%lu by cosyd)", stats.distant);
	line_format(&line,
		    "; reads: %lu specialised, %lu direct, %lu ordinary; %lu fetches of %lu bytes; "
		    "%lu mapped; %lu seeks kept",
		    stats.reads, stats.direct, stats.ordinary, stats.fetches, stats.fetched,
		    stats.maps, stats.seeks);
	line_print(&line, to);
}

/* Returns whether any call was left out or answered by this library. */
static bool stats_served(void)
{
	return stats.reads || stats.direct || stats.maps || stats.seeks || stats.trunc ||
	       stats.coalesce || stats.reflink;
}

/* Says why nothing was served: by the guard that most files failed, if one did. */
static void stats_print_nothing(int to)
{
	const char *were = stats.writable == 1 ? "file was" : "files were";
	struct line line = {.len = 0};
	int most = 0;

	for (int guard = 1; guard < GUARDS; guard++)
		if (stats.declined[guard] > stats.declined[most])
			most = guard;
	line_format(&line, "cosy: nothing was served: ");
	if (!stats.opened && stats.writable)
		line_format(
			&line,
			"%lu %s opened for reading and writing, none for reading only, and only such get a lease (READ_ONLY)",
			stats.writable, were);
	else if (!stats.opened)
		line_format(
			&line,
			"no file was opened for reading by libc's open(); files of stdio's have a buffer already");
	else if (stats.declined[most])
		line_format(&line, "%s does not hold (%s)", guard_name(most), guard_what(most));
	else if (stats.ordinary)
		line_format(&line, "too few reads of one file, or too large ones, to pay (EARNED)");
	else
		line_format(&line, "no file was read by libc's read() or pread()");
	line_print(&line, to);
	if (!stats.opened || !stats.writable)
		return;
	line_format(
		&line,
		"cosy: besides, %lu %s opened for reading and writing, and such get no lease (READ_ONLY)",
		stats.writable, were);
	line_print(&line, to);
}

/* Estimates as Synthetix §4.5 does, from the costs measured for window.c. */
static void stats_print_estimate(int to)
{
	struct line line = {.len = 0};
	unsigned long gain = stats.reads * SAVED_PER_READ + stats.seeks * SAVED_PER_SEEK;
	unsigned long cost = stats.specialised * COST_OF_SPECIALISE +
			     stats.fetches * COST_OF_FETCH + stats.fetched / BYTES_PER_NS +
			     stats.distant * LEASE_DISTANCE + stats.maps * MAP_COST;

	unsigned long us = (gain > cost ? gain - cost : cost - gain) / 1000;

	line_format(&line, "cosy: estimated %lu %s %s", us < 10000 ? us : us / 1000,
		    us < 10000 ? "us" : "ms", gain >= cost ? "saved" : "lost");
	line_print(&line, to);
}

static void stats_print(void)
{
	static bool printed;
	const char *asked = environment_get(ENVIRONMENT_STATS);
	struct outlet outlet;
	bool first;
	int to;

	if (!asked || printed)
		return;
	outlet_next(&outlet, &asked);
	first = *asked && number_next(&asked) == (unsigned long)cosy_syscall3(SYS_getpid, 0, 0, 0);
	/* Of what else a program starts only those that opened something have to say anything. */
	if (!first && !stats.opened && !stats.writable && !stats.trunc && !stats.coalesce &&
	    !stats.reflink && !stats.metadata_reads)
		return;
	printed = true;
	to = outlet_descriptor(&outlet);
	if (to < 0)
		return;
	stats_print_counts(to);
	stats_print_guards(to, "cosy: not specialised: ", stats.declined);
	stats_print_guards(to, "cosy: replugged: ", stats.replugs);
	stats_print_relaxed(to);
	stats_print_metadata(to);
	if (stats_served())
		stats_print_estimate(to);
	else
		stats_print_nothing(to);
}

static void (*stats_complete)(void);

void stats_end(void)
{
	if (!stats_asked)
		return;
	stats_complete();
	stats_explain_nothing();
	stats_print();
}

static void stats_at_exit(void *unused)
{
	(void)unused;
	stats_end();
}

int __cxa_atexit(void (*call)(void *), void *argument, void *library);

void stats_begin(void (*complete)(void))
{
	stats_complete = complete;
	stats_asked = true;
	NEXT(__cxa_atexit)(stats_at_exit, NULL, NULL);
}
