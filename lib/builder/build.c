// SPDX-License-Identifier: MIT
/* build.c - a builder's life, its values and its code; see build.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"

/*
 * Numbers a variable: bits 0 to 15 are its index, the bits above them the function that it is
 * local to plus 1, or 0 for a variable of the compound, in ctx.
 */
static int local_number(u32 function, u32 index)
{
	return (int)((function + 1) << 16 | index);
}

/* --- Life and mistakes ----------------------------------------------------------------- */

struct cosy_builder *cosy_builder_create(const char *name)
{
	struct cosy_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->failed_var = COSY_NO_VAR;
	b->name = strdup(name ? name : "");
	if (!b->name || !COSY_APPEND(b, b->functions, (struct libcosy_code_of){.defined = true})) {
		cosy_builder_destroy(b);
		return NULL;
	}
	/* The first string is the name; offset 0 also stands for "no file". */
	for (const char *c = b->name; !b->failed; c++) {
		if (!COSY_APPEND(b, b->strings, *c) || !*c)
			break;
	}
	libcosy_build_emit(b, BPF_ALU64 | BPF_X | BPF_MOV, REG_CTX, BPF_REG_1, 0, 0);
	if (b->failed) {
		cosy_builder_destroy(b);
		return NULL;
	}
	return b;
}

void cosy_builder_destroy(struct cosy_builder *b)
{
	if (!b)
		return;
	for (u32 i = 0; i < b->functions.count; i++) {
		free(b->functions.at[i].insns.at);
		free(b->functions.at[i].fixups.at);
		free(b->functions.at[i].lines.at);
	}
	free(b->functions.at);
	free(b->labels.at);
	free(b->blocks.at);
	free(b->cases.at);
	free(b->strings.at);
	free(b->name);
	free(b);
}

bool libcosy_build_grow(struct cosy_builder *b, void *array, size_t element)
{
	COSY_ARRAY(char) *a = array;
	char *at;
	u32 room;

	if (a->count < a->room)
		return true;
	room = a->room ? a->room * 2 : 16;
	at = realloc(a->at, room * element);
	if (!at) {
		libcosy_build_mistake(b, -ENOMEM, "out of memory");
		return false;
	}
	a->at = at;
	a->room = room;
	return true;
}

void libcosy_build_mistake(struct cosy_builder *b, int err, const char *format, ...)
{
	va_list args;

	if (b->failed)
		return;
	b->failed = err;
	b->error.statement = b->statement;
	b->error.insn = ~0u;
	va_start(args, format);
	vsnprintf(b->error.reason, sizeof(b->error.reason), format, args);
	va_end(args);
}

bool libcosy_build_begin(struct cosy_builder *b)
{
	struct libcosy_code_of *code;

	if (b->failed)
		return false;
	b->statement++;
	code = libcosy_build_current(b);
	if (b->line) {
		struct cosy_line line = {
			.insn = code->insns.count, .file = b->file, .line = b->line};

		/* A statement without code gives way to the next. */
		if (code->lines.count && code->lines.at[code->lines.count - 1].insn == line.insn)
			code->lines.count--;
		COSY_APPEND(b, code->lines, line);
	}
	return !b->failed;
}

uint32_t cosy_statement(const struct cosy_builder *b)
{
	return b->statement;
}

void cosy_at(struct cosy_builder *b, const char *file, uint32_t line)
{
	const char *last = b->strings.at + b->file;

	if (b->failed)
		return;
	b->line = line;
	if (b->file && !strcmp(last, file))
		return;
	b->file = b->strings.count;
	do {
		if (!COSY_APPEND(b, b->strings, *file))
			return;
	} while (*file++);
}

/* --- Variables ----------------------------------------------------------------------------- */

int libcosy_build_hidden_var(struct cosy_builder *b)
{
	struct libcosy_code_of *code = libcosy_build_current(b);

	if (b->failed)
		return COSY_NO_VAR;
	if (code->locals == MAX_LOCALS) {
		libcosy_build_mistake(b, -E2BIG, "more than %d variables in one function",
				      MAX_LOCALS);
		return COSY_NO_VAR;
	}
	return local_number(b->current, code->locals++);
}

