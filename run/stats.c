// SPDX-License-Identifier: MIT
/* stats.c - see stats.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/printable.h"
#include "environment.h"
#include "file/lease.h"
#include "file/map.h"
#include "file/price.h"
#include "file/policy.h"
#include "file/window.h"
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

/* A line under construction; safe in a signal handler, too. */
struct line {
	char text[400];
	size_t len;
};

static void line_text(struct line *line, const char *text)
{
	while (*text && line->len < sizeof(line->text) - 1)
		line->text[line->len++] = *text++;
}

static void line_number(struct line *line, unsigned long number)
{
	char digits[24], *digit = digits + sizeof(digits) - 1;

	*digit = 0;
	do {
		*--digit = '0' + number % 10;
		number /= 10;
	} while (number);
	line_text(line, digit);
}

/* Prints the line.  Names in it are those of programs and files. */
static void line_print(struct line *line, int to)
{
	line->text[line->len] = 0;
	printable_clean(line->text);
	line->len = strlen(line->text);
	line->text[line->len++] = '\n';
	cosy_syscall3(SYS_write, to, (unsigned long)line->text, line->len);
	line->len = 0;
}

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
 * Returns a descriptor of it.  The program may have closed the copy, and its own standard error, and
 * opened files of its own by these numbers: where both are gone it is -1.
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
	line_text(&line, "cosy: ");
	line_text(&line, explained.path);
	line_text(&line, ", descriptor ");
	line_number(&line, fd);
	line_text(&line, ": ");
	line_text(&line, what);
	if (why < GUARDS) {
		line_text(&line, ": ");
		line_text(&line, guard_name(why));
		line_text(&line, " does not hold (");
		line_text(&line, guard_what(why));
		line_text(&line, ")");
	}
	policy_find(fd, 0, &policy);
	if (policy.place[0]) {
		line_text(&line, "; rule ");
		line_text(&line, policy.place);
	}
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
	line_text(&line, "cosy: ");
	line_text(&line, explained.path);
	line_text(&line, ": ");
	line_text(&line, environment_program());
	line_text(&line, " (");
	line_number(&line, process);
	line_text(&line, ") has not opened it by libc's open(); files of stdio's have a buffer "
			 "already");
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

static void stats_add_reads(struct file *file)
{
	if (!(file_word(file) & WORD_PLAIN) && file->leased)
		stats.reads += file->reads;
	file->reads = 0;
}

static void stats_print_guards(int to, const char *what, const unsigned long *counts)
{
	struct line line = {.len = 0};

	for (int guard = 0; guard < GUARDS; guard++) {
		if (!counts[guard])
			continue;
		line_text(&line, line.len ? ", " : what);
		line_text(&line, guard_name(guard));
		line_text(&line, " ");
		line_number(&line, counts[guard]);
	}
	if (line.len)
		line_print(&line, to);
}

static void stats_print_relaxed(int to)
{
	struct line line = {.len = 0};

	if (!stats.trunc && !stats.coalesce && !stats.reflink)
		return;
	line_text(&line, "cosy: relaxed: trunc ");
	line_number(&line, stats.trunc);
	line_text(&line, ", coalesce ");
	line_number(&line, stats.coalesce);
	line_text(&line, " writes into ");
	line_number(&line, stats.coalesce_flushes);
	line_text(&line, ", reflink ");
	line_number(&line, stats.reflink);
	line_text(&line, " bytes");
	line_print(&line, to);
}

static void stats_print_metadata(int to)
{
	struct line line = {.len = 0};

	if (!stats.metadata_reads)
		return;
	line_text(&line, "cosy: metadata: ");
	line_number(&line, stats.metadata_served);
	line_text(&line, " calls served, from ");
	line_number(&line, stats.metadata_entries);
	line_text(&line, " entries of ");
	line_number(&line, stats.metadata_reads);
	line_text(&line, " reads of directories");
	line_print(&line, to);
}

