/* SPDX-License-Identifier: MIT */
/*
 * event.h - the format of a recording: a header and then events, in the order in which the
 * calls ended within each thread.  A back end makes them, fold/ consumes them as they come, and a
 * file of them can be read again (`cosy profile --read`).
 *
 * Everything is little-endian and a multiple of 8 bytes long.  Times are nanoseconds of
 * CLOCK_MONOTONIC.  A reader accepts only EVENT_VERSION and skips no unknown event, so a new kind
 * or field needs a new version.
 */
#ifndef COSY_PROFILE_EVENT_H
#define COSY_PROFILE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EVENT_MAGIC   "COSYEVT\n"
#define EVENT_VERSION 5

#define EVENT_MAX_SIZE	 8192	      /* of one event, in bytes */
#define EVENT_MAX_PATH	 256	      /* of a path's bytes, more are cut; ends with a zero */
#define EVENT_MAX_FRAMES 32	      /* of a stack */
#define EVENT_MAX_TIME	 (1ULL << 48) /* that a call can take, or be after another one, in ns */

enum event_backend { EVENT_BACKEND_PTRACE = 1, EVENT_BACKEND_TRACEPOINT, EVENT_BACKEND_FENTRY };

/* Bytes that header.read_block and copy_block are about. */
#define EVENT_BLOCK 65536

struct event_header {
	char magic[8];
	uint32_t version;
	uint32_t size;	  /* of this header */
	uint32_t backend; /* enum event_backend */
	/*
	 * Calibrated ns of processor time that recording adds to a call's measured time.  Below 0:
	 * the part of the crossing that counts as time between two calls.
	 */
	int32_t call_cost;
	uint32_t gap_cost;   /* and between two calls of a thread */
	uint32_t null_call;  /* ns that getppid takes here while nobody records */
	uint32_t read_call;  /* and a read of one byte of a file */
	uint32_t added;	     /* ns that recording adds to a call in all: more than the two above */
	uint32_t read_block; /* ns that EVENT_BLOCK bytes from the page cache add to a read */
	uint32_t copy_block; /* ns that copying as many takes in a program */
};

enum event_kind {
	EVENT_CALL = 1,
	EVENT_OBJECT,	  /* a file that code is mapped from, before the first stack with it */
	EVENT_STACK,	  /* before the first call from it */
	EVENT_DESCRIPTOR, /* a descriptor that was open when recording began */
	EVENT_FORK,	  /* a process or a thread began */
	EVENT_EXEC,
	EVENT_EXIT, /* of a thread; of the process when it is the last one */
	EVENT_LOST, /* calls that are not here */
	EVENT_END,  /* the last event */
	EVENT_GAP,  /* since a thread's last call: before its EXIT, or before END if it goes on */
	EVENT_KINDS
};

struct event {
	uint16_t size; /* all of it, a multiple of 8 */
	uint8_t kind;  /* enum event_kind */
	uint8_t flags;
	uint32_t tid;
	uint64_t time;
};

/* Flags of a call. */
#define EVENT_SLEPT	    1 /* gave the processor up before it returned */
#define EVENT_CPU	    2 /* cpu and user are measured */
#define EVENT_PATH_CUT	    4
#define EVENT_FROM_POSITION 8 /* a lock by fcntl that is relative to the file's position */

struct event_call {
	struct event event; /* its time is that of entering the kernel */
	uint32_t pid;
	uint16_t nr;
	uint16_t path_size; /* bytes of path, its zero included; 0: the call has none */
	uint32_t stack;	    /* 0: unknown */
	uint32_t given; /* digest of the first bytes of the memory that it reads; 0: not taken */
	uint32_t made;	/* and of the memory that it has written */
	uint32_t unused;
	uint64_t took; /* by the clock */
	uint64_t cpu;  /* on the processor, in the kernel; recording's cost included */
	uint64_t user; /* on the processor since the call before; recording's cost included */
	int64_t ret;
	uint64_t args[6];
	char path[];
};

struct event_object {
	struct event event;
	uint32_t id;
	uint32_t libc; /* 1: the C library or the dynamic linker */
	uint32_t path_size;
	uint32_t syscall; /* where the C library's syscall(2) begins; 0: unknown */
	char path[];
};

struct event_frame {
	uint32_t object; /* 0: none is known */
	uint32_t unused;
	uint64_t address;  /* as the object's file has it */
	uint64_t function; /* where its function begins; 0: unknown */
};

struct event_stack {
	struct event event;
	uint32_t id;
	uint32_t frames; /* innermost first */
	struct event_frame frame[];
};

struct event_descriptor {
	struct event event;
	uint32_t pid;
	int32_t fd;
	uint32_t open_flags;
	uint32_t path_size;
	int64_t position; /* -1: none */
	char path[];
};

#define EVENT_FORK_THREAD 1 /* of the same process */
#define EVENT_FORK_FILES  2 /* another process with the same table of descriptors */

struct event_fork { /* its tid is the new one */
	struct event event;
	uint32_t pid, parent;
};

struct event_exec {
	struct event event;
	uint32_t pid;
	uint32_t path_size;
	char path[];
};

struct event_exit {
	struct event event;
	uint32_t pid;
	uint32_t last; /* 1: the process ends */
};

struct event_gap {
	struct event event;
	uint32_t pid;
	uint32_t unused;
	uint64_t user; /* as a call's: a call that has not ended is left out */
};

struct event_lost {
	struct event event;
	uint64_t calls;
};

struct event_end {
	struct event event;
	uint64_t calls; /* recorded */
	uint64_t took;	/* ns by the clock */
	uint64_t cpu;	/* ns that the recorder itself took */
};

/* Returns NULL if `event`, with `size` readable bytes, is well formed; otherwise the error. */
const char *event_check(const struct event *event, size_t size);

/* Returns the path of an event that has one, or NULL. */
const char *event_path(const struct event *event);

/* Write a recording.  Both return false, with errno set, if a write fails. */
bool event_file_begin(FILE *file, const struct event_header *header);
bool event_file_add(FILE *file, const struct event *event);

/*
 * Read a recording: the header, then event after event into `buffer`, of EVENT_MAX_SIZE bytes,
 * aligned to 8.  They return 1 for an event, 0 at the end of the file, -1 for an error in *why.
 */
int event_file_header(FILE *file, struct event_header *header, const char **why);
int event_file_next(FILE *file, struct event *buffer, const char **why);

#endif /* COSY_PROFILE_EVENT_H */
