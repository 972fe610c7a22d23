// SPDX-License-Identifier: GPL-2.0 OR MIT
/* validate_test.c - what is refused, in which words; and a program's shape. */
#include "assemble.h"
#include "reject.h"

static void refused_at(const struct bpf_insn *insns, u32 count, u32 at, const char *words)
{
	struct cosy_validated program;
	struct cosy_reject why = {0};

	CHECK_EQ(cosy_validate(insns, count, &program, &why), -EINVAL);
	CHECK_EQ(why.insn, at);
	if (!strstr(why.reason, words)) {
		fprintf(stderr, "\"%s\" does not say \"%s\"\n", why.reason, words);
		CHECK(strstr(why.reason, words));
	}
	CHECK(!program.marks && !program.functions);
}

/* One bad instruction in front of an exit. */
#define BAD(words, ...)                                                                            \
	do {                                                                                       \
		struct bpf_insn insns[] = {__VA_ARGS__, EXIT()};                                   \
                                                                                                   \
		refused_at(insns, sizeof(insns) / sizeof(*insns), 0, words);                       \
	} while (0)

#define BAD_AT(at, words, ...)                                                                     \
	do {                                                                                       \
		struct bpf_insn insns[] = {__VA_ARGS__};                                           \
                                                                                                   \
		refused_at(insns, sizeof(insns) / sizeof(*insns), at, words);                      \
	} while (0)

static void arithmetic_is_checked(void)
{
	BAD("r10 may only be", MOV_X(1, 10));
	BAD("r10 may only be", MOV_X(10, 1));
	BAD("r10 may only be", ALU64_K(BPF_ADD, 10, 8));
	BAD("register r11 does not exist", MOV_X(11, 1));
	BAD("register r15 does not exist", MOV_X(1, 15));
	BAD("division by constant 0", ALU64_K(BPF_DIV, 1, 0));
	BAD("division by constant 0", ALU32_K(BPF_MOD, 1, 0));
	BAD("shift by 64 of a 64-bit", ALU64_K(BPF_LSH, 1, 64));
	BAD("shift by 32 of a 32-bit", ALU32_K(BPF_RSH, 1, 32));
	BAD("shift by -1", ALU32_K(BPF_ARSH, 1, -1));
	BAD("offset 1 has no meaning", INSN(BPF_ALU64 | BPF_ADD | BPF_X, 1, 2, 1, 0));
	BAD("offset 2 has no meaning", INSN(BPF_ALU64 | BPF_DIV | BPF_X, 1, 2, 2, 0));
	BAD("offset 1 has no meaning", INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, 1, 0));
	BAD("offset -1 has no meaning", INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, -1, 0));
	BAD("offset 32 has no meaning", INSN(BPF_ALU | BPF_MOV | BPF_X, 1, 2, 32, 0));
	BAD("offset 8 has no meaning", INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 8, 0));
	BAD("offset 1 has no meaning", INSN(BPF_ALU64 | BPF_NEG, 1, 0, 1, 0));
	BAD("reserved field imm", INSN(BPF_ALU64 | BPF_ADD | BPF_X, 1, 2, 0, 3));
	BAD("reserved field src_reg", INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 2, 0, 3));
	BAD("reserved field imm", INSN(BPF_ALU64 | BPF_NEG, 1, 0, 0, 3));
	BAD("unknown opcode 0x8f", INSN(BPF_ALU64 | BPF_NEG | BPF_X, 1, 0, 0, 0));
	BAD("byte swap of 8 bits", INSN(BPF_ALU | BPF_END, 1, 0, 0, 8));
	BAD("byte swap of 48 bits", INSN(BPF_ALU | BPF_END, 1, 0, 0, 48));
	BAD("byte swap of 0 bits", INSN(BPF_ALU64 | BPF_END, 1, 0, 0, 0));
	BAD("unknown opcode 0xdf", INSN(BPF_ALU64 | BPF_END | BPF_TO_BE, 1, 0, 0, 16));
	BAD("reserved field src_reg", INSN(BPF_ALU | BPF_END, 1, 1, 0, 16));
	BAD("reserved field offset", INSN(BPF_ALU64 | BPF_END, 1, 0, 1, 16));
	BAD("unknown opcode 0xe7", INSN(BPF_ALU64 | 0xe0, 1, 0, 0, 0));
	BAD("unknown opcode 0xf4", INSN(BPF_ALU | 0xf0, 1, 0, 0, 0));
}

