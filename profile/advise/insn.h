/* SPDX-License-Identifier: MIT */
/* insn.h - lengths of x86-64 instructions, and where those lead that do not just go on. */
#ifndef COSY_PROFILE_INSN_H
#define COSY_PROFILE_INSN_H

#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,
	INSN_END,	     /* a return, or an instruction that never continues */
	INSN_JUMP,	     /* to `target` */
	INSN_BRANCH,	     /* to `target`, or not */
	INSN_BRANCH_EQUAL,   /* the same, if the last comparison was of equals */
	INSN_BRANCH_UNEQUAL, /* if not */
	INSN_POINTER_JUMP,   /* to an address in a register or in memory */
	INSN_CALL,	     /* of `target` */
	INSN_POINTER_CALL,   /* of an address in a register or in memory */
	INSN_MEMORY_CALL,    /* of an address in memory at `target`: a GOT entry or a variable */
	INSN_COMPARE_EINTR,  /* of 32 bits with that error's number */
};

struct insn {
	enum insn_kind kind;
	int64_t target; /* from the instruction's beginning */
};

struct decoder;

/* Returns a decoder, for one thread at a time; NULL without memory. */
struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *decoder);

/* Returns the length of the instruction at `code`; 0: it is none, or longer than `size`. */
unsigned int insn_decode(struct decoder *decoder, const uint8_t *code, size_t size,
			 struct insn *ret);

#endif /* COSY_PROFILE_INSN_H */
