// SPDX-License-Identifier: GPL-2.0 OR MIT
/* verify_test.c - each way out of a program's memory is seen in its code. */
#include "assemble.h"
#include "emit.h"

#define SIZE 4096
#define AX   11
#define FP   10

/* The code of an access, each line of which is there for a reason. */
#define ORIGIN	     LOAD(BPF_DW, AX, FP, COSY_SLOT_ORIGIN)
#define ADD(reg)     ALU64_X(BPF_ADD, AX, reg)
#define MASK	     ALU64_K(BPF_AND, AX, SIZE - 1)
#define BASED(off)   INSN(BPF_LDX | BPF_PROBE_MEM32 | BPF_B, 2, AX, off, 0)
#define BASED_S(off) INSN(BPF_STX | BPF_PROBE_MEM32 | BPF_DW, AX, 2, off, 0)
/* An access by another register. */
#define COPY	       MOV_X(3, AX)
#define MASK_3	       ALU64_K(BPF_AND, 3, SIZE - 1)
#define CONSTANT(reg)  IMM64(reg, 0x123456789)
#define BY_COPY(off)   INSN(BPF_LDX | BPF_PROBE_MEM32 | BPF_B, 2, 3, off, 0)
#define BY_COPY_S(off) INSN(BPF_STX | BPF_PROBE_MEM32 | BPF_DW, 3, 2, off, 0)

static u32 stack_size = COSY_SLOT_SIZE;
static s32 thunks[COSY_THUNK_CNT];

static const char *verify(const struct bpf_insn *insns, u32 count)
{
	struct cosy_code code = {
		.insns = (struct bpf_insn *)insns, .insn_cnt = count, .stack_size = stack_size};
	struct cosy_sandbox how = {.size = SIZE, .based = true, .thunks = thunks};
	const char *problem = NULL;
	int error = cosy_verify(&code, &how, &problem);

	CHECK(error == (problem ? -EINVAL : 0));
	return problem;
}

#define FINE(...)                                                                                  \
	do {                                                                                       \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                                    \
                                                                                                   \
		CHECK(!verify(insns_, sizeof(insns_) / sizeof(insns_[0])));                        \
	} while (0)

#define FOUND(what, ...)                                                                           \
	do {                                                                                       \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                                    \
		const char *problem_ = verify(insns_, sizeof(insns_) / sizeof(insns_[0]));         \
                                                                                                   \
		CHECK(problem_ &&strstr(problem_, what));                                          \
	} while (0)

static void masked_accesses_are_fine(void)
{
	FINE(ORIGIN, ADD(3), MASK, BASED(0), EXIT());
	FINE(ORIGIN, ADD(3), MASK, BASED(0), BASED_S(4088), EXIT());
	/* Branches away, and other registers, change nothing. */
	FINE(ORIGIN, ADD(3), MASK, JUMP_K(BPF_JEQ, 2, 0, 2), MOV_K(4, 1), BASED(1), EXIT());
	FINE(ORIGIN, ADD(3), MASK, IMM64(4, 1), STORE(BPF_DW, FP, -8, AX), BASED(1), EXIT());
	FINE(INSN(COSY_FENCE, 0, 0, 0, 0), EXIT());
	/* The second half of a constant is no instruction: a load of LD | IMM | W would be refused. */
	FINE(IMM64(2, 1), EXIT());
}

static void unmasked_accesses_are_found(void)
{
	FOUND("off its end", MASK, BASED(0));
	FOUND("not masked", ORIGIN, ADD(3), BASED(0), EXIT());
	FOUND("not masked", ORIGIN, MASK, ADD(3), BASED(0), EXIT());
	FOUND("not masked", MASK, ORIGIN, BASED(0), EXIT());
	FOUND("not masked", MASK, ALU64_K(BPF_ADD, AX, 1), BASED(0), EXIT());
	FOUND("not masked", MASK, MOV_X(AX, 3), BASED(0), EXIT());
	FOUND("not masked", MASK, IMM64(AX, 1), BASED(0), EXIT());
	FOUND("not masked", MASK, CALL(0x100), BASED(0), EXIT());
	/* Another mask, and one of 32 bits of which the rest is another thing. */
	FOUND("not masked", ALU64_K(BPF_AND, AX, 2 * SIZE - 1), BASED(0), EXIT());
	FOUND("not masked", ALU64_K(BPF_AND, AX, -1), BASED(0), EXIT());
	FOUND("not masked", ALU64_K(BPF_OR, AX, SIZE - 1), BASED(0), EXIT());
	FOUND("not masked", BASED_S(0), EXIT());
	FOUND("middle of a constant", EXIT(), INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, 1));
}