static void constants_are_checked(void)
{
	BAD("kernel kind 1", INSN(0x18, 1, 1, 0, 5), INSN(0, 0, 0, 0, 0));
	BAD("reserved field offset", INSN(0x18, 1, 0, 1, 5), INSN(0, 0, 0, 0, 0));
	BAD("holds more than a constant", INSN(0x18, 1, 0, 0, 5), INSN(0, 1, 0, 0, 0));
	BAD("holds more than a constant", INSN(0x18, 1, 0, 0, 5), INSN(0, 0, 1, 0, 0));
	BAD("holds more than a constant", INSN(0x18, 1, 0, 0, 5), INSN(0, 0, 0, 1, 0));
	BAD("holds more than a constant", INSN(0x18, 1, 0, 0, 5), EXIT());
	BAD("r10 may only be", IMM64(10, 5));
	BAD("unknown opcode 0x20", INSN(0x20, 0, 0, 0, 0));
	BAD("unknown opcode 0x00", INSN(0, 0, 0, 0, 0));
	BAD_AT(0, "second half of a 64-bit constant is missing", INSN(0x18, 1, 0, 0, 5));
}

static void accesses_are_checked(void)
{
	BAD("8 bytes at r10-456 are outside the spill frame", STORE_K(BPF_DW, 10, -456, 0));
	BAD("1 bytes at r10-449", LOAD(BPF_B, 1, 10, -449));
	BAD("8 bytes at r10-4 ", LOAD(BPF_DW, 1, 10, -4));
	BAD("1 bytes at r10+0", LOAD(BPF_B, 1, 10, 0));
	BAD("4 bytes at r10+16", STORE(BPF_W, 10, 16, 1));
	BAD("r10 may only be", STORE(BPF_DW, 1, 0, 10));
	BAD("r10 may only be", STORE(BPF_DW, 10, -8, 10));
	BAD("r10 may only be", LOAD(BPF_DW, 10, 1, 0));
	BAD("r10 may only be", ATOMIC(BPF_DW, BPF_ADD, 10, -8, 1));
	BAD("r10 may only be", ATOMIC(BPF_DW, BPF_ADD, 1, -8, 10));
	BAD("register r11", LOAD(BPF_DW, 1, 11, 0));
	BAD("register r11", STORE(BPF_DW, 11, 0, 1));
	BAD("unknown opcode 0x99", LOADS(BPF_DW, 1, 2, 0));
	BAD("unknown opcode 0xa1", INSN(BPF_LDX | 0xa0 | BPF_W, 1, 2, 0, 0));
	BAD("unknown opcode 0x21", INSN(BPF_LDX | BPF_ABS | BPF_W, 1, 2, 0, 0));
	BAD("unknown opcode 0xc2", INSN(BPF_ST | 0xc0 | BPF_W, 1, 0, 0, 0));
	BAD("reserved field imm", INSN(BPF_LDX | BPF_MEM | BPF_W, 1, 2, 0, 1));
	BAD("reserved field imm", INSN(BPF_STX | BPF_MEM | BPF_W, 1, 2, 0, 1));
	BAD("reserved field src_reg", INSN(BPF_ST | BPF_MEM | BPF_W, 1, 2, 0, 1));
	BAD("atomic operation on 2 bytes", ATOMIC(BPF_H, BPF_ADD, 1, 0, 2));
	BAD("atomic operation on 1 bytes", ATOMIC(BPF_B, BPF_ADD, 1, 0, 2));
	BAD("unknown atomic operation 0x10", ATOMIC(BPF_DW, BPF_SUB, 1, 0, 2));
	BAD("unknown atomic operation 0x1", ATOMIC(BPF_DW, BPF_FETCH | BPF_SUB, 1, 0, 2));
	BAD("unknown atomic operation 0x100", ATOMIC(BPF_DW, 0x100, 1, 0, 2));
	BAD("unknown atomic operation 0xf0", ATOMIC(BPF_DW, 0xf0, 1, 0, 2));
}

