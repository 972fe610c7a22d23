// SPDX-License-Identifier: MIT
/*
 * insn.c - see insn.h.  Of an opcode it is to be known whether a ModRM byte comes after it, and how
 * long the immediate is.
 */
#include <stdbool.h>
#include <string.h>

#include "advise/insn.h"

#define MAX_INSN 15

enum {
	MODRM = 0x10,
	IMM_8 = 1,
	IMM_16 = 2,
	IMM_24 = 3,
	IMM_32 = 4,   /* 16 bits where an operand is that short */
	REL_32 = 5,   /* 32 bits always */
	IMM_FULL = 6, /* as long as the operand */
	OFFSET = 7,   /* an address */
	TEST = 8,     /* an immediate only where ModRM says test */
	INVALID = 0xff,
};

/* clang-format off */

/* Operations of one byte from 0x60; below they come in eights, see opcode_byte. */
static const uint8_t one_byte[] = {
	/* 60 */ INVALID, INVALID, INVALID, MODRM, INVALID, INVALID, INVALID, INVALID,
	/* 68 */ IMM_32, MODRM | IMM_32, IMM_8, MODRM | IMM_8, 0, 0, 0, 0,
	/* 70 */ IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8,
	/* 78 */ IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8,
	/* 80 */ MODRM | IMM_8, MODRM | IMM_32, INVALID, MODRM | IMM_8, MODRM, MODRM, MODRM, MODRM,
	/* 88 */ MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM,
	/* 90 */ 0, 0, 0, 0, 0, 0, 0, 0,
	/* 98 */ 0, 0, INVALID, 0, 0, 0, 0, 0,
	/* a0 */ OFFSET, OFFSET, OFFSET, OFFSET, 0, 0, 0, 0,
	/* a8 */ IMM_8, IMM_32, 0, 0, 0, 0, 0, 0,
	/* b0 */ IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8,
	/* b8 */ IMM_FULL, IMM_FULL, IMM_FULL, IMM_FULL, IMM_FULL, IMM_FULL, IMM_FULL, IMM_FULL,
	/* c0 */ MODRM | IMM_8, MODRM | IMM_8, IMM_16, 0, INVALID, INVALID, MODRM | IMM_8, MODRM | IMM_32,
	/* c8 */ IMM_24, 0, IMM_16, 0, 0, IMM_8, INVALID, 0,
	/* d0 */ MODRM, MODRM, MODRM, MODRM, INVALID, INVALID, INVALID, 0,
	/* d8 */ MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM, MODRM,
	/* e0 */ IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8, IMM_8,
	/* e8 */ REL_32, REL_32, INVALID, IMM_8, 0, 0, 0, 0,
	/* f0 */ INVALID, 0, INVALID, INVALID, 0, 0, MODRM | TEST, MODRM | TEST,
	/* f8 */ 0, 0, 0, 0, 0, 0, MODRM, MODRM,
};
/* clang-format on */

struct decoder {
	const uint8_t *code;
	size_t size, at;
	bool short_operand, short_address, wide; /* prefixes 0x66, 0x67, REX.W */
	unsigned int modrm;
};

static unsigned int decoder_byte(struct decoder *decoder)
{
	return decoder->at < decoder->size ? decoder->code[decoder->at++] : (decoder->at++, 0);
}

static uint8_t opcode_byte(unsigned int opcode)
{
	if (opcode >= 0x60)
		return one_byte[opcode - 0x60];
	if (opcode >= 0x50)
		return 0; /* push, pop */
	if (opcode >= 0x40)
		return INVALID;
	return (opcode & 7) < 4	   ? MODRM
	       : (opcode & 7) == 4 ? IMM_8
	       : (opcode & 7) == 5 ? IMM_32
				   : INVALID;
}

