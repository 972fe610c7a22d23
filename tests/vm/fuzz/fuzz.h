/* SPDX-License-Identifier: MIT */
/* fuzz.h - what the workers share: options, coverage, corpus, journal, counts. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdatomic.h>

#include "sequence.h"

enum {
	MAX_WORKERS = 16,
	MAX_LOT = 32,
	MAX_CORPUS = 4096,
	MAX_POINTS = 1 << 21,
	MAX_EDGES = 1 << 20
};

struct options {
	uint64_t seed, first, sequences, seconds;
	uint64_t times;		  /* each sequence is executed by --replay */
	uint32_t patience;	  /* times as long as usual may all take */
	uint32_t workers, memory; /* megabytes that a sequence may use; 0: all */
	uint32_t lot;		  /* sequences that one process may execute */
	const char *corpus, *replay;
	bool minimize, print;
};
extern struct options options;

/* Of all workers; executed processes do not see it. */
struct shared {
	_Atomic uint64_t executed, processes, killed, by_signal, points;
	_Atomic bool failed;
	_Atomic uint32_t corpus_cnt;
	_Atomic uint32_t corpus_lock;
	struct sequence corpus[MAX_CORPUS];
	_Atomic uint8_t point[MAX_POINTS / 8];
	_Atomic uint8_t edge[MAX_EDGES / 8];
};
extern struct shared *shared;

/* --- cover.c: which code of cosy.ko a sequence reaches ------------------------------------- */

/* As root.  Returns whether the kernel can tell. */
bool cover_init(void);
void cover_keep(void);	       /* from the processes of sequences; in each worker, at its start */
void cover_begin(int worker);  /* before the sequence's process is made */
void cover_thread(int thread); /* in each of its threads */
/* Notes what is new: points of code, or pairs of them. */
void cover_end(uint32_t *points, uint32_t *edges);
/*
 * Stands for it where the kernel does not tell: notes which of the module's counters have changed
 * since it was called last, a little or much.  Returns how many did so for the first time.
 */
uint32_t cover_counters(void);
/* Prints the points as offsets in the module. */
void cover_print(void);

/* --- corpus.c: sequences that reached something new ----------------------------------------- */

void corpus_read(const char *path);
void corpus_add(const struct sequence *sequence);
/* Makes the sequence of that index: a mutant of the corpus, or new. */
void corpus_next(uint64_t index, bool guided, struct sequence *ret);

/* --- journal.c: a disk that the host reads when this machine is gone -------------------------- */

void journal_init(void);
/* Notes which sequences the worker is about to execute, from that index on. */
void journal_note(uint32_t worker, uint64_t index, uint32_t count);
/* Notes one that does not follow from its index, as text. */
void journal_note_text(uint32_t worker, uint64_t index, const struct sequence *sequence);
/* Writes the corpus there. */
void journal_keep(void);

/* --- worker.c --------------------------------------------------------------------------------- */

/* Executes sequences; returns when no more are wanted, or one failed. */
void worker_run(uint32_t worker, bool guided);
/*
 * Executes some by one process after the other, each of which begins where the one before it ended;
 * prints what failed.  Returns whether they did well.
 */
bool worker_execute(uint32_t worker, const struct sequence *sequences, uint32_t count);
/* Makes the worker's directory, before the first sequence. */
void worker_init(uint32_t worker);

#endif /* FUZZ_FUZZ_H */