/* Any register may be masked, or a copy of one that is. */
static void masked_registers_are_followed(void)
{
	FINE(MASK, COPY, BY_COPY(0), BY_COPY_S(4088), EXIT());
	FINE(MASK, COPY, ORIGIN, BY_COPY(0), EXIT());
	FINE(MASK, MOV_X(2, AX), INSN(BPF_LDX | BPF_PROBE_MEM32 | BPF_B, 2, 2, 0, 0), EXIT());
	FINE(MASK, COPY, JUMP_K(BPF_JEQ, 2, 0, 1), BY_COPY(0), EXIT());
	FOUND("not masked", COPY, BY_COPY(0), EXIT());
	FOUND("not masked", COPY, MASK, BY_COPY(0), EXIT());
	FOUND("not masked", MASK, ORIGIN, COPY, BY_COPY(0), EXIT());
	FOUND("not masked", MASK, BY_COPY(0), EXIT());
	FOUND("not masked", MASK, MOV_X(4, AX), BY_COPY(0), EXIT());
	FOUND("not masked", MASK, COPY, ALU64_K(BPF_ADD, 3, 1), BY_COPY(0), EXIT());
	FOUND("not masked", MASK, COPY, LOAD(BPF_DW, 3, FP, -8), BY_COPY(0), EXIT());
	FOUND("not masked", MASK, COPY, IMM64(3, 1), BY_COPY(0), EXIT());
	FOUND("not masked", MASK, COPY, CALL(0x100), BY_COPY(0), EXIT());
	FOUND("not masked", MASK, ALU64_X(BPF_ADD, 3, AX), BY_COPY(0), EXIT());
	/* Half of it, and a sign-extending move of a part. */
	FOUND("not masked", MASK, INSN(BPF_ALU | BPF_MOV | BPF_X, 3, AX, 0, 0), BY_COPY(0), EXIT());
	FOUND("not masked", MASK, INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, AX, 8, 0), BY_COPY(0),
	      EXIT());
	/* A copy of a copy, and a register that was masked itself. */
	FINE(MASK, MOV_X(4, AX), MOV_X(3, 4), BY_COPY(0), EXIT());
	FINE(MASK_3, BY_COPY(0), BY_COPY_S(8), EXIT());
	FINE(MASK_3, ORIGIN, CONSTANT(4), BY_COPY(0), EXIT());
	FINE(MASK_3, MOV_X(AX, 3), BASED(0), EXIT());
	FOUND("not masked", MASK_3, BASED(0), EXIT());
	FOUND("not masked", ALU64_K(BPF_AND, 4, SIZE - 1), BY_COPY(0), EXIT());
	FOUND("not masked", MASK_3, ALU64_X(BPF_AND, 3, 3), BY_COPY(0), EXIT());
	FOUND("not masked", MASK_3, MOV_X(3, 4), BY_COPY(0), EXIT());
	FOUND("not masked", MASK_3, CALL(0x100), BY_COPY(0), EXIT());
	FOUND("not masked", ALU32_K(BPF_AND, 3, SIZE - 1), BY_COPY(0), EXIT());
	/* On each way, and on one alone. */
	FINE(MASK_3, JUMP_K(BPF_JEQ, 2, 0, 1), MOV_K(4, 0), BY_COPY(0), EXIT());
	FINE(MASK_3, JUMP_K(BPF_JEQ, 2, 0, 2), MOV_K(3, 0), JUMP(1), BY_COPY(0), EXIT());
	FOUND("not masked", JUMP_K(BPF_JEQ, 2, 0, 1), MASK_3, BY_COPY(0), EXIT());
	FOUND("not masked", MASK_3, MASK, JUMP_K(BPF_JEQ, 2, 0, 1), MOV_K(3, 0), BY_COPY(0),
	      EXIT());
	FOUND("not masked", MASK_3, BY_COPY(0), JUMP_K(BPF_JEQ, 2, 0, -2), EXIT());
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 1), COPY, BY_COPY(0), EXIT());
	FOUND("not masked", MASK, COPY, BY_COPY(0), JUMP_K(BPF_JEQ, 2, 0, -2), EXIT());
	FOUND("too far", MASK, COPY, BY_COPY(4089), EXIT());
}

