/* SPDX-License-Identifier: MIT */
/*
 * bench.h - gives every benchmark program parameters, the clock, the result line.
 *
 *	PROGRAM DIRECTORY SMALL LARGE [NAME=VALUE...]
 *
 * A program is bench.c, a header that makes the ground the contenders meet on (db.h: the
 * file and the sequence of records), and one file with bench_work: the plain source
 * (db.c), which cosycc builds in three ways, or a peer's (../peers/db_uring.c).
 *
 * main does SMALL (or warm=) operations twice unmeasured, then times SMALL and LARGE operations in
 * one process: (large - small) / (LARGE - SMALL) is the cost of an operation, whatever the start of
 * a process, of a compound or of a ring costs.  It prints
 *
 *	result SMALL small LARGE large ANSWER
 *
 * ANSWER is what bench_work(LARGE) returned: it depends on every operation's outcome,
 * so contenders that did the same work agree on it, and bench/run.py looks.  Then, unless
 * check=0, bench_check compares bytes (compare.h).
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Prepares, in DIRECTORY, which is the current one, all that the operations need.  Not timed. */
void bench_prepare(void);

/* Does n operations. */
long bench_work(long n);

/*
 * Compares the bytes after bench_work(n) returned `answer`, and those of operations that the very
 * functions that were timed do again.
 */
void bench_check(long n, long answer);

/* Does bench_work(n) once more, for bench_check. */
long bench_again(long n);

/* Returns the value of NAME=VALUE on the command line, or `otherwise`. */
long bench_number(const char *name, long otherwise);
const char *bench_text(const char *name, const char *otherwise);

/* Surround what is not timed: emptying a socket, filling a file again. */
void bench_pause(void);
void bench_resume(void);

/* Takes ns off what is timed. */
void bench_discount(long long ns);
/* Returns the time of the clock that is used, in ns. */
long long bench_now(void);

/* Ends the program with "what: reason", when something failed that must not. */
_Noreturn void bench_fail(const char *what);

/* Makes a file of that many bytes, unless it is there, with the content of its name (content.h). */
void bench_file(const char *name, size_t size);

/* Makes a call that must not fail; yields its value. */
#define BENCH_TRY(call)                                                                            \
	({                                                                                         \
		long bench_it = (call);                                                            \
		if (bench_it < 0)                                                                  \
			bench_fail(#call);                                                         \
		bench_it;                                                                          \
	})

#endif /* BENCH_H */
