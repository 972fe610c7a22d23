/* SPDX-License-Identifier: MIT */
/*
 * build.h - the insides of a builder.
 *
 *	build.c		the builder itself, values, code
 *	build_data.c	statements that compute, load, store and call
 *	build_flow.c	blocks, loops, switch, labels, functions
 *	build_link.c	functions joined and written out as a compound	cosy_compile
 *
 * Code is written in one pass.  Each statement loads its operands into r0-r5,
 * computes and stores; r9 is ctx throughout, in functions too.
 *
 *	variables of the compound	ctx, in order
 *	the "stopped" word		ctx, after them
 *	a function's variables		its spill frame, downwards from r10
 */
#ifndef COSY_LIB_BUILD_H
#define COSY_LIB_BUILD_H

#include "../../core/core.h"

#include <cosy/builder.h>

enum {
	REG_SCRATCH = BPF_REG_5,
	REG_CTX = BPF_REG_9,
	MAX_PARAMS = 5,
	MAX_LOCALS = COSY_FRAME_SIZE / 8,
	MAX_VARS = 4000, /* of the compound: an offset has 16 bits */
};

/* An instruction whose operand is known only when all code is written. */
enum libcosy_fixup_kind { FIX_JUMP, FIX_INVOKE, FIX_STOPPED };

struct libcosy_fixup {
	enum libcosy_fixup_kind kind;
	u32 insn;   /* in its function */
	u32 target; /* FIX_JUMP: label; FIX_INVOKE: function */
	u32 statement;
};

/* A growing array; see libcosy_build_grow. */
#define COSY_ARRAY(type)                                                                           \
	struct {                                                                                   \
		type *at;                                                                          \
		u32 count, room;                                                                   \
	}

/* The compound's own code is function 0. */
struct libcosy_code_of {
	COSY_ARRAY(struct bpf_insn) insns;
	COSY_ARRAY(struct libcosy_fixup) fixups;
	COSY_ARRAY(struct cosy_line) lines;
	u32 params;
	u32 locals; /* words of spill frame, hidden ones included */
	bool defined;
	bool reached; /* build_link.c: invoked from reachable code */
};

struct libcosy_label_at {
	u32 function;
	u32 insn; /* or NOT_PLACED */
};
#define NOT_PLACED (~0u)

enum libcosy_block_kind {
	BLOCK_IF,
	BLOCK_ELSE,
	BLOCK_WHILE,
	BLOCK_DO,
	BLOCK_FOR,
	BLOCK_SWITCH,
	BLOCK_FUNCTION
};

struct libcosy_open_block {
	enum libcosy_block_kind kind;
	u32 statement;
	u32 again, next, out; /* labels: the body; where continue goes; after it */
	/* BLOCK_FOR */
	int var, bound; /* bound: the local that holds `to`, or COSY_NO_VAR: use `to` itself */
	struct cosy_value to;
	enum cosy_operator op;
	s64 step;
	/* BLOCK_SWITCH */
	u32 first_case, otherwise;
	/* BLOCK_FUNCTION */
	u32 outside; /* the function around it: 0 */
};

struct libcosy_case_at {
	s64 value;
	u32 label;
};

struct cosy_builder {
	char *name;
	u32 statement;
	struct cosy_error error;
	int failed;  /* negative errno of the first mistake */
	u32 vars;    /* of the compound */
	u32 current; /* function being written */
	COSY_ARRAY(struct libcosy_code_of) functions;
	COSY_ARRAY(struct libcosy_label_at) labels;
	COSY_ARRAY(struct libcosy_open_block) blocks;
	COSY_ARRAY(struct libcosy_case_at) cases;
	COSY_ARRAY(char) strings;
	u64 max_steps, max_ns;
	bool stop_on_failure;
	int failed_var;
	u32 file, line; /* cosy_at: offset into strings, line */
};

/* Makes room for one more element.  False, and the builder has failed, without memory. */
bool libcosy_build_grow(struct cosy_builder *b, void *array, size_t element);
#define COSY_APPEND(b, array, ...)                                                                 \
	(libcosy_build_grow(b, &(array), sizeof(*(array).at))                                      \
		 ? ((array).at[(array).count++] = (__VA_ARGS__), true)                             \
		 : false)

/* Remembers the first mistake, with the statement's number. */
void libcosy_build_mistake(struct cosy_builder *b, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Counts a statement, as each does first.  False when there is a mistake already. */
bool libcosy_build_begin(struct cosy_builder *b);

static inline struct libcosy_code_of *libcosy_build_current(struct cosy_builder *b)
{
	return &b->functions.at[b->current];
}

/* --- Code ------------------------------------------------------------------------- */

void libcosy_build_emit(struct cosy_builder *b, u8 code, u8 dst, u8 src, s16 off, s32 imm);
void libcosy_build_imm(struct cosy_builder *b, u8 reg, s64 value);
void libcosy_build_fixup(struct cosy_builder *b, enum libcosy_fixup_kind kind, u32 target);
/* Loads the value, as it is when this is executed, into reg. */
void libcosy_build_get(struct cosy_builder *b, u8 reg, struct cosy_value value);
/* Stores reg into var; nothing for COSY_NO_VAR. */
void libcosy_build_put(struct cosy_builder *b, int var, u8 reg);
/* Makes a hidden variable in the spill frame of the current function. */
int libcosy_build_hidden_var(struct cosy_builder *b);

u32 libcosy_build_new_label(struct cosy_builder *b);
void libcosy_build_set_label(struct cosy_builder *b, u32 label);
void libcosy_build_jump(struct cosy_builder *b, u32 label);
/* Jumps to the label when `left op right` is `wanted`.  Uses r0 and r5. */
void libcosy_build_branch(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
			  struct cosy_value right, bool wanted, u32 label);
/* Jumps to the label when `jump` (BPF_JEQ ..) holds for reg and imm. */
void libcosy_build_branch_imm(struct cosy_builder *b, u8 jump, u8 reg, s32 imm, u32 label);
/* Ends the compound with r0, from inside a function too.  Uses r1. */
void libcosy_build_stop(struct cosy_builder *b);

bool libcosy_build_is_condition(enum cosy_operator op);

#endif /* COSY_LIB_BUILD_H */
