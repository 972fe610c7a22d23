/* SPDX-License-Identifier: MIT */
/* sequence.h - a sequence of steps: what is generated, executed, kept and printed. */
#ifndef FUZZ_SEQUENCE_H
#define FUZZ_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STEP_ARGS = 6, MAX_STEPS = 48, MAX_THREADS = 3, MAX_TEXT = 8192 };

enum step_kind {
#define STEP(name, weight) STEP_##name,
#include "steps.def"
	STEP_KINDS
};

/* Its arguments are choices: values.c says what each stands for. */
struct step {
	uint8_t kind; /* enum step_kind */
	uint8_t thread;
	uint16_t zero;
	uint32_t arg[STEP_ARGS];
};

struct sequence {
	uint32_t count;
	bool follows; /* the process of the one before it executes it */
	struct step steps[MAX_STEPS];
};

extern const char *const step_names[STEP_KINDS];

/* Returns whether it adds to a compound. */
bool step_is_code(enum step_kind kind);
/* Returns whether the process that made it may not be what it was: its rights, filters, life. */
bool step_lasts(enum step_kind kind);

/*
 * Writes it as text, a line for each step: its name, its thread, its arguments in hexadecimal
 * without the zeros at the end.  One that follows has a line "# follows" before it.  Returns the
 * bytes, without the NUL.
 */
size_t sequence_write(const struct sequence *sequence, char *text, size_t size);

/*
 * Reads the next of several that are set apart by empty lines; *text then points behind it.  Other
 * lines that begin with # are ignored.  Returns false at the end; ends the process at a line that
 * is none.
 */
bool sequence_read(const char **text, struct sequence *ret);

/* --- Chance: the same numbers for the same seed ------------------------------------- */

void chance_seed(uint64_t seed, uint64_t index);
/* Returns a number below that, or any. */
uint64_t chance_below(uint64_t below);

/* --- grammar.c, mutate.c ------------------------------------------------------------- */

/* Makes a new one. */
void sequence_generate(struct sequence *ret);

/* Changes it in one to four places; `other` gives what is spliced in. */
void sequence_mutate(struct sequence *sequence, const struct sequence *other);

/* Appends some generated steps. */
void sequence_extend(struct sequence *sequence);

#endif /* FUZZ_SEQUENCE_H */