static void jumps_into_the_middle_are_found(void)
{
	FOUND("not masked", JUMP_K(BPF_JEQ, 2, 0, 1), MASK, BASED(0), EXIT());
	FOUND("not masked", MASK, BASED(0), JUMP_K(BPF_JEQ, 2, 0, -2), EXIT());
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 1), ORIGIN, BASED(0), EXIT());
	FOUND("not masked", ORIGIN, JUMP_K(BPF_JEQ, 2, 0, 2), MASK, JUMP(0), BASED(0), EXIT());
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 2), ORIGIN, JUMP_K(BPF_JEQ, 2, 0, 1), MASK,
	      BASED(0), EXIT());
	/* Branches of 32 bits, and jumps by 32 bits. */
	FOUND("not masked", JUMP32_K(BPF_JEQ, 2, 0, 1), MASK, BASED(0), EXIT());
	FOUND("not masked", INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 1), MASK, BASED(0), EXIT());
	/* The instruction before is run as well: a branch, a call, or one after a jump's target. */
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 2), ORIGIN, JUMP_K(BPF_JEQ, 3, 0, 1),
	      BASED(0), EXIT());
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 1), CALL(0x100), BASED(0), EXIT());
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 3), JUMP(0), ORIGIN, MOV_K(3, 0), BASED(0),
	      EXIT());
	/* A jump back from where it is masked as well: that is not known yet. */
	FOUND("not masked", MASK, JUMP_K(BPF_JEQ, 2, 0, 0), BASED(0), JUMP(-2));
	/* Masked on all ways there are. */
	FINE(MASK, JUMP_K(BPF_JEQ, 2, 0, 1), MOV_K(3, 0), BASED(0), EXIT());
	FINE(MASK, JUMP_K(BPF_JEQ, 2, 0, 2), MOV_K(3, 0), JUMP(1), MOV_K(3, 1), BASED(0), EXIT());
	FINE(MASK, JUMP_K(BPF_JEQ, 2, 0, 2), ORIGIN, JUMP(1), BASED(0), EXIT());
	FOUND("no instruction", JUMP(1), IMM64(2, 3), EXIT());
	FOUND("no instruction", JUMP(5), EXIT());
	FOUND("no instruction", JUMP(-3), EXIT());
}

static void offsets_stay_in_the_next_page(void)
{
	FOUND("too far", MASK, BASED(-1), EXIT());
	FOUND("too far", MASK, BASED(-4000), EXIT());
	FOUND("too far", MASK, BASED(4089), EXIT());
	FOUND("too far", MASK, BASED_S(0x7fff), EXIT());
}

static void other_memory_is_found(void)
{
	FOUND("no memory of its own", LOAD(BPF_DW, 2, 3, 0), EXIT());
	FOUND("no memory of its own", STORE(BPF_DW, 1, 0, 2), EXIT());
	FOUND("no memory of its own", MASK, LOAD(BPF_DW, 2, AX, 0), EXIT());
	FOUND("another kind", ATOMIC(BPF_DW, BPF_ADD, FP, -8, 2), EXIT());
	FOUND("another kind", INSN(BPF_STX | BPF_MEMSX | BPF_W, FP, 2, -8, 0), EXIT());
	FOUND("another kind", INSN(BPF_LDX | BPF_ABS | BPF_W, 2, FP, -8, 0), EXIT());
	FOUND("leaves its frame", LOAD(BPF_DW, 2, FP, 0), EXIT());
	FOUND("leaves its frame", LOAD(BPF_DW, 2, FP, -7), EXIT());
	FOUND("leaves its frame", LOAD(BPF_W, 2, FP, -3), EXIT());
	FOUND("leaves its frame", LOAD(BPF_H, 2, FP, -1), EXIT());
	/* All of it is its own. */
	FINE(LOAD(BPF_W, 2, FP, -4), LOAD(BPF_H, 2, FP, -2), LOAD(BPF_B, 2, FP, -1),
	     LOADS(BPF_W, 2, FP, -8), STORE(BPF_DW, FP, -COSY_SLOT_SIZE, 2), EXIT());
	FOUND("leaves its frame", STORE(BPF_DW, FP, -4, 2), EXIT());
	FOUND("leaves its frame", STORE_K(BPF_B, FP, -COSY_SLOT_SIZE - 1, 2), EXIT());
	FOUND("changes r10", ALU64_K(BPF_ADD, FP, 8), EXIT());
	FOUND("changes r10", LOAD(BPF_DW, FP, FP, -8), EXIT());
}

