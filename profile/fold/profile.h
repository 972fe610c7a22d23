/* SPDX-License-Identifier: MIT */
/*
 * profile.h - a folded recording: sums and structure, no single call.
 * Numbers of sites, symbols, stacks and rows begin at 1; 0 is none.  Times are recorded ns: readers
 * subtract the cost of recording (event_header.call_cost), which is known for sums only.
 */
#ifndef COSY_PROFILE_PROFILE_H
#define COSY_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "fold/timeline.h"
#include "record/event.h"

/* A descriptor refers to one of these; `none` is of calls that use none. */
enum file_kind {
	FILE_NONE,
	FILE_REGULAR,
	FILE_DIRECTORY,
	FILE_DEVICE,
	FILE_PROC,
	FILE_SOCKET,
	FILE_PIPE,
	FILE_OTHER,
	FILE_KINDS
};

/* Calls that cost alike and that Cosy treats alike; advise/model.def has a line for each. */
enum call_class {
#define CLASS(name, ...) CLASS_##name,
#include "advise/model.def"
	CLASSES
};

struct sums {
	uint64_t calls, errors;
	uint64_t cpu, user; /* ns on the processor, in calls and between them */
	uint64_t took;	    /* by the clock, in calls */
	uint64_t slept;	    /* calls that gave the processor up */
	uint64_t paths;	    /* calls that look a path up (COSY_CALL_PATH) */
	struct {
		uint64_t calls, cpu;
	} of[CLASSES];
};

/* A place that makes one kind of call on one kind of file. */
struct site {
	uint16_t nr;
	uint8_t file;		       /* enum file_kind */
	uint32_t stack;		       /* 0: no frame of it is the program's own */
	bool libc;		       /* and that is known: the C library makes it for itself */
	uint32_t row;		       /* that its loops are in */
	struct sums all, outside;      /* outside: not in any loop */
	uint64_t useless, useless_cpu; /* calls that changed nothing and said nothing new */
};

/* A call, or a sequence that repeats. */
struct symbol {
	uint32_t site;	      /* of a call; 0: a loop */
	uint32_t body, len;   /* of a loop: symbols, from profile.bodies[body] */
	uint32_t match;	      /* symbols with the same one are taken for each other */
	uint32_t stack, skip; /* the innermost frame that all of its calls have in common */
	uint32_t calls;	      /* in one turn */
	uint64_t total;	      /* calls, over all */
};

struct stack {
	uint32_t first, len; /* profile.frames */
	uint32_t user;	     /* the first frame that is not the C library's; len: none */
	bool raw;	     /* made by the C library's syscall(2) */
};

/* Says whose code makes a call. */
enum call_origin {
	ORIGIN_PROGRAM, /* the program's, by a function of the C library; or unknown */
	ORIGIN_LIBC,	/* the C library, for its own purposes */
	ORIGIN_BARE,	/* the program's, by syscall(2), or without a C library of its own */
};

/* Loops at one place of the source, which one region could hold. */
struct profile_row {
	uint32_t symbol; /* the loop with most of the calls */
	uint32_t variants;
	uint32_t object;
	uint64_t function; /* in which they are; 0: unknown */
	uint64_t address;  /* in it, of a call of that symbol */
	uint64_t entries, turns;
	uint32_t processes, last_process;
	struct sums sums;
	uint32_t merged; /* into that row; 0: it stands for itself */
};

enum edge_kind { EDGE_DESCRIPTOR, EDGE_BUFFER, EDGE_COUNT, EDGE_POSITION, EDGE_PATH, EDGES };

/* A value that a call takes from an earlier one in the same thread. */
struct edge {
	uint32_t from, to; /* sites */
	uint8_t kind;	   /* enum edge_kind */
	bool varied;	   /* the value was not always the same */
	int64_t value;
	uint64_t held;	 /* times */
	uint64_t broken; /* of a buffer: it was the same, the bytes were not */
};

