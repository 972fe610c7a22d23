/* SPDX-License-Identifier: MIT */
/*
 * real.h - makes the model's world real, with the same content at the same addresses of this
 * process, so that the module and libcosy's interpreter can run what the reference runs.  Calls are
 * those whose answer does not change.
 */
#ifndef COSY_FUZZ_REAL_H
#define COSY_FUZZ_REAL_H

#include "generate.h"

enum { REAL_BUFFER_SIZE = 8192, REAL_LIMIT = 400 };
#define REAL_BUFFER_BASE 0x10000000ull

/* Maps the areas; `device` holds the shared buffer, or is -1: plain memory. */
void real_map(int device);

/* Makes a program for the real world; 0: these bytes give none. */
u32 real_program(const u8 *bytes, size_t size, struct differential *setting,
		 struct bpf_insn insns[GENERATE_MAX]);

/* Sets up the model's world and the real one, with equal content. */
void real_worlds(const struct differential *setting, struct world *model, struct world *real);

/*
 * Interprets by libcosy from instruction *at to the end, or to the next one that carries one of the
 * marks `stop` (RUN_LEFT).  On RUN_FAULT, RUN_TRAP and RUN_STACK it was stopped by the signal that
 * it is meant to get; *at is then as before, so it is where that was only with accesses and resume
 * points in `stop`.  Without them, an access across the stack's end is RUN_STACK.
 */
enum outcome real_interpret(const struct cosy_validated *program, struct world *real,
			    struct cosy_state *state, u32 *at, u32 stop);

#endif /* COSY_FUZZ_REAL_H */