/* r1 is what the caller gave until it is something else. */
static void the_entry_is_read_at_first(void)
{
	const s16 last = sizeof(struct cosy_entry) - 8;

	FINE(LOAD(BPF_DW, 2, 1, 0), LOAD(BPF_DW, 1, 1, last), EXIT());
	FINE(JUMP_K(BPF_JNE, 2, 0, 2), MOV_K(1, 0), EXIT(), LOAD(BPF_DW, 1, 1, 0), EXIT());
	FOUND("no memory of its own", LOAD(BPF_DW, 2, 1, last + 1), EXIT());
	FOUND("no memory of its own", LOAD(BPF_DW, 2, 1, -8), EXIT());
	FOUND("no memory of its own", MOV_K(1, 0), LOAD(BPF_DW, 2, 1, 0), EXIT());
	FOUND("no memory of its own", CALL(0x100), LOAD(BPF_DW, 2, 1, 0), EXIT());
	/* A jump from where it is another, forward or back. */
	FOUND("no memory of its own", JUMP_K(BPF_JNE, 2, 0, 2), MOV_K(1, 0), JUMP(0),
	      LOAD(BPF_DW, 1, 1, 0), EXIT());
	FOUND("no memory of its own", JUMP_K(BPF_JNE, 2, 0, 1), MOV_K(1, 0), LOAD(BPF_DW, 1, 1, 0),
	      EXIT());
	FOUND("no memory of its own", LOAD(BPF_DW, 2, 1, 0), MOV_K(1, 0), JUMP(-3));
	FOUND("no memory of its own", JUMP_K(BPF_JNE, 2, 0, 1), EXIT(), LOAD(BPF_DW, 1, 1, 0),
	      JUMP(-2));
}

/* A fetch writes to the words of the largest frame, so that the frame must be as large. */
static void fetches_need_a_frame(void)
{
	u32 i;

	for (i = 0; i < COSY_FETCH_WORDS; i++)
		thunks[COSY_THUNK_FETCH + i] = 0x200 + (s32)i;
	FOUND("below its frame", CALL(0x200), EXIT());
	FOUND("below its frame", CALL(0x200 + COSY_FETCH_WORDS - 1), EXIT());
	FINE(CALL(0x200 + COSY_FETCH_WORDS), EXIT());
	stack_size = -COSY_FETCH_PLACE - 8;
	FOUND("below its frame", CALL(0x205), EXIT());
	stack_size = -COSY_FETCH_PLACE;
	FINE(CALL(0x205), LOAD(BPF_B, 2, FP, COSY_FETCH_PLACE), EXIT());
	stack_size = COSY_SLOT_SIZE;
}