static void jumps_are_checked(void)
{
	BAD("jump to -1 leaves its function (0 to 1)", JUMP(-2));
	BAD("jump to 2 leaves", JUMP(1));
	BAD("jump to 40000 leaves", INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 39999));
	BAD("jump to 2147483648 leaves", INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 0x7fffffff));
	BAD("jump into the 64-bit constant at 1", JUMP_K(BPF_JEQ, 1, 0, 1), IMM64(2, 0));
	BAD("reserved field imm", INSN(BPF_JMP | BPF_JA, 0, 0, 0, 1));
	BAD("reserved field offset", INSN(BPF_JMP32 | BPF_JA, 0, 0, 1, 0));
	BAD("reserved field dst_reg", INSN(BPF_JMP | BPF_JA, 1, 0, 0, 0));
	BAD("reserved field src_reg", INSN(BPF_JMP | BPF_JA, 0, 1, 0, 0));
	BAD("indirect jump", INSN(BPF_JMP | BPF_JA | BPF_X, 1, 0, 0, 0));
	BAD("may_goto", INSN(BPF_JMP | BPF_JCOND, 0, 0, 0, 0));
	BAD("unknown opcode 0xf5", INSN(BPF_JMP | 0xf0, 0, 0, 0, 0));
	BAD("r10 may only be", JUMP_X(BPF_JEQ, 10, 1, 0));
	BAD("r10 may only be", JUMP_X(BPF_JEQ, 1, 10, 0));
	BAD("reserved field src_reg", INSN(BPF_JMP | BPF_JEQ | BPF_K, 1, 2, 0, 0));
	BAD("reserved field imm", INSN(BPF_JMP | BPF_JEQ | BPF_X, 1, 2, 0, 1));
	BAD("reserved field imm", INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 1));
	BAD("reserved field offset", INSN(BPF_JMP | BPF_EXIT, 0, 0, 1, 0));
	BAD("reserved field dst_reg", INSN(BPF_JMP | BPF_EXIT, 1, 0, 0, 0));
	BAD("reserved field src_reg", INSN(BPF_JMP | BPF_EXIT, 0, 1, 0, 0));
	BAD("unknown opcode 0x9d", INSN(BPF_JMP | BPF_EXIT | BPF_X, 0, 0, 0, 0));
	BAD("unknown opcode 0x96", INSN(BPF_JMP32 | BPF_EXIT, 0, 0, 0, 0));
	BAD_AT(1, "ends in neither exit nor a jump", EXIT(), MOV_K(0, 1));
	BAD_AT(0, "ends in neither exit nor a jump", IMM64(0, 1));
	BAD_AT(0, "ends in neither exit nor a jump", CALL(39));
	BAD_AT(1, "ends in neither exit nor a jump", MOV_K(1, 0), JUMP_K(BPF_JEQ, 1, 0, -2));
}

static void calls_are_checked(void)
{
	BAD("system call fork may not be in a compound: the child", CALL(57));
	BAD("system call execve may not be", CALL(59));
	BAD("unknown call 400", CALL(400));
	BAD("unknown call -1", CALL(-1));
	BAD("unknown call 131071", CALL(0x1ffff));
	BAD("indirect call", INSN(BPF_JMP | BPF_CALL | BPF_X, 1, 0, 0, 0));
	BAD("call of unknown kind 2", INSN(BPF_JMP | BPF_CALL, 0, 2, 0, 1));
	BAD("reserved field dst_reg", INSN(BPF_JMP | BPF_CALL, 1, 0, 0, 39));
	BAD("reserved field offset", INSN(BPF_JMP | BPF_CALL, 0, 0, 1, 39));
	BAD("unknown opcode 0x86", INSN(BPF_JMP32 | BPF_CALL, 0, 0, 0, 39));
	BAD("local call to the first function", CALL_LOCAL(-1));
	BAD("local call to 2147483648", CALL_LOCAL(0x7fffffff));
	BAD("local call to -1, where no instruction is", CALL_LOCAL(-2));
	BAD("local call to 2, where no instruction is", CALL_LOCAL(1));
	BAD("local call to 2, where no instruction is", CALL_LOCAL(1), IMM64(1, 1));
	/* The callee starts at 2, so the caller's jump to 3 leaves, and falling into it too. */
	BAD_AT(1, "jump to 3 leaves its function (0 to 1)", CALL_LOCAL(1), JUMP(1), MOV_K(0, 1),
	       EXIT());
	BAD_AT(1, "function that starts at 0 ends in neither", CALL_LOCAL(1), MOV_K(0, 0),
	       MOV_K(0, 1), EXIT());
}

/* The table ops.def says the same, and this list does not follow from it. */
static void denied_calls_are_refused(void)
{
	static const u16 denied[] = {15,  56,  57,  58,	 59,  60,  101, 134, 154, 156, 158, 169,
				     172, 173, 174, 177, 178, 180, 181, 182, 183, 184, 185, 205,
				     211, 212, 214, 215, 219, 231, 236, 322, 334, 335, 336, 435};
	u32 number, next = 0, count = sizeof(denied) / sizeof(*denied);

	for (number = 0; number < 500; number++) {
		const struct cosy_call *call = cosy_call_find(number);
		struct bpf_insn insns[] = {CALL(number), EXIT()};
		struct cosy_validated program;
		struct cosy_reject why = {0};

		if (next < count && number == denied[next]) {
			next++;
			MUST(call);
			refused_at(insns, 2, 0, call->name);
			refused_at(insns, 2, 0, "may not be in a compound: ");
		} else if (call && cosy_validate(insns, 2, &program, &why)) {
			fprintf(stderr, "%s\n", why.reason);
			CHECK(!why.reason[0]);
		} else if (call) {
			cosy_validated_deinit(&program);
		}
	}
	CHECK_EQ(next, count);
}

