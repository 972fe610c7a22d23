/* SPDX-License-Identifier: MIT */
/*
 * record.h - the back ends: each watches processes and hands over events (event.h).
 */
#ifndef COSY_PROFILE_RECORD_H
#define COSY_PROFILE_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/event.h"

/* Receivers of a back end's events, in order. */
struct record_sink {
	void (*take)(void *context, const struct event *event);
	void *context;
};

struct record_options {
	char **program;	   /* to be started, ends with NULL; or NULL: */
	const pid_t *pids; /* those to attach to */
	unsigned int n_pids;
	enum event_backend backend;
	void (*say)(enum event_backend backend); /* once the back end is known to be available */
	volatile sig_atomic_t *stop;
	bool (*begun)(void *context); /* when all are watched; false: it cannot go on */
	void *begun_context;
};

/* Its outcome; -errno in `error` if nothing could be recorded. */
struct record_result {
	int error;
	const char *reason;  /* what failed */
	const char *refusal; /* why this back end is unavailable, and advice; or NULL */
	bool refused;	     /* the back end is unavailable here; nothing was begun */
	pid_t program;	     /* 0: none was started */
	int status;	     /* of the program, as wait(2) has it; if it was not interrupted */
	bool interrupted;
};

/*
 * Attaches to each process that was named, by a back end's `attach`, which returns -errno.  One
 * that has ended is left out, and that is said; -ESRCH: all have.
 */
int record_attach(const struct record_options *options, int (*attach)(void *context, pid_t pid),
		  void *context);

/* True if the process is not there, or its first thread waits for nothing but wait(2). */
bool record_ended(pid_t pid);

/* ns that one getppid takes in this process: the cost of a crossing here. */
uint32_t record_null_call(void);

/*
 * Behaves like a program: reads one byte of `fd`, and some memory.  A back end adds more to such a
 * call than to getppid, because the call's data has left the caches meanwhile.
 */
void record_usual_call(int fd);

/* ns that it takes while nobody records, and how much of that is the call's. */
struct record_usual {
	uint32_t all, call;
};
struct record_usual record_usual(int fd);
/* The same again in fewer calls, while somebody records: ns that it takes in all. */
uint32_t record_usual_again(int fd);

/*
 * ns by which reading EVENT_BLOCK bytes of `fd` takes longer than one, and that copying them takes.
 */
struct record_blocks {
	uint32_t read, copy;
};
struct record_blocks record_blocks(int fd);

/* Says on a terminal, once a second, how it goes.  `cpu`: ns that recording has taken itself. */
struct record_progress {
	uint64_t began, told, calls;
};
void record_progress(struct record_progress *progress, uint64_t calls, uint64_t lost, uint64_t cpu);
/* Leaves the line empty. */
void record_progress_end(struct record_progress *progress);

/*
 * Records by BPF programs, on x64_sys_call or on tracepoints, which cosy-observe loads: for root
 * and for those who may execute it.  Fills `header` before the first event.  An error before that
 * is one of the back end: another may be tried.
 */
struct record_result record_bpf(const struct record_options *options, struct event_header *header,
				const struct record_sink *sink);

/*
 * Records by ptrace: for everybody, without a privilege, and slow.  Fills `header` before the first
 * event.
 */
struct record_result record_ptrace(const struct record_options *options,
				   struct event_header *header, const struct record_sink *sink);

#endif /* COSY_PROFILE_RECORD_H */
