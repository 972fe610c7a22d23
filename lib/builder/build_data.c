// SPDX-License-Identifier: MIT
/* build_data.c - statements that compute, load, store and call; see build.h. */
#include <errno.h>

#include "builder/build.h"

/* Errors are the 4095 highest numbers. */
#define LOWEST_ERROR (-4095)

void cosy_assign(struct cosy_builder *b, int dst, struct cosy_value value)
{
	if (!libcosy_build_begin(b))
		return;
	libcosy_build_get(b, BPF_REG_0, value);
	libcosy_build_put(b, dst, BPF_REG_0);
}

/* --- Arithmetic ---------------------------------------------------------------------- */

struct alu {
	u8 op;
	s16 off; /* 1: signed division */
};

static bool arith_find(enum cosy_operator op, struct alu *ret)
{
	static const struct alu table[] = {
		[COSY_ADD] = {BPF_ADD, 0},  [COSY_SUB] = {BPF_SUB, 0}, [COSY_MUL] = {BPF_MUL, 0},
		[COSY_DIV] = {BPF_DIV, 1},  [COSY_MOD] = {BPF_MOD, 1}, [COSY_UDIV] = {BPF_DIV, 0},
		[COSY_UMOD] = {BPF_MOD, 0}, [COSY_AND] = {BPF_AND, 0}, [COSY_OR] = {BPF_OR, 0},
		[COSY_XOR] = {BPF_XOR, 0},  [COSY_SHL] = {BPF_LSH, 0}, [COSY_SHR] = {BPF_ARSH, 0},
		[COSY_USHR] = {BPF_RSH, 0},
	};

	if ((unsigned int)op > COSY_USHR)
		return false;
	*ret = table[op];
	return true;
}

static bool value_is_constant(struct cosy_value value)
{
	return value.kind == COSY_VALUE_INT && value.value == (s32)value.value;
}

/* Finds what C leaves undefined, which the validator would refuse without naming a statement. */
static bool arith_check_constant(struct cosy_builder *b, enum cosy_operator op, s64 value)
{
	bool divides = op == COSY_DIV || op == COSY_MOD || op == COSY_UDIV || op == COSY_UMOD;
	bool shifts = op == COSY_SHL || op == COSY_SHR || op == COSY_USHR;

	if (divides && !value)
		libcosy_build_mistake(b, -EINVAL, "division by the constant 0");
	if (shifts && (value < 0 || value > 63))
		libcosy_build_mistake(b, -EINVAL, "shift by %lld of a 64-bit value",
				      (long long)value);
	return !b->failed;
}

/* Puts 1 into dst where the condition holds, else 0. */
static void condition_put(struct cosy_builder *b, int dst, struct cosy_value left,
			  enum cosy_operator op, struct cosy_value right)
{
	u32 taken = libcosy_build_new_label(b);

	libcosy_build_get(b, BPF_REG_1, cosy_int(1));
	libcosy_build_branch(b, left, op, right, true, taken);
	libcosy_build_get(b, BPF_REG_1, cosy_int(0));
	libcosy_build_set_label(b, taken);
	libcosy_build_put(b, dst, BPF_REG_1);
}

static void logical_put(struct cosy_builder *b, int dst, struct cosy_value left,
			enum cosy_operator op, struct cosy_value right)
{
	bool is_or = op == COSY_LOR;
	u32 decided = libcosy_build_new_label(b);

	libcosy_build_get(b, BPF_REG_1, cosy_int(is_or));
	libcosy_build_branch(b, left, COSY_NE, cosy_int(0), is_or, decided);
	libcosy_build_branch(b, right, COSY_NE, cosy_int(0), is_or, decided);
	libcosy_build_get(b, BPF_REG_1, cosy_int(!is_or));
	libcosy_build_set_label(b, decided);
	libcosy_build_put(b, dst, BPF_REG_1);
}

void cosy_arith(struct cosy_builder *b, int dst, struct cosy_value left, enum cosy_operator op,
		struct cosy_value right)
{
	struct alu alu;

	if (!libcosy_build_begin(b))
		return;
	if (libcosy_build_is_condition(op)) {
		condition_put(b, dst, left, op, right);
	} else if (op == COSY_LAND || op == COSY_LOR) {
		logical_put(b, dst, left, op, right);
	} else if (!arith_find(op, &alu)) {
		libcosy_build_mistake(b, -EINVAL, "%d is no operator", op);
	} else {
		libcosy_build_get(b, BPF_REG_0, left);
		if (value_is_constant(right) && arith_check_constant(b, op, right.value)) {
			libcosy_build_emit(b, BPF_ALU64 | BPF_K | alu.op, BPF_REG_0, 0, alu.off,
					   (s32)right.value);
		} else {
			libcosy_build_get(b, REG_SCRATCH, right);
			libcosy_build_emit(b, BPF_ALU64 | BPF_X | alu.op, BPF_REG_0, REG_SCRATCH,
					   alu.off, 0);
		}
		libcosy_build_put(b, dst, BPF_REG_0);
	}
}

void cosy_unary(struct cosy_builder *b, int dst, enum cosy_unary_operator op,
		struct cosy_value value)
{
	if (!libcosy_build_begin(b))
		return;
	switch (op) {
	case COSY_NEG:
		libcosy_build_get(b, BPF_REG_0, value);
		libcosy_build_emit(b, BPF_ALU64 | BPF_NEG, BPF_REG_0, 0, 0, 0);
		libcosy_build_put(b, dst, BPF_REG_0);
		return;
	case COSY_NOT:
		libcosy_build_get(b, BPF_REG_0, value);
		libcosy_build_emit(b, BPF_ALU64 | BPF_K | BPF_XOR, BPF_REG_0, 0, 0, -1);
		libcosy_build_put(b, dst, BPF_REG_0);
		return;
	case COSY_LNOT:
		condition_put(b, dst, value, COSY_EQ, cosy_int(0));
		return;
	}
	libcosy_build_mistake(b, -EINVAL, "%d is no operator", op);
}

