// SPDX-License-Identifier: MIT
/* build_flow.c - blocks, loops, switch, labels, functions; see build.h. */
#include <errno.h>

#include "builder/build.h"

static const char *const block_names[] = {
	[BLOCK_IF] = "if",
	[BLOCK_ELSE] = "else",
	[BLOCK_WHILE] = "while",
	[BLOCK_DO] = "do",
	[BLOCK_FOR] = "for",
	[BLOCK_SWITCH] = "switch",
	[BLOCK_FUNCTION] = "function",
};

/* --- Labels and branches ----------------------------------------------------------------- */

u32 libcosy_build_new_label(struct cosy_builder *b)
{
	if (!b->failed)
		COSY_APPEND(b, b->labels, (struct libcosy_label_at){b->current, NOT_PLACED});
	return b->labels.count - 1;
}

void libcosy_build_set_label(struct cosy_builder *b, u32 label)
{
	if (!b->failed)
		b->labels.at[label].insn = libcosy_build_current(b)->insns.count;
}

void libcosy_build_jump(struct cosy_builder *b, u32 label)
{
	libcosy_build_fixup(b, FIX_JUMP, label);
	libcosy_build_emit(b, BPF_JMP | BPF_JA, 0, 0, 0, 0);
}

void libcosy_build_branch_imm(struct cosy_builder *b, u8 jump, u8 reg, s32 imm, u32 label)
{
	libcosy_build_fixup(b, FIX_JUMP, label);
	libcosy_build_emit(b, BPF_JMP | BPF_K | jump, reg, 0, 0, imm);
}

bool libcosy_build_is_condition(enum cosy_operator op)
{
	return op >= COSY_EQ && op <= COSY_TEST;
}

static u8 condition_jump(enum cosy_operator op)
{
	static const u8 table[] = {
		[COSY_EQ] = BPF_JEQ,  [COSY_NE] = BPF_JNE,    [COSY_LT] = BPF_JSLT,
		[COSY_LE] = BPF_JSLE, [COSY_GT] = BPF_JSGT,   [COSY_GE] = BPF_JSGE,
		[COSY_ULT] = BPF_JLT, [COSY_ULE] = BPF_JLE,   [COSY_UGT] = BPF_JGT,
		[COSY_UGE] = BPF_JGE, [COSY_TEST] = BPF_JSET,
	};

	return table[op];
}

/* Returns the condition that holds when `op` does not; COSY_TEST has none. */
static enum cosy_operator condition_opposite(enum cosy_operator op)
{
	switch (op) {
	case COSY_EQ:
		return COSY_NE;
	case COSY_NE:
		return COSY_EQ;
	case COSY_LT:
		return COSY_GE;
	case COSY_LE:
		return COSY_GT;
	case COSY_GT:
		return COSY_LE;
	case COSY_GE:
		return COSY_LT;
	case COSY_ULT:
		return COSY_UGE;
	case COSY_ULE:
		return COSY_UGT;
	case COSY_UGT:
		return COSY_ULE;
	case COSY_UGE:
		return COSY_ULT;
	default:
		return op;
	}
}

void libcosy_build_branch(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
			  struct cosy_value right, bool wanted, u32 label)
{
	u32 past;

	if (!libcosy_build_is_condition(op)) {
		libcosy_build_mistake(b, -EINVAL, "operator %d is no condition", op);
		return;
	}
	if (!wanted && op == COSY_TEST) {
		past = libcosy_build_new_label(b);
		libcosy_build_branch(b, left, op, right, true, past);
		libcosy_build_jump(b, label);
		libcosy_build_set_label(b, past);
		return;
	}
	if (!wanted)
		op = condition_opposite(op);
	libcosy_build_get(b, BPF_REG_0, left);
	if (right.kind == COSY_VALUE_INT && right.value == (s32)right.value) {
		libcosy_build_branch_imm(b, condition_jump(op), BPF_REG_0, (s32)right.value, label);
		return;
	}
	libcosy_build_get(b, REG_SCRATCH, right);
	libcosy_build_fixup(b, FIX_JUMP, label);
	libcosy_build_emit(b, BPF_JMP | BPF_X | condition_jump(op), BPF_REG_0, REG_SCRATCH, 0, 0);
}