/* Operations that 0x0f begins. */
static uint8_t opcode_two_bytes(unsigned int opcode)
{
	if ((opcode & 0xf0) == 0x80)
		return REL_32;
	if ((opcode >= 0x05 && opcode <= 0x09) || opcode == 0x0b || opcode == 0x0e ||
	    (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 ||
	    (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa8 && opcode <= 0xaa) ||
	    (opcode >= 0xc8 && opcode <= 0xcf))
		return 0;
	if (opcode == 0x0f || (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 ||
	    opcode == 0xac || opcode == 0xba || opcode == 0xc2 ||
	    (opcode >= 0xc4 && opcode <= 0xc6))
		return MODRM | IMM_8;
	return MODRM;
}

/* Operations of a VEX or EVEX prefix, by the map of opcodes that it names. */
static uint8_t opcode_vector(unsigned int map, unsigned int opcode)
{
	if (map == 1)
		return opcode == 0x77 ? 0 : opcode_two_bytes(opcode);
	return map == 3 ? MODRM | IMM_8 : map == 2 || map == 5 || map == 6 ? MODRM : INVALID;
}

/* Takes prefixes and opcode; the operation's shape, and the opcode with 0x0f00 added where that is before it. */
static uint8_t decoder_opcode(struct decoder *decoder, unsigned int *opcode)
{
	unsigned int c, map;

	while ((c = decoder_byte(decoder)) && decoder->at < MAX_INSN &&
	       strchr("\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65", (int)c)) {
		decoder->short_operand |= c == 0x66;
		decoder->short_address |= c == 0x67;
	}
	if ((c & 0xf0) == 0x40) {
		decoder->wide = c & 8;
		c = decoder_byte(decoder);
	}
	*opcode = c;
	if (c == 0xc4 || c == 0xc5 || c == 0x62) {
		map = c == 0xc5 ? 1 : decoder_byte(decoder) & (c == 0x62 ? 7 : 0x1f);
		/* The rest of the prefix. */
		decoder->at += c == 0x62 ? 2 : 1;
		*opcode = 0x0f00;
		return opcode_vector(map, decoder_byte(decoder));
	}
	if (c != 0x0f)
		return opcode_byte(c);
	c = decoder_byte(decoder);
	*opcode = 0x0f00 | c;
	if (c == 0x38 || c == 0x3a) {
		decoder_byte(decoder);
		return c == 0x3a ? MODRM | IMM_8 : MODRM;
	}
	return opcode_two_bytes(c);
}

static void decoder_modrm(struct decoder *decoder)
{
	unsigned int mod, rm;

	decoder->modrm = decoder_byte(decoder);
	mod = decoder->modrm >> 6;
	rm = decoder->modrm & 7;
	if (mod == 3)
		return;
	if (rm == 4 && (decoder_byte(decoder) & 7) == 5 && mod == 0)
		decoder->at += 4;
	if ((mod == 0 && rm == 5) || mod == 2)
		decoder->at += 4;
	if (mod == 1)
		decoder->at += 1;
}

static unsigned int immediate_size(const struct decoder *decoder, unsigned int shape,
				   unsigned int opcode)
{
	unsigned int operand = decoder->short_operand && !decoder->wide ? 2 : 4;

	switch (shape) {
	case IMM_32:
		return operand;
	case REL_32:
		return 4;
	case IMM_FULL:
		return decoder->wide ? 8 : operand;
	case OFFSET:
		return decoder->short_address ? 4 : 8;
	case TEST:
		return decoder->modrm & 0x30 ? 0 : opcode == 0xf6 ? 1 : operand;
	default:
		return shape;
	}
}

static int64_t number_at(const uint8_t *from, unsigned int size)
{
	int32_t number;

	if (size == 1)
		return (int8_t)*from;
	memcpy(&number, from, sizeof(number));
	return number;
}

static enum insn_kind jump_kind(unsigned int opcode)
{
	if (opcode == 0xe9 || opcode == 0xeb)
		return INSN_JUMP;
	if (opcode >= 0xe0 && opcode <= 0xe3)
		return INSN_BRANCH;
	if ((opcode & 0xf0) != 0x70 && (opcode & 0xfff0) != 0x0f80)
		return INSN_OTHER;
	return (opcode & 15) == 4   ? INSN_BRANCH_EQUAL
	       : (opcode & 15) == 5 ? INSN_BRANCH_UNEQUAL
				    : INSN_BRANCH;
}

/* Takes 0xff, which calls and jumps by way of a register or of memory. */
static void pointer_classify(const struct decoder *decoder, struct insn *ret)
{
	unsigned int way = decoder->modrm >> 3 & 7;

	if (way == 2)
		ret->kind = INSN_POINTER_CALL;
	/* A table of addresses, or a call at the end, which is of a member or a variable. */
	if (way == 4)
		ret->kind = decoder->modrm >> 6 == 3 || (decoder->modrm & 7) == 4
				    ? INSN_POINTER_JUMP
				    : INSN_END;
	/* Memory at a distance from here. */
	if (way == 2 && (decoder->modrm & 0xc7) == 5) {
		ret->kind = INSN_MEMORY_CALL;
		ret->target = (int64_t)decoder->at + number_at(decoder->code + decoder->at - 4, 4);
	}
}

static void insn_classify(const struct decoder *decoder, unsigned int opcode,
			  unsigned int immediate, struct insn *ret)
{
	const uint8_t *end = decoder->code + decoder->at;

	ret->kind = opcode == 0xe8 ? INSN_CALL : jump_kind(opcode);
	if (ret->kind != INSN_OTHER)
		ret->target = (int64_t)decoder->at + number_at(end - immediate, immediate);
	else if (opcode == 0xc3 || opcode == 0xc2 || opcode == 0xcc || opcode == 0xf4 ||
		 opcode == 0x0f0b)
		ret->kind = INSN_END;
	else if (opcode == 0xff)
		pointer_classify(decoder, ret);
	else if (opcode == 0x83 && (decoder->modrm >> 3 & 7) == 7 && end[-1] == 4 && !decoder->wide)
		ret->kind = INSN_COMPARE_4;
}

unsigned int insn_decode(const uint8_t *code, size_t size, struct insn *ret)
{
	struct decoder decoder = {.code = code, .size = size};
	unsigned int opcode, immediate;
	uint8_t shape = decoder_opcode(&decoder, &opcode);

	*ret = (struct insn){INSN_OTHER, 0};
	if (shape == INVALID)
		return 0;
	if (shape & MODRM)
		decoder_modrm(&decoder);
	immediate = immediate_size(&decoder, shape & ~MODRM, opcode);
	decoder.at += immediate;
	if (decoder.at > size || decoder.at > MAX_INSN)
		return 0;
	insn_classify(&decoder, opcode, immediate, ret);
	return decoder.at;
}