/* --- Widths -------------------------------------------------------------------------- */

struct width {
	u8 size; /* BPF_B .. */
	u8 bits;
	bool is_signed;
};

static bool width_find(struct cosy_builder *b, enum cosy_width width, struct width *ret)
{
	static const struct width table[] = {
		[COSY_U8] = {BPF_B, 8, false},	 [COSY_S8] = {BPF_B, 8, true},
		[COSY_U16] = {BPF_H, 16, false}, [COSY_S16] = {BPF_H, 16, true},
		[COSY_U32] = {BPF_W, 32, false}, [COSY_S32] = {BPF_W, 32, true},
		[COSY_64] = {BPF_DW, 64, false},
	};

	if ((unsigned int)width > COSY_64) {
		libcosy_build_mistake(b, -EINVAL, "%d is no width", width);
		return false;
	}
	*ret = table[width];
	return true;
}

void cosy_convert(struct cosy_builder *b, int dst, struct cosy_value value, enum cosy_width width)
{
	struct width w;

	if (!libcosy_build_begin(b) || !width_find(b, width, &w))
		return;
	libcosy_build_get(b, BPF_REG_0, value);
	if (w.is_signed) {
		libcosy_build_emit(b, BPF_ALU64 | BPF_X | BPF_MOV, BPF_REG_0, BPF_REG_0, w.bits, 0);
	} else if (w.bits < 64) {
		libcosy_build_emit(b, BPF_ALU64 | BPF_K | BPF_LSH, BPF_REG_0, 0, 0, 64 - w.bits);
		libcosy_build_emit(b, BPF_ALU64 | BPF_K | BPF_RSH, BPF_REG_0, 0, 0, 64 - w.bits);
	}
	libcosy_build_put(b, dst, BPF_REG_0);
}

/* Adds base and offset into REG_SCRATCH.  Returns the part of it that the access itself adds. */
static s16 address_get(struct cosy_builder *b, struct cosy_value base, struct cosy_value offset)
{
	libcosy_build_get(b, REG_SCRATCH, base);
	if (offset.kind == COSY_VALUE_INT && offset.value == (s16)offset.value)
		return (s16)offset.value;
	libcosy_build_get(b, BPF_REG_4, offset);
	libcosy_build_emit(b, BPF_ALU64 | BPF_X | BPF_ADD, REG_SCRATCH, BPF_REG_4, 0, 0);
	return 0;
}

void cosy_load_from(struct cosy_builder *b, int dst, struct cosy_value base,
		    struct cosy_value offset, enum cosy_width width)
{
	struct width w;
	s16 off;

	if (!libcosy_build_begin(b) || !width_find(b, width, &w))
		return;
	off = address_get(b, base, offset);
	libcosy_build_emit(b, BPF_LDX | (w.is_signed ? BPF_MEMSX : BPF_MEM) | w.size, BPF_REG_0,
			   REG_SCRATCH, off, 0);
	libcosy_build_put(b, dst, BPF_REG_0);
}

void cosy_store_to(struct cosy_builder *b, struct cosy_value base, struct cosy_value offset,
		   enum cosy_width width, struct cosy_value value)
{
	struct width w;
	s16 off;

	if (!libcosy_build_begin(b) || !width_find(b, width, &w))
		return;
	off = address_get(b, base, offset);
	libcosy_build_get(b, BPF_REG_0, value);
	libcosy_build_emit(b, BPF_STX | BPF_MEM | w.size, REG_SCRATCH, BPF_REG_0, off, 0);
}

/* --- System calls ------------------------------------------------------------------------ */

/* Ends the compound if r0 is a negative errno, with the number of the statement. */
static void call_stop_if_failed(struct cosy_builder *b)
{
	u32 fine = libcosy_build_new_label(b);

	libcosy_build_branch_imm(b, BPF_JLT, BPF_REG_0, LOWEST_ERROR, fine);
	if (b->failed_var != COSY_NO_VAR) {
		libcosy_build_imm(b, BPF_REG_1, b->statement);
		libcosy_build_put(b, b->failed_var, BPF_REG_1);
	}
	libcosy_build_stop(b);
	libcosy_build_set_label(b, fine);
}

void cosy_call(struct cosy_builder *b, int dst, uint32_t number, unsigned int count,
	       const struct cosy_value *args)
{
	const struct cosy_call *call = cosy_call_find(number);

	if (!libcosy_build_begin(b))
		return;
	if (!call) {
		libcosy_build_mistake(b, -EINVAL, "there is no call %u", number);
		return;
	}
	if (!(call->flags & COSY_CALL_ALLOWED)) {
		libcosy_build_mistake(b, -EINVAL, "%s: %s", call->name, cosy_call_denied(call));
		return;
	}
	if (count > 6) {
		libcosy_build_mistake(b, -EINVAL, "%s: %u arguments, a call has at most 6",
				      call->name, count);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		libcosy_build_get(b, i < 5 ? BPF_REG_1 + i : BPF_REG_0, args[i]);
	libcosy_build_emit(b, BPF_JMP | BPF_CALL, 0, 0, 0, (s32)number);
	libcosy_build_put(b, dst, BPF_REG_0);
	if (b->stop_on_failure && (number < COSY_OP_BASE || call->flags & COSY_CALL_COMPOSITE))
		call_stop_if_failed(b);
}