int cosy_label(struct cosy_builder *b)
{
	return b->failed ? -1 : (int)libcosy_build_new_label(b);
}

static bool label_check(struct cosy_builder *b, int label)
{
	if (label < 0 || (u32)label >= b->labels.count)
		libcosy_build_mistake(b, -EINVAL, "there is no label %d", label);
	else if (b->labels.at[label].function != b->current)
		libcosy_build_mistake(b, -EINVAL, "the label belongs to another function");
	return !b->failed;
}

void cosy_place(struct cosy_builder *b, int label)
{
	if (!libcosy_build_begin(b) || !label_check(b, label))
		return;
	if (b->labels.at[label].insn != NOT_PLACED)
		libcosy_build_mistake(b, -EINVAL, "the label is placed already");
	libcosy_build_set_label(b, label);
}

void cosy_goto(struct cosy_builder *b, int label)
{
	if (libcosy_build_begin(b) && label_check(b, label))
		libcosy_build_jump(b, label);
}

/* --- Blocks ---------------------------------------------------------------------------------- */

static struct libcosy_open_block *block_open(struct cosy_builder *b, enum libcosy_block_kind kind)
{
	struct libcosy_open_block block = {.kind = kind, .statement = b->statement};

	block.again = libcosy_build_new_label(b);
	block.next = libcosy_build_new_label(b);
	block.out = libcosy_build_new_label(b);
	if (b->failed || !COSY_APPEND(b, b->blocks, block))
		return NULL;
	return &b->blocks.at[b->blocks.count - 1];
}

/* Returns the innermost block, or NULL; in a function the outermost one is the function's. */
static struct libcosy_open_block *block_innermost(struct cosy_builder *b)
{
	return b->blocks.count ? &b->blocks.at[b->blocks.count - 1] : NULL;
}

static struct libcosy_open_block *block_expect(struct cosy_builder *b, enum libcosy_block_kind kind,
					       const char *what)
{
	struct libcosy_open_block *block = block_innermost(b);

	if (!block)
		libcosy_build_mistake(b, -EINVAL, "%s without %s", what, block_names[kind]);
	else if (block->kind != kind)
		libcosy_build_mistake(b, -EINVAL, "%s inside the %s of statement %u", what,
				      block_names[block->kind], block->statement);
	return b->failed ? NULL : block;
}

void cosy_if(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
	     struct cosy_value right)
{
	struct libcosy_open_block *block;

	if (libcosy_build_begin(b) && (block = block_open(b, BLOCK_IF)))
		libcosy_build_branch(b, left, op, right, false, block->next);
}

void cosy_else(struct cosy_builder *b)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !(block = block_expect(b, BLOCK_IF, "else")))
		return;
	libcosy_build_jump(b, block->out);
	libcosy_build_set_label(b, block->next);
	block->kind = BLOCK_ELSE;
}

void cosy_while(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
		struct cosy_value right)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !(block = block_open(b, BLOCK_WHILE)))
		return;
	libcosy_build_set_label(b, block->next);
	libcosy_build_branch(b, left, op, right, false, block->out);
}

void cosy_do(struct cosy_builder *b)
{
	struct libcosy_open_block *block;

	if (libcosy_build_begin(b) && (block = block_open(b, BLOCK_DO)))
		libcosy_build_set_label(b, block->again);
}

void cosy_do_while(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
		   struct cosy_value right)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !(block = block_expect(b, BLOCK_DO, "do_while")))
		return;
	libcosy_build_set_label(b, block->next);
	libcosy_build_branch(b, left, op, right, true, block->again);
	libcosy_build_set_label(b, block->out);
	b->blocks.count--;
}