static void reasons_are_asked_for_and_cut(void)
{
	struct bpf_insn insns[] = {MOV_K(0, 0)};
	struct cosy_validated program;
	struct cosy_reject why;

	CHECK_EQ(cosy_validate(insns, 1, &program, NULL), -EINVAL);
	CHECK_EQ(cosy_refuse(&why, -E2BIG, 3, "%0200d", 7), -E2BIG);
	CHECK_EQ(why.insn, 3);
	CHECK_EQ(strlen(why.reason), sizeof(why.reason) - 1);
}

static void sizes_are_checked(void)
{
	struct bpf_insn *insns = calloc(COSY_MAX_INSNS + 1, sizeof(*insns));
	struct cosy_validated program;
	struct cosy_reject why;
	u32 i;

	MUST(insns);
	for (i = 0; i <= COSY_MAX_INSNS; i++)
		insns[i] = EXIT();
	CHECK_EQ(cosy_validate(insns, 0, &program, &why), -EINVAL);
	CHECK_EQ(cosy_validate(insns, COSY_MAX_INSNS + 1, &program, &why), -E2BIG);
	CHECK(strstr(why.reason, "16385 instructions, the limit is 16384"));
	CHECK(!cosy_validate(insns, COSY_MAX_INSNS, &program, &why));
	cosy_validated_deinit(&program);
	free(insns);
}

static void everything_documented_is_allowed(void)
{
	struct bpf_insn insns[] = {
		IMM64(6, 0x123456789abcdef0),
		MOV_K(7, 1),
		MOV_X(9, 9),
		MOV_X(7, 6),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, 8, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, 32, 0),
		INSN(BPF_ALU | BPF_MOV | BPF_X, 1, 2, 16, 0),
		ALU64_K(BPF_DIV, 1, -1),
		INSN(BPF_ALU64 | BPF_DIV | BPF_X, 1, 2, 1, 0),
		INSN(BPF_ALU | BPF_MOD | BPF_K, 1, 0, 1, 5),
		ALU32_K(BPF_LSH, 1, 31),
		ALU64_K(BPF_RSH, 1, 63),
		ALU64_X(BPF_ARSH, 1, 2),
		INSN(BPF_ALU64 | BPF_NEG, 1, 0, 0, 0),
		INSN(BPF_ALU | BPF_END, 1, 0, 0, 16),
		INSN(BPF_ALU | BPF_END | BPF_TO_BE, 1, 0, 0, 64),
		INSN(BPF_ALU64 | BPF_END, 1, 0, 0, 32),
		STORE_K(BPF_DW, 10, -448, 1),
		STORE(BPF_B, 10, -1, 1),
		LOAD(BPF_H, 1, 10, -3),
		LOADS(BPF_W, 1, 10, -4),
		LOADS(BPF_B, 1, 6, 5),
		STORE(BPF_W, 6, -5, 7),
		ATOMIC(BPF_W, BPF_ADD, 6, 0, 7),
		ATOMIC(BPF_DW, BPF_XOR | BPF_FETCH, 6, 0, 7),
		ATOMIC(BPF_DW, BPF_CMPXCHG, 6, 0, 7),
		JUMP32_K(BPF_JSLE, 1, 5, 0),
		JUMP_X(BPF_JSET, 1, 2, 0),
		JUMP(0),
		INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 0),
		CALL(39),
		CALL(COSY_OP_fence),
		JUMP_K(BPF_JEQ, 9, 1, 1),
		JUMP(-1),
		INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, -1),
	};
	struct cosy_validated program;
	struct cosy_reject why = {0};

	if (cosy_validate(insns, sizeof(insns) / sizeof(*insns), &program, &why)) {
		fprintf(stderr, "%u: %s\n", why.insn, why.reason);
		CHECK(!why.reason[0]);
		return;
	}
	CHECK_EQ(program.function_cnt, 1);
	CHECK_EQ(program.functions[0].frame_words, COSY_FRAME_SIZE / 8);
	cosy_validated_deinit(&program);
}

