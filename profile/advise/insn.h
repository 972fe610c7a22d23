/* SPDX-License-Identifier: MIT */
/* insn.h - lengths of x86-64 instructions, and where those lead that do not just go on. */
#ifndef COSY_PROFILE_INSN_H
#define COSY_PROFILE_INSN_H

#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,
	INSN_END,	     /* a return, or what never goes on */
	INSN_JUMP,	     /* to `target` */
	INSN_BRANCH,	     /* to `target`, or not */
	INSN_BRANCH_EQUAL,   /* the same, if the last comparison was of equals */
	INSN_BRANCH_UNEQUAL, /* if not */
	INSN_POINTER_JUMP,   /* to what a register or memory says */
	INSN_CALL,	     /* of `target` */
	INSN_POINTER_CALL,   /* of what a register or memory says */
	INSN_MEMORY_CALL, /* of what memory at `target` says: an entry of the GOT, or a variable */
	INSN_COMPARE_4,	  /* of 32 bits with 4, which is EINTR */
};

struct insn {
	enum insn_kind kind;
	int64_t target; /* from the instruction's beginning */
};

/* Returns the length of the instruction at `code`; 0: it is none, or longer than `size`. */
unsigned int insn_decode(const uint8_t *code, size_t size, struct insn *ret);

#endif /* COSY_PROFILE_INSN_H */