void cosy_for(struct cosy_builder *b, int var, struct cosy_value from, enum cosy_operator op,
	      struct cosy_value to, int64_t step)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !(block = block_open(b, BLOCK_FOR)))
		return;
	block->var = var;
	block->op = op;
	block->step = step;
	block->to = to;
	libcosy_build_get(b, BPF_REG_0, from);
	libcosy_build_put(b, var, BPF_REG_0);
	if (to.kind != COSY_VALUE_INT) {
		block->to = cosy_ref(libcosy_build_hidden_var(b));
		libcosy_build_get(b, BPF_REG_0, to);
		libcosy_build_put(b, block->to.var, BPF_REG_0);
	}
	libcosy_build_branch(b, cosy_ref(var), op, block->to, false, block->out);
	libcosy_build_set_label(b, block->again);
}

static void for_end(struct cosy_builder *b, const struct libcosy_open_block *block)
{
	libcosy_build_set_label(b, block->next);
	libcosy_build_get(b, BPF_REG_0, cosy_ref(block->var));
	if (block->step == (s32)block->step) {
		libcosy_build_emit(b, BPF_ALU64 | BPF_K | BPF_ADD, BPF_REG_0, 0, 0,
				   (s32)block->step);
	} else {
		libcosy_build_imm(b, REG_SCRATCH, block->step);
		libcosy_build_emit(b, BPF_ALU64 | BPF_X | BPF_ADD, BPF_REG_0, REG_SCRATCH, 0, 0);
	}
	libcosy_build_put(b, block->var, BPF_REG_0);
	libcosy_build_branch(b, cosy_ref(block->var), block->op, block->to, true, block->again);
	libcosy_build_set_label(b, block->out);
}

/* --- Switch --------------------------------------------------------------------------------- */

/* The value stays in r0 from here to the comparisons, which come after the cases. */
void cosy_switch(struct cosy_builder *b, struct cosy_value value)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !(block = block_open(b, BLOCK_SWITCH)))
		return;
	block->first_case = b->cases.count;
	block->otherwise = block->out;
	libcosy_build_get(b, BPF_REG_0, value);
	libcosy_build_jump(b, block->again);
}

void cosy_case(struct cosy_builder *b, int64_t value)
{
	struct libcosy_open_block *block;
	u32 label;

	if (!libcosy_build_begin(b) || !(block = block_expect(b, BLOCK_SWITCH, "case")))
		return;
	for (u32 i = block->first_case; i < b->cases.count; i++) {
		if (b->cases.at[i].value == value) {
			libcosy_build_mistake(b, -EINVAL, "case %lld is there already",
					      (long long)value);
			return;
		}
	}
	label = libcosy_build_new_label(b);
	libcosy_build_set_label(b, label);
	if (!b->failed)
		COSY_APPEND(b, b->cases, (struct libcosy_case_at){value, label});
}

void cosy_default(struct cosy_builder *b)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !(block = block_expect(b, BLOCK_SWITCH, "default")))
		return;
	if (block->otherwise != block->out)
		libcosy_build_mistake(b, -EINVAL, "a second default");
	block->otherwise = libcosy_build_new_label(b);
	libcosy_build_set_label(b, block->otherwise);
}

static void switch_end(struct cosy_builder *b, const struct libcosy_open_block *block)
{
	libcosy_build_jump(b, block->out);
	libcosy_build_set_label(b, block->again);
	for (u32 i = block->first_case; i < b->cases.count && !b->failed; i++) {
		const struct libcosy_case_at *at = &b->cases.at[i];

		if (at->value == (s32)at->value) {
			libcosy_build_branch_imm(b, BPF_JEQ, BPF_REG_0, (s32)at->value, at->label);
			continue;
		}
		libcosy_build_imm(b, REG_SCRATCH, at->value);
		libcosy_build_fixup(b, FIX_JUMP, at->label);
		libcosy_build_emit(b, BPF_JMP | BPF_X | BPF_JEQ, BPF_REG_0, REG_SCRATCH, 0, 0);
	}
	libcosy_build_jump(b, block->otherwise);
	libcosy_build_set_label(b, block->out);
	b->cases.count = block->first_case;
}

