/* SPDX-License-Identifier: MIT */
/* generate.h - makes programs of bytes.  Nearly all validate, so that every byte matters. */
#ifndef COSY_FUZZ_GENERATE_H
#define COSY_FUZZ_GENERATE_H

#include "differential.h"

enum { GENERATE_MAX = 1024 };

struct source {
	const u8 *bytes;
	size_t left;
};

/* Returns the next byte, or 0 at the end. */
u8 source_byte(struct source *source);
u32 source_word(struct source *source);

/* Chooses how to sandbox and run: everything but the program. */
void generate_setting(struct source *source, struct differential *ret);

/*
 * Makes a program for that setting, of at most GENERATE_MAX instructions.  Returns their
 * number; *mutated tells that one of them was spoilt and may be refused.
 */
u32 generate_program(struct source *source, const struct differential *setting,
		     struct bpf_insn *insns, bool *mutated);

#endif /* COSY_FUZZ_GENERATE_H */
