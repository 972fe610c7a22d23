/* SPDX-License-Identifier: MIT */
/* execute.h - executes sequences in a process that may end at any of them. */
#ifndef FUZZ_EXECUTE_H
#define FUZZ_EXECUTE_H

#include <signal.h>

#include "compound.h"
#include "values.h"

/* Exit statuses of the process: what the kernel answered that it must not. */
enum verdict {
	VERDICT_FINE = 0,
	VERDICT_RESTART = 101, /* RUN returned a code of the kernel's own */
	VERDICT_STATUS,	       /* a status that there is none of */
	VERDICT_RESUME,	       /* an instruction that no compound has */
	VERDICT_POSITIVE,      /* RUN returned neither 0 nor an error, and was not in a call */
	VERDICT_HANDLE,	       /* LOAD gave handle 0 */
	VERDICT_RESUMED,       /* RUN went on from where no compound can be resumed */
	VERDICT_END
};
const char *verdict_text(int status);

enum { MAX_FORKS = 3, FORKED };

/* A thread of the sequence. */
struct actor {
	const struct sequence *sequence;
	uint8_t thread;
	uint32_t at;	/* in the steps */
	uint32_t end;	/* where a child of step_fork ends, or the number of steps */
	uint32_t forks; /* FORKED: it is a child that step_fork made */
	struct builder builder;
	struct cosy_run run;
};

/*
 * Executes all of it; cover is called by each thread at its start.  Returns whether the process can
 * execute another: no thread is left, and nothing that the steps did lasts (filters, rights, ...).
 * One that is not to go on ends here, some with threads in the middle of a step.
 */
bool sequence_execute(const struct sequence *sequence, uint32_t patience, bool goes_on,
		      void (*cover)(int thread));

/* Ends the process: something is wrong. */
void verdict_is(enum verdict verdict);

/* Has time for another step. */
bool time_is_left(void);

/* Each step's function; `arg` is its arguments.  They are in step_*.c. */
#define STEP(name, weight) void step_##name(struct actor *actor, const uint32_t *arg);
#define CODE(name, weight)
#include "steps.def"

#endif /* FUZZ_EXECUTE_H */