/* --- End, break, continue ------------------------------------------------------------------- */

static void function_end(struct cosy_builder *b, const struct libcosy_open_block *block)
{
	libcosy_build_imm(b, BPF_REG_0, 0);
	libcosy_build_emit(b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	b->current = block->outside;
}

void cosy_end(struct cosy_builder *b)
{
	struct libcosy_open_block block;

	if (!libcosy_build_begin(b))
		return;
	if (!b->blocks.count) {
		libcosy_build_mistake(b, -EINVAL, "nothing to end here");
		return;
	}
	block = *block_innermost(b);
	switch (block.kind) {
	case BLOCK_IF:
		libcosy_build_set_label(b, block.next);
		break;
	case BLOCK_ELSE:
		libcosy_build_set_label(b, block.out);
		break;
	case BLOCK_WHILE:
		libcosy_build_jump(b, block.next);
		libcosy_build_set_label(b, block.out);
		break;
	case BLOCK_DO:
		libcosy_build_mistake(b, -EINVAL, "the do of statement %u ends with do_while",
				      block.statement);
		break;
	case BLOCK_FOR:
		for_end(b, &block);
		break;
	case BLOCK_SWITCH:
		switch_end(b, &block);
		break;
	case BLOCK_FUNCTION:
		function_end(b, &block);
		break;
	}
	b->blocks.count--;
}

/* Returns the block that break (continue: without `or_switch`) is about, or NULL. */
static const struct libcosy_open_block *block_around(struct cosy_builder *b, bool or_switch)
{
	for (u32 i = b->blocks.count; i--;) {
		switch (b->blocks.at[i].kind) {
		case BLOCK_SWITCH:
			if (!or_switch)
				continue;
			return &b->blocks.at[i];
		case BLOCK_WHILE:
		case BLOCK_DO:
		case BLOCK_FOR:
			return &b->blocks.at[i];
		case BLOCK_FUNCTION:
			return NULL;
		default:
			continue;
		}
	}
	return NULL;
}

void cosy_break(struct cosy_builder *b)
{
	const struct libcosy_open_block *block;

	if (!libcosy_build_begin(b))
		return;
	block = block_around(b, true);
	if (block)
		libcosy_build_jump(b, block->out);
	else
		libcosy_build_mistake(b, -EINVAL, "break outside of a loop or switch");
}

void cosy_continue(struct cosy_builder *b)
{
	const struct libcosy_open_block *block;

	if (!libcosy_build_begin(b))
		return;
	block = block_around(b, false);
	if (block)
		libcosy_build_jump(b, block->next);
	else
		libcosy_build_mistake(b, -EINVAL, "continue outside of a loop");
}

/* --- Functions ------------------------------------------------------------------------------ */

int cosy_declare(struct cosy_builder *b, unsigned int params)
{
	if (b->failed)
		return -1;
	if (params > MAX_PARAMS) {
		libcosy_build_mistake(b, -EINVAL, "%u parameters, a function has at most %d",
				      params, MAX_PARAMS);
		return -1;
	}
	if (!COSY_APPEND(b, b->functions,
			 (struct libcosy_code_of){.params = params, .locals = params}))
		return -1;
	return (int)b->functions.count - 1;
}

static bool function_check(struct cosy_builder *b, int function)
{
	if (function < 1 || (u32)function >= b->functions.count)
		libcosy_build_mistake(b, -EINVAL, "there is no function %d", function);
	return !b->failed;
}

void cosy_define(struct cosy_builder *b, int function)
{
	struct libcosy_open_block *block;

	if (!libcosy_build_begin(b) || !function_check(b, function))
		return;
	if (b->current) {
		libcosy_build_mistake(b, -EINVAL, "a function inside a function");
		return;
	}
	if (b->functions.at[function].defined) {
		libcosy_build_mistake(b, -EINVAL, "function %d is defined already", function);
		return;
	}
	block = block_open(b, BLOCK_FUNCTION);
	if (!block)
		return;
	block->outside = b->current;
	b->current = function;
	libcosy_build_current(b)->defined = true;
	/* Save the parameters before the operation zeroes r1-r5; then r9 = ctx, as everywhere. */
	for (u32 i = 0; i < libcosy_build_current(b)->params; i++)
		libcosy_build_put(b, cosy_param(b, i), BPF_REG_1 + i);
	libcosy_build_emit(b, BPF_JMP | BPF_CALL, 0, 0, 0, COSY_OP_ctx);
	libcosy_build_emit(b, BPF_ALU64 | BPF_X | BPF_MOV, REG_CTX, BPF_REG_0, 0, 0);
}

int cosy_function(struct cosy_builder *b, unsigned int params)
{
	int function = cosy_declare(b, params);

	cosy_define(b, function);
	return function;
}

void cosy_return(struct cosy_builder *b, struct cosy_value value)
{
	if (!libcosy_build_begin(b))
		return;
	if (!b->current) {
		libcosy_build_mistake(b, -EINVAL, "return outside of a function; use cosy_stop");
		return;
	}
	libcosy_build_get(b, BPF_REG_0, value);
	libcosy_build_emit(b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Has the compound stop: the function sets "stopped" and returns, and so does each caller. */
void libcosy_build_stop(struct cosy_builder *b)
{
	if (b->current) {
		libcosy_build_imm(b, BPF_REG_1, 1);
		libcosy_build_fixup(b, FIX_STOPPED, 0);
		libcosy_build_emit(b, BPF_STX | BPF_MEM | BPF_DW, REG_CTX, BPF_REG_1, 0, 0);
	}
	libcosy_build_emit(b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void cosy_stop(struct cosy_builder *b, struct cosy_value value)
{
	if (!libcosy_build_begin(b))
		return;
	libcosy_build_get(b, BPF_REG_0, value);
	libcosy_build_stop(b);
}

void cosy_invoke(struct cosy_builder *b, int dst, int function, unsigned int count,
		 const struct cosy_value *args)
{
	u32 go_on;

	if (!libcosy_build_begin(b) || !function_check(b, function))
		return;
	if (count != b->functions.at[function].params) {
		libcosy_build_mistake(b, -EINVAL, "%u arguments, function %d has %u parameters",
				      count, function, b->functions.at[function].params);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		libcosy_build_get(b, BPF_REG_1 + i, args[i]);
	libcosy_build_fixup(b, FIX_INVOKE, function);
	libcosy_build_emit(b, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
	libcosy_build_fixup(b, FIX_STOPPED, 0);
	libcosy_build_emit(b, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, REG_CTX, 0, 0);
	go_on = libcosy_build_new_label(b);
	libcosy_build_branch_imm(b, BPF_JEQ, BPF_REG_1, 0, go_on);
	libcosy_build_emit(b, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	libcosy_build_set_label(b, go_on);
	libcosy_build_put(b, dst, BPF_REG_0);
}

/* --- Modes ---------------------------------------------------------------------------------- */

void cosy_limit_steps(struct cosy_builder *b, uint64_t steps)
{
	b->max_steps = steps;
}

void cosy_limit_time(struct cosy_builder *b, uint64_t ns)
{
	b->max_ns = ns;
}

void cosy_stop_on_failure(struct cosy_builder *b, int var)
{
	b->stop_on_failure = true;
	b->failed_var = var;
}

void cosy_go_on_after_failure(struct cosy_builder *b)
{
	b->stop_on_failure = false;
}
