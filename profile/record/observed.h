/* SPDX-License-Identifier: MIT */
/*
 * observed.h - the processes and threads that a back end observes, by their numbers.
 */
#ifndef COSY_PROFILE_OBSERVED_H
#define COSY_PROFILE_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/event.h"
#include "record/space.h"

#define OBSERVED_BUCKETS 256
#define MAX_LIBRARIES	 64 /* descriptors at which a library may be open */

struct observed_process {
	struct observed_process *next;
	pid_t pid;
	unsigned int threads;
	bool quiet;	   /* still runs our code: the program has not been executed */
	bool leader_ended; /* before its other threads did; not reported yet */
	struct space *space;
	/* For BPF alone, because it does not stop a process to read its state. */
	char *libraries[MAX_LIBRARIES]; /* paths, by descriptor */
	char program[EVENT_MAX_PATH];	/* "": not known */
};

/* A back end's own structure of a thread begins with this one. */
struct observed_thread {
	struct observed_thread *next;
	struct observed_process *process; /* NULL: not known yet */
	pid_t tid;
};

struct observed {
	struct objects *objects;			    /* owned by the caller */
	size_t thread_size;				    /* bytes of a back end's structure */
	void (*thread_end)(struct observed_thread *thread); /* releases its parts; or NULL */
	struct observed_process *processes[OBSERVED_BUCKETS];
	struct observed_thread *threads[OBSERVED_BUCKETS];
	unsigned int n_threads;
};

/* Each returns the address of the pointer to an entry, which is NULL if there is none. */
struct observed_thread **thread_place(struct observed *observed, pid_t tid);
struct observed_process **process_place(struct observed *observed, pid_t pid);

/* Adds a thread of zero bytes whose process is not known yet.  NULL: no memory. */
struct observed_thread *thread_add(struct observed *observed, pid_t tid);

/* Assigns a thread to the process, which it adds if needed.  False: no memory. */
bool thread_join(struct observed *observed, struct observed_thread *thread, pid_t pid);

/* Returns the thread; adds it and its process if needed.  NULL: no memory. */
struct observed_thread *thread_create(struct observed *observed, pid_t pid, pid_t tid);

/* Removes a thread, and with a process's last thread the process. */
void thread_destroy(struct observed *observed, struct observed_thread **at);

/* Removes all threads and processes. */
void observed_drop(struct observed *observed);

void process_forget_libraries(struct observed_process *process);

#endif /* COSY_PROFILE_OBSERVED_H */