/* What the sandbox never emits: a JIT may know it, and nothing here knows what it would do. */
static void other_kinds_are_found(void)
{
	static const u8 none[] = {
		BPF_LD | BPF_ABS | BPF_W,
		BPF_LD | BPF_IND | BPF_B,
		BPF_LD | BPF_IMM | BPF_W,
		BPF_JMP | BPF_JA | BPF_X, /* to where a register says */
		BPF_JMP32 | BPF_JA | BPF_X,
		BPF_JMP | BPF_CALL | BPF_X,
		BPF_JMP32 | BPF_CALL,
		BPF_JMP | BPF_EXIT | BPF_X,
		BPF_JMP32 | BPF_EXIT,
		BPF_JMP | BPF_JCOND,
		BPF_JMP | 0xf0,
		BPF_ALU64 | BPF_END,
		BPF_ALU64 | 0xe0,
		BPF_ALU | 0xf0,
	};
	u32 i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		FOUND("does not emit", INSN(none[i], 0, 0, 0, 0), EXIT());
	FOUND("does not emit", INSN(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0), INSN(0, 0, 0, 0, 0),
	      EXIT());
	/* The last instruction: there is no second half to read. */
	FOUND("does not emit", EXIT(), INSN(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0));
	/* Calls of another program, of the kernel's functions, of helpers by their number. */
	for (i = 1; i < 16; i++)
		FOUND("does not emit", INSN(BPF_JMP | BPF_CALL, 0, i, 0, 1), EXIT());
	FOUND("does not emit", INSN(BPF_JMP | BPF_CALL, 1, 0, 0, 1), EXIT());
	/* A constant that stands for a map, and one whose second half holds more. */
	FOUND("does not emit", INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 1, 0, 1), INSN(0, 0, 0, 0, 0),
	      EXIT());
	FOUND("does not emit", INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, 1), MOV_K(3, 0), EXIT());
	FOUND("does not emit", INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, 1), MOV_K(0, 0), EXIT());
	FOUND("does not emit", INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, 1), JUMP(1000), EXIT());
	FOUND("does not emit", INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 0, 8, 1), INSN(0, 0, 0, 0, 0),
	      EXIT());
	for (i = 0; i < 3; i++)
		FOUND("does not emit", INSN(BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, 1),
		      INSN(0, i == 0, i == 1, i == 2, 0), EXIT());
	/* Moves that add an address of the kernel's: of an arena, of this processor's memory. */
	FOUND("does not emit", INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 3, 1, 0), EXIT());
	FOUND("does not emit", INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 3, -1, 0), EXIT());
	FOUND("does not emit", INSN(BPF_ALU64 | BPF_DIV | BPF_X, 2, 3, 1, 0), EXIT());
	FOUND("does not emit", INSN(BPF_ALU64 | BPF_ADD | BPF_X, 2, 3, 8, 0), EXIT());
	FOUND("does not emit", INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 8, 0), EXIT());
	FOUND("does not emit", INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 3, 0, 0), EXIT());
	FOUND("does not emit", INSN(BPF_ALU | BPF_END | BPF_TO_BE, 2, 3, 0, 16), EXIT());
	FOUND("does not emit", INSN(BPF_JMP | BPF_JEQ | BPF_K, 2, 3, 0, 0), EXIT());
	FINE(INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 3, 32, 0), EXIT());
	/* Registers that a program does not have, and r10's value. */
	FOUND("does not emit", MOV_K(AX + 1, 0), EXIT());
	FOUND("does not emit", MOV_X(2, AX + 1), EXIT());
	FOUND("does not emit", STORE(BPF_DW, AX + 2, -8, 2), EXIT());
	FOUND("does not emit", MOV_X(2, FP), EXIT());
	FOUND("does not emit", ALU64_X(BPF_ADD, 2, FP), EXIT());
	FOUND("does not emit", STORE(BPF_DW, FP, -8, FP), EXIT());
	FOUND("does not emit", JUMP_X(BPF_JEQ, 2, FP, 0), EXIT());
	FOUND("does not emit", JUMP_K(BPF_JEQ, FP, 0, 0), EXIT());
	FINE(INSN(BPF_ALU | BPF_END | BPF_TO_BE, 2, 0, 0, 16), ALU64_X(BPF_XOR, 2, AX), EXIT());
}

int main(void)
{
	masked_accesses_are_fine();
	unmasked_accesses_are_found();
	masked_registers_are_followed();
	jumps_into_the_middle_are_found();
	offsets_stay_in_the_next_page();
	other_memory_is_found();
	the_entry_is_read_at_first();
	fetches_need_a_frame();
	other_kinds_are_found();
	return check_result();
}