static void the_shape_is_found(void)
{
	struct bpf_insn insns[] = {
		/* 0 */ IMM64(1, 5),
		/* 2 */ CALL(39),
		/* 3 */ STORE(BPF_W, 10, -12, 0),
		/* 4 */ LOAD(BPF_W, 2, 1, 0),
		/* 5 */ JUMP_K(BPF_JNE, 2, 0, -3), /* to 3 */
		/* 6 */ CALL_LOCAL(1),		   /* to 8 */
		/* 7 */ EXIT(),
		/* 8 */ JUMP_K(BPF_JEQ, 1, 0, 1), /* to 10 */
		/* 9 */ ATOMIC(BPF_DW, BPF_ADD, 1, 0, 2),
		/* 10 */ EXIT(),
	};
	static const u8 expected[] = {
		COSY_MARK_HEAD | COSY_MARK_FUNCTION,
		0,
		COSY_MARK_HEAD | COSY_MARK_RESUME,
		COSY_MARK_HEAD | COSY_MARK_RESUME | COSY_MARK_TARGET,
		COSY_MARK_HEAD | COSY_MARK_LEAVE,
		COSY_MARK_HEAD,
		COSY_MARK_HEAD | COSY_MARK_RESUME,
		COSY_MARK_HEAD | COSY_MARK_RESUME,
		COSY_MARK_HEAD | COSY_MARK_FUNCTION,
		COSY_MARK_HEAD | COSY_MARK_LEAVE,
		COSY_MARK_HEAD | COSY_MARK_RESUME | COSY_MARK_TARGET,
	};
	struct cosy_validated program = validated(insns, sizeof(insns) / sizeof(*insns));
	u32 i;

	for (i = 0; i < sizeof(expected); i++) {
		if (program.marks[i] != expected[i]) {
			fprintf(stderr, "instruction %u: marks 0x%x, not 0x%x\n", i,
				program.marks[i], expected[i]);
			CHECK(program.marks[i] == expected[i]);
		}
	}
	CHECK_EQ(program.resume_cnt, 5);
	MUST(program.function_cnt == 2);
	CHECK_EQ(program.functions[0].end, 8);
	CHECK_EQ(program.functions[0].frame_words, 2);
	CHECK_EQ(program.functions[1].start, 8);
	CHECK_EQ(program.functions[1].end, 11);
	CHECK_EQ(program.functions[1].frame_words, 0);
	CHECK(cosy_function_of(&program, 7) == &program.functions[0]);
	CHECK(cosy_function_of(&program, 8) == &program.functions[1]);
	CHECK(!cosy_function_of(&program, 11));
	cosy_validated_deinit(&program);
}

/* Only edges back make their target a resume point, and only callees their exit. */
static void resume_points_are_as_few_as_can_be(void)
{
	struct bpf_insn insns[] = {
		/* 0 */ LOAD(BPF_DW, 1, 10, -24),
		/* 1 */ JUMP_K(BPF_JEQ, 1, 0, 1),  /* to 3 */
		/* 2 */ JUMP_K(BPF_JNE, 1, 0, -1), /* to itself */
		/* 3 */ STORE(BPF_DW, 1, 0, 1),
		/* 4 */ JUMP_K(BPF_JEQ, 1, 0, 1), /* to 6 */
		/* 5 */ EXIT(),
		/* 6 */ JUMP(-4), /* to 3 */
	};
	static const u8 expected[] = {
		COSY_MARK_HEAD | COSY_MARK_FUNCTION,
		COSY_MARK_HEAD,
		COSY_MARK_HEAD | COSY_MARK_RESUME | COSY_MARK_TARGET,
		COSY_MARK_HEAD | COSY_MARK_RESUME | COSY_MARK_TARGET | COSY_MARK_LEAVE,
		COSY_MARK_HEAD,
		COSY_MARK_HEAD,
		COSY_MARK_HEAD | COSY_MARK_TARGET,
	};
	struct cosy_validated program = validated(insns, sizeof(insns) / sizeof(*insns));
	u32 i;

	for (i = 0; i < sizeof(expected); i++)
		CHECK_EQ(program.marks[i], expected[i]);
	CHECK_EQ(program.resume_cnt, 2);
	CHECK_EQ(program.functions[0].frame_words, 3);
	cosy_validated_deinit(&program);
}

int main(void)
{
	arithmetic_is_checked();
	constants_are_checked();
	accesses_are_checked();
	jumps_are_checked();
	calls_are_checked();
	denied_calls_are_refused();
	reasons_are_asked_for_and_cut();
	sizes_are_checked();
	everything_documented_is_allowed();
	the_shape_is_found();
	resume_points_are_as_few_as_can_be();
	return check_result();
}