/* From open to close, alike ones together. */
struct session {
	uint8_t file;
	bool cut;	     /* the beginning is missing */
	uint32_t first, len; /* profile.bodies */
	uint64_t times, calls, cpu;
};

enum run_reason {
#define REASON(name, text) RUN_##name,
#include "fold/reasons.def"
	RUN_REASONS
};

/* Sums of reads that `cosy run` would serve, and of the calls around them. */
struct run_served {
	uint64_t calls, cpu, bytes;
	uint64_t seeks, windows, random, fetches, fetched; /* as in run_sums */
};

/* A file whose reads it would serve. */
struct run_file {
	char path[EVENT_MAX_PATH]; /* relative to the directory that the program was started in */
	uint32_t program;	   /* programs */
	char started[EVENT_MAX_PATH]; /* the path that it was executed by; "": not known */
	bool first;		      /* the recorded program itself, not one that it started */
	struct run_served served;
};

/* Foretells what `cosy run` would make of the reads of files. */
struct run_sums {
	uint64_t calls[RUN_REASONS], cpu[RUN_REASONS], bytes[RUN_REASONS];
	uint64_t seeks;		    /* lseeks that would not reach the kernel */
	uint64_t windows, programs; /* windows made; execs and processes */
	uint64_t random;	    /* served reads at another place than the previous one */
	uint64_t fetches, fetched;  /* fills of windows, and bytes of them */
	uint64_t earlier;	    /* served reads of files that were open when recording began */
};

enum relax_kind { RELAX_TRUNC, RELAX_COALESCE, RELAXES };

/* Calls that `cosy run --relax` would make cheaper, and their files. */
struct relax_sums {
	uint64_t files, calls, cpu;
	uint64_t writes, bytes; /* of trunc */
};

enum useless_kind {
#define USELESS(name, ...) USELESS_##name,
#include "fold/useless.def"
	USELESS_KINDS
};

#define MAX_PROGRAMS 32

/* Programs that were executed, from 1 on; 0: those not known, or beyond the last. */
struct programs {
	uint32_t n;
	struct {
		char path[EVENT_MAX_PATH];
		uint64_t calls;
	} of[MAX_PROGRAMS + 1];
};

struct profile {
	struct event_header header;
	struct sums sums;
	uint64_t lost, recorded, took, recorder_cpu;
	uint64_t first, last; /* times */
	uint64_t forgotten;   /* calls counted with less detail because a table was full */
	uint32_t processes, threads;
	uint32_t running;	      /* processes that went on when the recording ended */
	char program[EVENT_MAX_PATH]; /* the first */
	struct programs programs;

	struct site *sites;
	struct symbol *symbols;
	uint32_t *bodies;
	struct stack *stacks;
	struct event_frame *frames;
	struct object_name {
		char path[EVENT_MAX_PATH];
		bool libc;
		uint32_t syscall; /* as event_object's */
	} *objects;
	struct profile_row *rows;
	struct edge *edges;
	struct session *sessions;
	uint32_t n_sites, n_symbols, n_bodies, n_stacks, n_frames, n_objects, n_rows, n_edges,
		n_sessions;

	struct timeline timeline;
	struct run_sums run;
	struct run_file *run_files; /* from 1 on; not all that would be served */
	uint32_t n_run_files;
	struct relax_sums relax[RELAXES];
	struct {
		uint64_t files, calls, cpu;
	} fresh; /* truncated and written, and maybe empty before */
	struct {
		uint64_t calls, of, cpu;
		uint32_t site; /* with most of them */
		uint64_t site_calls;
	} useless[USELESS_KINDS];
};

/* Returns the innermost frame of a stack that is the program's own, or NULL. */
static inline const struct event_frame *profile_frame(const struct profile *profile, uint32_t stack)
{
	const struct stack *of;

	if (!stack || stack > profile->n_stacks)
		return NULL;
	of = &profile->stacks[stack];
	return of->user < of->len ? &profile->frames[of->first + of->user] : NULL;
}

#endif /* COSY_PROFILE_PROFILE_H */