static void stats_print_counts(int to)
{
	struct line line = {.len = 0};
	char name[16] = "";

	cosy_syscall3(SYS_prctl, PR_GET_NAME, (unsigned long)name, 0);
	line_text(&line, "cosy: ");
	line_text(&line, name);
	line_text(&line, " (");
	line_number(&line, cosy_syscall3(SYS_getpid, 0, 0, 0));
	line_text(&line, "): ");
	line_number(&line, stats.opened);
	line_text(&line, stats.opened == 1 ? " file opened, " : " files opened, ");
	line_number(&line, stats.specialised);
	line_text(&line, " specialised");
	if (stats.distant) {
		line_text(&line, " (");
		line_number(&line, stats.distant);
		line_text(&line, " by cosyd)");
	}
	line_text(&line, "; reads: ");
	line_number(&line, stats.reads);
	line_text(&line, " specialised, ");
	line_number(&line, stats.direct);
	line_text(&line, " direct, ");
	line_number(&line, stats.ordinary);
	line_text(&line, " ordinary; ");
	line_number(&line, stats.fetches);
	line_text(&line, " fetches of ");
	line_number(&line, stats.fetched);
	line_text(&line, " bytes; ");
	line_number(&line, stats.maps);
	line_text(&line, " mapped; ");
	line_number(&line, stats.seeks);
	line_text(&line, " seeks kept");
	line_print(&line, to);
}

/* Tells whether any call was left out or answered by this library. */
static bool stats_served(void)
{
	return stats.reads || stats.direct || stats.maps || stats.seeks || stats.trunc ||
	       stats.coalesce || stats.reflink;
}

/* Says why nothing was served: by the guard that most files failed, if one did. */
static void stats_print_nothing(int to)
{
	struct line line = {.len = 0};
	int most = 0;

	for (int guard = 1; guard < GUARDS; guard++)
		if (stats.declined[guard] > stats.declined[most])
			most = guard;
	line_text(&line, "cosy: nothing was served: ");
	if (!stats.opened && stats.writable) {
		line_number(&line, stats.writable);
		line_text(&line, stats.writable == 1 ? " file was" : " files were");
		line_text(&line, " opened for reading and writing, none for reading only, and only "
				 "such get a lease (READ_ONLY)");
	} else if (!stats.opened) {
		line_text(&line, "no file was opened for reading by libc's open(); files of "
				 "stdio's have a buffer already");
	} else if (stats.declined[most]) {
		line_text(&line, guard_name(most));
		line_text(&line, " does not hold (");
		line_text(&line, guard_what(most));
		line_text(&line, ")");
	} else if (stats.ordinary) {
		line_text(&line, "too few reads of one file, or too large ones, to pay (EARNED)");
	} else {
		line_text(&line, "no file was read by libc's read() or pread()");
	}
	line_print(&line, to);
	if (!stats.opened || !stats.writable)
		return;
	line_text(&line, "cosy: besides, ");
	line_number(&line, stats.writable);
	line_text(&line, stats.writable == 1 ? " file was" : " files were");
	line_text(&line, " opened for reading and writing, and such get no lease (READ_ONLY)");
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

	line_text(&line, "cosy: estimated ");
	line_number(&line, us < 10000 ? us : us / 1000);
	line_text(&line, us < 10000 ? " us " : " ms ");
	line_text(&line, gain >= cost ? "saved" : "lost");
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
	file_each(stats_add_reads);
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

void stats_end(void)
{
	if (!stats_asked)
		return;
	stats_explain_nothing();
	stats_print();
}

static void stats_at_exit(void *unused)
{
	(void)unused;
	stats_end();
}

int __cxa_atexit(void (*call)(void *), void *argument, void *library);

void stats_begin(void)
{
	stats_asked = true;
	NEXT(__cxa_atexit)(stats_at_exit, NULL, NULL);
}
