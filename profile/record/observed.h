/* SPDX-License-Identifier: MIT */
/*
 * observed.h - the processes and threads that BPF programs observe, by their numbers.  Their state
 * is derived from their calls, because they are never stopped.
 */
#ifndef COSY_PROFILE_OBSERVED_H
#define COSY_PROFILE_OBSERVED_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/bpf/observation.h"
#include "record/event.h"
#include "record/space.h"

#define OBSERVED_BUCKETS 256
#define MAX_LIBRARIES	 64 /* descriptors at which a library may be open */

/* The fields of both are as observation.h has them. */
struct observed_process {
	struct observed_process *next;
	pid_t pid;
	unsigned int threads;
	bool quiet;	   /* ours still: the program has not been executed */
	bool leader_ended; /* before its other threads: not reported yet */
	struct space *space;
	char *libraries[MAX_LIBRARIES]; /* paths, by descriptor */
	char program[EVENT_MAX_PATH];	/* "": not known */
};

struct observed_thread {
	struct observed_thread *next;
	struct observed_process *process;
	pid_t tid;
	uint32_t stacks[OBSERVATION_KNOWN]; /* the last ones sent, by their numbers */
	uint32_t leaving;		    /* the stack of an execve that is under way, */
	char path[EVENT_MAX_PATH];	    /* and its path; "": none is */
};

struct observed {
	struct objects *objects; /* owned by the caller */
	struct observed_process *processes[OBSERVED_BUCKETS];
	struct observed_thread *threads[OBSERVED_BUCKETS];
	unsigned int n_threads;
};

/* Each returns the pointer to the one of that number, which is NULL if there is none. */
struct observed_thread **thread_place(struct observed *observed, pid_t tid);
struct observed_process **process_place(struct observed *observed, pid_t pid);

/* Returns the thread, which it makes, and its process, unless they are there; NULL: no memory. */
struct observed_thread *thread_create(struct observed *observed, pid_t pid, pid_t tid);

/* Forgets a thread, and its process with the last one. */
void thread_destroy(struct observed *observed, struct observed_thread **at);

void process_forget_libraries(struct observed_process *process);

#endif /* COSY_PROFILE_OBSERVED_H */