int cosy_var(struct cosy_builder *b)
{
	if (b->failed)
		return COSY_NO_VAR;
	if (!b->current) {
		if (b->vars < MAX_VARS)
			return (int)b->vars++;
		libcosy_build_mistake(b, -E2BIG, "more than %d variables", MAX_VARS);
		return COSY_NO_VAR;
	}
	/* In a loop it is the same word in each iteration, and keeps its value. */
	return libcosy_build_hidden_var(b);
}

int cosy_param(struct cosy_builder *b, unsigned int index)
{
	if (b->failed)
		return COSY_NO_VAR;
	if (!b->current || index >= libcosy_build_current(b)->params) {
		libcosy_build_mistake(b, -EINVAL, "there is no parameter %u here", index);
		return COSY_NO_VAR;
	}
	/* The prologue (cosy_define) has put them in the first words. */
	return local_number(b->current, index);
}

/* Finds a variable's base register and offset.  False, and a mistake, when there is none. */
static bool var_find(struct cosy_builder *b, int var, u8 *base, s16 *off)
{
	u32 owner = (u32)var >> 16, index = var & 0xffff;

	if (var < 0) {
		libcosy_build_mistake(b, -EINVAL, "%d is no variable", var);
		return false;
	}
	if (!owner) {
		*base = REG_CTX;
		*off = (s16)(index * 8);
		if (index >= b->vars)
			libcosy_build_mistake(b, -EINVAL, "there is no variable %d", var);
		return index < b->vars;
	}
	*base = BPF_REG_10;
	*off = (s16)(-8 * ((int)index + 1));
	if (owner - 1 != b->current) {
		libcosy_build_mistake(b, -EINVAL, "the variable belongs to another function");
		return false;
	}
	if (index >= libcosy_build_current(b)->locals)
		libcosy_build_mistake(b, -EINVAL, "there is no variable %d", var);
	return index < libcosy_build_current(b)->locals;
}

/* --- Code ----------------------------------------------------------------------------------- */

void libcosy_build_emit(struct cosy_builder *b, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	struct bpf_insn insn = {
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm};

	if (b->failed)
		return;
	if (libcosy_build_current(b)->insns.count >= COSY_MAX_INSNS)
		libcosy_build_mistake(b, -E2BIG, "more than %u instructions", COSY_MAX_INSNS);
	else
		COSY_APPEND(b, libcosy_build_current(b)->insns, insn);
}

void libcosy_build_imm(struct cosy_builder *b, u8 reg, s64 value)
{
	if (value == (s32)value) {
		libcosy_build_emit(b, BPF_ALU64 | BPF_K | BPF_MOV, reg, 0, 0, (s32)value);
	} else {
		libcosy_build_emit(b, BPF_LD | BPF_IMM | BPF_DW, reg, 0, 0, (s32)value);
		libcosy_build_emit(b, 0, 0, 0, 0, (s32)(value >> 32));
	}
}

void libcosy_build_fixup(struct cosy_builder *b, enum libcosy_fixup_kind kind, u32 target)
{
	if (!b->failed)
		COSY_APPEND(b, libcosy_build_current(b)->fixups,
			    (struct libcosy_fixup){.kind = kind,
						   .insn = libcosy_build_current(b)->insns.count,
						   .target = target,
						   .statement = b->statement});
}

void libcosy_build_get(struct cosy_builder *b, u8 reg, struct cosy_value value)
{
	u8 base;
	s16 off;

	if (b->failed)
		return;
	if (value.kind == COSY_VALUE_INT) {
		libcosy_build_imm(b, reg, value.value);
		return;
	}
	if (!var_find(b, value.var, &base, &off))
		return;
	if (value.kind == COSY_VALUE_REF) {
		libcosy_build_emit(b, BPF_LDX | BPF_MEM | BPF_DW, reg, base, off, 0);
		return;
	}
	if (base == BPF_REG_10) {
		libcosy_build_mistake(b, -EINVAL, "a function's variable has no address");
		return;
	}
	libcosy_build_emit(b, BPF_ALU64 | BPF_X | BPF_MOV, reg, base, 0, 0);
	libcosy_build_emit(b, BPF_ALU64 | BPF_K | BPF_ADD, reg, 0, 0, off);
}

void libcosy_build_put(struct cosy_builder *b, int var, u8 reg)
{
	u8 base;
	s16 off;

	if (var != COSY_NO_VAR && !b->failed && var_find(b, var, &base, &off))
		libcosy_build_emit(b, BPF_STX | BPF_MEM | BPF_DW, base, reg, off, 0);
}
