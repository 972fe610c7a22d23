// SPDX-License-Identifier: MIT
/* interp_test.c - tests every instruction, operation and leave of the interpreter. */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "interp/interp.h"
#include "interp/interp_ops.h"

#include "assemble.h"

#define STACK_SIZE 65536

static u8 *stack; /* below a guard page */
static struct cosy_state state;
static struct cosy_validated latest; /* released by the next run, since faults jump away */

static s64 run(const struct bpf_insn *insns, u32 cnt, void *ctx)
{
	struct libcosy_interp in = {
		.program = &latest,
		.state = &state,
		.ctx = (u64)ctx,
		.stack = stack,
		.stack_size = STACK_SIZE,
	};

	cosy_validated_deinit(&latest);
	latest = validated(insns, cnt);
	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_DONE);
	return in.ret;
}

#define RUN(ctx, ...)                                                                              \
	({                                                                                         \
		struct bpf_insn insns_[] = {__VA_ARGS__};                                          \
		run(insns_, sizeof(insns_) / sizeof(*insns_), ctx);                                \
	})

/* Makes one arithmetic instruction on r0 = a, r2 = b. */
static u64 compute(struct bpf_insn insn, u64 a, u64 b)
{
	return RUN(NULL, IMM64(0, a), IMM64(2, b), insn, EXIT());
}

static void arithmetic(void)
{
	static const u64 values[] = {0,
				     1,
				     2,
				     7,
				     31,
				     63,
				     64,
				     100,
				     0x7fffffff,
				     0x80000000,
				     0xffffffff,
				     0x100000000,
				     0x7fffffffffffffff,
				     0x8000000000000000,
				     0xfffffffffffffffe,
				     0xffffffffffffffff,
				     0x0123456789abcdef};
	unsigned int n = sizeof(values) / sizeof(*values);

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < n; j++) {
			u64 a = values[i], b = values[j];
			u32 a32 = (u32)a, b32 = (u32)b;

			CHECK_EQ(compute(ALU64_X(BPF_ADD, 0, 2), a, b), a + b);
			CHECK_EQ(compute(ALU64_X(BPF_SUB, 0, 2), a, b), a - b);
			CHECK_EQ(compute(ALU64_X(BPF_MUL, 0, 2), a, b), a * b);
			CHECK_EQ(compute(ALU64_X(BPF_OR, 0, 2), a, b), a | b);
			CHECK_EQ(compute(ALU64_X(BPF_AND, 0, 2), a, b), a & b);
			CHECK_EQ(compute(ALU64_X(BPF_XOR, 0, 2), a, b), a ^ b);
			CHECK_EQ(compute(ALU64_X(BPF_MOV, 0, 2), a, b), b);
			CHECK_EQ(compute(ALU64_X(BPF_LSH, 0, 2), a, b), a << (b & 63));
			CHECK_EQ(compute(ALU64_X(BPF_RSH, 0, 2), a, b), a >> (b & 63));
			CHECK_EQ(compute(ALU64_X(BPF_ARSH, 0, 2), a, b), (s64)a >> (b & 63));
			CHECK_EQ(compute(ALU64_X(BPF_DIV, 0, 2), a, b), b ? a / b : 0);
			CHECK_EQ(compute(ALU64_X(BPF_MOD, 0, 2), a, b), b ? a % b : a);
			CHECK_EQ(compute(ALU32_X(BPF_ADD, 0, 2), a, b), (u32)(a32 + b32));
			CHECK_EQ(compute(ALU32_X(BPF_SUB, 0, 2), a, b), (u32)(a32 - b32));
			CHECK_EQ(compute(ALU32_X(BPF_MUL, 0, 2), a, b), (u32)(a32 * b32));
			CHECK_EQ(compute(ALU32_X(BPF_OR, 0, 2), a, b), a32 | b32);
			CHECK_EQ(compute(ALU32_X(BPF_AND, 0, 2), a, b), a32 & b32);
			CHECK_EQ(compute(ALU32_X(BPF_XOR, 0, 2), a, b), a32 ^ b32);
			CHECK_EQ(compute(ALU32_X(BPF_MOV, 0, 2), a, b), b32);
			CHECK_EQ(compute(ALU32_X(BPF_LSH, 0, 2), a, b), a32 << (b & 31));
			CHECK_EQ(compute(ALU32_X(BPF_RSH, 0, 2), a, b), a32 >> (b & 31));
			CHECK_EQ(compute(ALU32_X(BPF_ARSH, 0, 2), a, b),
				 (u32)((s32)a32 >> (b & 31)));
			CHECK_EQ(compute(ALU32_X(BPF_DIV, 0, 2), a, b), b32 ? a32 / b32 : 0);
			CHECK_EQ(compute(ALU32_X(BPF_MOD, 0, 2), a, b), b32 ? a32 % b32 : a32);
		}
		CHECK_EQ(compute(ALU64_K(BPF_NEG, 0, 0), values[i], 0), -values[i]);
		CHECK_EQ(compute(ALU32_K(BPF_NEG, 0, 0), values[i], 0), (u32)-values[i]);
	}
	/* Immediates are sign-extended, also to an unsigned division. */
	CHECK_EQ(compute(ALU64_K(BPF_ADD, 0, -1), 5, 0), 4);
	CHECK_EQ(compute(ALU64_K(BPF_DIV, 0, -1), ~0ull, 0), 1);
	CHECK_EQ(compute(ALU32_K(BPF_DIV, 0, -1), 0xffffffff, 0), 1);
	CHECK_EQ(compute(ALU64_K(BPF_LSH, 0, 63), 1, 0), 1ull << 63);
}

static void signed_division(void)
{
	struct bpf_insn sdiv64 = INSN(BPF_ALU64 | BPF_X | BPF_DIV, 0, 2, 1, 0);
	struct bpf_insn smod64 = INSN(BPF_ALU64 | BPF_X | BPF_MOD, 0, 2, 1, 0);
	struct bpf_insn sdiv32 = INSN(BPF_ALU | BPF_X | BPF_DIV, 0, 2, 1, 0);
	struct bpf_insn smod32 = INSN(BPF_ALU | BPF_X | BPF_MOD, 0, 2, 1, 0);
	u64 min64 = 1ull << 63, min32 = 1u << 31;

	CHECK_EQ(compute(sdiv64, -7, 2), -3);
	CHECK_EQ(compute(smod64, -7, 2), -1);
	CHECK_EQ(compute(smod64, 7, -2), 1);
	CHECK_EQ(compute(sdiv64, 7, 0), 0);
	CHECK_EQ(compute(smod64, -7, 0), -7);
	CHECK_EQ(compute(sdiv64, min64, -1), min64);
	CHECK_EQ(compute(smod64, min64, -1), 0);
	CHECK_EQ(compute(sdiv64, 9, -1), -9);
	CHECK_EQ(compute(sdiv32, -7, 2), (u32)-3);
	CHECK_EQ(compute(smod32, -7, 2), (u32)-1);
	CHECK_EQ(compute(sdiv32, 7, 1ull << 32), 0);
	CHECK_EQ(compute(smod32, -7, 0), (u32)-7);
	CHECK_EQ(compute(sdiv32, min32, 0xffffffff), min32);
	CHECK_EQ(compute(smod32, min32, 0xffffffff), 0);
}

static void moves_and_swaps(void)
{
	u64 v = 0x8182838485868788;

	CHECK_EQ(compute(INSN(BPF_ALU64 | BPF_X | BPF_MOV, 0, 2, 8, 0), 0, v), (s64)(s8)0x88);
	CHECK_EQ(compute(INSN(BPF_ALU64 | BPF_X | BPF_MOV, 0, 2, 16, 0), 0, v), (s64)(s16)0x8788);
	CHECK_EQ(compute(INSN(BPF_ALU64 | BPF_X | BPF_MOV, 0, 2, 32, 0), 0, v),
		 (s64)(s32)0x85868788);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_X | BPF_MOV, 0, 2, 8, 0), 0, v), 0xffffff88);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_X | BPF_MOV, 0, 2, 16, 0), 0, v), 0xffff8788);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_END | BPF_TO_LE, 0, 0, 0, 16), v, 0), 0x8788);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_END | BPF_TO_LE, 0, 0, 0, 32), v, 0), 0x85868788);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_END | BPF_TO_LE, 0, 0, 0, 64), v, 0), v);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_END | BPF_TO_BE, 0, 0, 0, 16), v, 0), 0x8887);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_END | BPF_TO_BE, 0, 0, 0, 32), v, 0), 0x88878685);
	CHECK_EQ(compute(INSN(BPF_ALU | BPF_END | BPF_TO_BE, 0, 0, 0, 64), v, 0),
		 0x8887868584838281);
	CHECK_EQ(compute(INSN(BPF_ALU64 | BPF_END, 0, 0, 0, 16), v, 0), 0x8887);
	CHECK_EQ(compute(INSN(BPF_ALU64 | BPF_END, 0, 0, 0, 32), v, 0), 0x88878685);
	CHECK_EQ(compute(INSN(BPF_ALU64 | BPF_END, 0, 0, 0, 64), v, 0), 0x8887868584838281);
}

/* True if `a op b` jumps, in 64 and in 32 bits. */
static bool jumps(u8 class, u8 op, u64 a, u64 b)
{
	return RUN(NULL, IMM64(1, a), IMM64(2, b), MOV_K(0, 1),
		   INSN(class | BPF_X | op, 1, 2, 1, 0), MOV_K(0, 0), EXIT());
}

static void jump_conditions(void)
{
	static const u64 values[] = {
		0, 1, 0x80000000, 0xffffffff, 0x100000000, 0x8000000000000000, 0xffffffffffffffff};

	for (unsigned int i = 0; i < 7; i++) {
		for (unsigned int j = 0; j < 7; j++) {
			u64 a = values[i], b = values[j];
			u32 a32 = (u32)a, b32 = (u32)b;

			CHECK_EQ(jumps(BPF_JMP, BPF_JEQ, a, b), a == b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JNE, a, b), a != b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JGT, a, b), a > b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JGE, a, b), a >= b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JLT, a, b), a < b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JLE, a, b), a <= b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JSET, a, b), (a & b) != 0);
			CHECK_EQ(jumps(BPF_JMP, BPF_JSGT, a, b), (s64)a > (s64)b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JSGE, a, b), (s64)a >= (s64)b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JSLT, a, b), (s64)a < (s64)b);
			CHECK_EQ(jumps(BPF_JMP, BPF_JSLE, a, b), (s64)a <= (s64)b);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JEQ, a, b), a32 == b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JNE, a, b), a32 != b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JGT, a, b), a32 > b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JGE, a, b), a32 >= b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JLT, a, b), a32 < b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JLE, a, b), a32 <= b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JSET, a, b), (a32 & b32) != 0);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JSGT, a, b), (s32)a32 > (s32)b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JSGE, a, b), (s32)a32 >= (s32)b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JSLT, a, b), (s32)a32 < (s32)b32);
			CHECK_EQ(jumps(BPF_JMP32, BPF_JSLE, a, b), (s32)a32 <= (s32)b32);
		}
	}
	/* Try gotol, over an instruction, and a loop of ten. */
	CHECK_EQ(RUN(NULL, MOV_K(0, 3), INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 1), MOV_K(0, 4), EXIT()),
		 3);
	CHECK_EQ(RUN(NULL, MOV_K(0, 0), ALU64_K(BPF_ADD, 0, 2), JUMP_K(BPF_JLT, 0, 20, -2), EXIT()),
		 20);
}

static void memory(void)
{
	u8 mem[32];
	u64 v = 0x8182838485868788;

	memset(mem, 0xee, sizeof(mem));
	memcpy(mem + 3, &v, 8); /* unaligned on purpose */
	CHECK_EQ(RUN(mem, LOAD(BPF_B, 0, 1, 3), EXIT()), 0x88);
	CHECK_EQ(RUN(mem, LOAD(BPF_H, 0, 1, 3), EXIT()), 0x8788);
	CHECK_EQ(RUN(mem, LOAD(BPF_W, 0, 1, 3), EXIT()), 0x85868788);
	CHECK_EQ(RUN(mem, LOAD(BPF_DW, 0, 1, 3), EXIT()), v);
	CHECK_EQ(RUN(mem, LOADS(BPF_B, 0, 1, 3), EXIT()), (s64)(s8)0x88);
	CHECK_EQ(RUN(mem, LOADS(BPF_H, 0, 1, 3), EXIT()), (s64)(s16)0x8788);
	CHECK_EQ(RUN(mem, LOADS(BPF_W, 0, 1, 3), EXIT()), (s64)(s32)0x85868788);
	RUN(mem, STORE_K(BPF_B, 1, 3, 0x11), EXIT());
	CHECK(mem[3] == 0x11 && mem[4] == 0x87 && mem[2] == 0xee);
	RUN(mem, STORE_K(BPF_H, 1, 3, 0x2222), EXIT());
	CHECK(mem[3] == 0x22 && mem[4] == 0x22 && mem[5] == 0x86);
	RUN(mem, STORE_K(BPF_DW, 1, 3, -2), EXIT());
	memcpy(&v, mem + 3, 8);
	CHECK_EQ(v, -2);
	CHECK_EQ(mem[11], 0xee);
	RUN(mem, IMM64(2, 0x1122334455667788), STORE(BPF_W, 1, 3, 2), EXIT());
	memcpy(&v, mem + 3, 8);
	CHECK_EQ(v, 0xffffffff55667788);
	/* The spill frame begins zeroed. */
	CHECK_EQ(RUN(NULL, LOAD(BPF_DW, 0, 10, -448), EXIT()), 0);
	CHECK_EQ(RUN(NULL, MOV_K(2, -5), STORE(BPF_DW, 10, -8, 2), STORE_K(BPF_B, 10, -8, 0),
		     LOADS(BPF_H, 0, 10, -8), EXIT()),
		 -256);
	CHECK_EQ(state.frame[COSY_FRAME_SIZE / 8 - 1], -256);
}

static void atomics(void)
{
	u64 m[2];

#define CELL(init, ...) (m[0] = (init), m[1] = 0x55, RUN(m, __VA_ARGS__, EXIT()))
	CHECK_EQ(CELL(5, MOV_K(0, 3), ATOMIC(BPF_DW, BPF_ADD, 1, 0, 0)), 3);
	CHECK_EQ(m[0], 8);
	CHECK_EQ(CELL(5, MOV_K(0, 3), ATOMIC(BPF_DW, BPF_ADD | BPF_FETCH, 1, 0, 0)), 5);
	CHECK_EQ(CELL(5, MOV_K(0, 10), ATOMIC(BPF_DW, BPF_OR | BPF_FETCH, 1, 0, 0)), 5);
	CHECK_EQ(m[0], 15);
	CHECK_EQ(CELL(12, MOV_K(0, 10), ATOMIC(BPF_DW, BPF_AND | BPF_FETCH, 1, 0, 0)), 12);
	CHECK_EQ(m[0], 8);
	CHECK_EQ(CELL(12, MOV_K(0, 10), ATOMIC(BPF_DW, BPF_XOR | BPF_FETCH, 1, 0, 0)), 12);
	CHECK_EQ(m[0], 6);
	CHECK_EQ(CELL(12, MOV_K(0, 10), ATOMIC(BPF_DW, BPF_XCHG, 1, 0, 0)), 12);
	CHECK_EQ(m[0], 10);
	CHECK_EQ(CELL(12, MOV_K(0, 12), MOV_K(2, 7), ATOMIC(BPF_DW, BPF_CMPXCHG, 1, 0, 2)), 12);
	CHECK_EQ(m[0], 7);
	CHECK_EQ(CELL(12, MOV_K(0, 13), MOV_K(2, 7), ATOMIC(BPF_DW, BPF_CMPXCHG, 1, 0, 2)), 12);
	CHECK_EQ(m[0], 12);
	/* At 32 bits the neighbour is untouched, and a fetched value zero-extended. */
	CHECK_EQ(CELL(0x1ffffffff, MOV_K(0, 1), ATOMIC(BPF_W, BPF_ADD | BPF_FETCH, 1, 0, 0)),
		 0xffffffff);
	CHECK_EQ(m[0], 0x100000000);
	CHECK_EQ(CELL(0xffffffff, MOV_K(0, -1), MOV_K(2, 7), ATOMIC(BPF_W, BPF_CMPXCHG, 1, 0, 2)),
		 0xffffffff);
	CHECK_EQ(m[0], 7);
	CHECK_EQ(m[1], 0x55);
#undef CELL
}

static void calls(void)
{
	u64 mem[2] = {0};
	char byte = 'x';
	int fd[2];

	CHECK_EQ(RUN(NULL, CALL(SYS_getpid), EXIT()), getpid());
	CHECK_EQ(RUN(NULL, MOV_K(1, -1), CALL(SYS_close), EXIT()), -EBADF);
	/* After a call r1-r5 are 0, and r6-r9 are kept. */
	CHECK_EQ(RUN(NULL, MOV_K(1, 9), MOV_K(5, 9), MOV_K(6, 1), CALL(SYS_getppid), MOV_X(0, 1),
		     ALU64_X(BPF_OR, 0, 5), ALU64_X(BPF_OR, 0, 6), EXIT()),
		 1);
	/* Pass six arguments: the sixth is in r0. */
	CHECK_EQ(RUN(NULL, MOV_K(1, 0), MOV_K(2, 4096), MOV_K(3, PROT_READ),
		     MOV_K(4, MAP_PRIVATE | MAP_ANONYMOUS), MOV_K(5, -1), MOV_K(0, 1),
		     CALL(SYS_mmap), EXIT()),
		 -EINVAL);
	MUST(!pipe(fd));
	CHECK_EQ(RUN(&byte, MOV_X(2, 1), MOV_K(1, fd[1]), MOV_K(3, 1), CALL(SYS_write), EXIT()), 1);
	byte = 0;
	CHECK_EQ(RUN(&byte, MOV_X(2, 1), MOV_K(1, fd[0]), MOV_K(3, 1), CALL(SYS_read), EXIT()), 1);
	CHECK_EQ(byte, 'x');
	CHECK_EQ(RUN(mem, MOV_K(1, 0), CALL(COSY_OP_ctx), EXIT()), (u64)mem);
	errno = 77;
	RUN(NULL, MOV_K(1, -1), CALL(SYS_close), EXIT());
	CHECK_EQ(errno, 77);
}

#define OP2(op, x, y) RUN(NULL, IMM64(1, (u64)(x)), IMM64(2, (u64)(y)), CALL(COSY_OP_##op), EXIT())
#define OP3(op, x, y, z)                                                                           \
	RUN(NULL, IMM64(1, (u64)(x)), IMM64(2, (u64)(y)), IMM64(3, (u64)(z)), CALL(COSY_OP_##op),  \
	    EXIT())

static void operations(void)
{
	struct {
		char a[16], b[16];
	} m;
	void *at;

	memset(&m, 0, sizeof(m));
	CHECK_EQ(OP3(memset, m.a, 'q', 5), 0);
	CHECK(!strcmp(m.a, "qqqqq"));
	CHECK_EQ(OP3(memcpy, m.b, m.a, 6), 0);
	CHECK(!strcmp(m.b, "qqqqq"));
	strcpy(m.a, "abcdef");
	OP3(memmove, m.a + 1, m.a, 5);
	CHECK(!strcmp(m.a, "aabcde"));
	CHECK(OP3(memcmp, "abc", "abd", 3) < 0);
	CHECK_EQ(OP3(memcmp, "abc", "abd", 2), 0);
	CHECK(OP2(strcmp, "b", "a") > 0);
	CHECK_EQ(OP3(strncmp, "abx", "aby", 2), 0);
	at = m.a;
	CHECK_EQ(OP3(memchr, m.a, 'c', 6), (u64)at + 3);
	CHECK_EQ(OP3(memchr, m.a, 'z', 6), 0);
	CHECK_EQ(OP3(memrchr, m.a, 'a', 6), (u64)at + 1);
	CHECK_EQ(OP2(strchr, m.a, 'e'), (u64)at + 5);
	CHECK_EQ(OP2(strrchr, m.a, 'a'), (u64)at + 1);
	CHECK_EQ(OP2(strchrnul, m.a, 'z'), (u64)at + 6);
	CHECK_EQ(OP2(rawmemchr, m.a, 'd'), (u64)at + 4);
	CHECK_EQ(OP2(strlen, m.a, 0), 6);
	CHECK_EQ(OP2(strnlen, m.a, 4), 4);
	CHECK_EQ(OP2(strcpy, m.b, "xyz"), (u64)m.b);
	CHECK(!strcmp(m.b, "xyz"));
	CHECK_EQ(OP2(stpcpy, m.b, "xy"), (u64)m.b + 2);
	CHECK_EQ(OP3(strncpy, m.b, "12345", 3), (u64)m.b);
	CHECK(!memcmp(m.b, "123", 3));
	CHECK_EQ(RUN(&m, IMM64(1, (u64)m.a), MOV_K(2, 6), IMM64(3, (u64) "cd"), MOV_K(4, 2),
		     CALL(COSY_OP_memmem), EXIT()),
		 (u64)at + 3);
	CHECK_EQ(RUN(NULL, CALL(COSY_OP_fence), EXIT()), 0);
}

static void string_searches(void)
{
	const s32 *lower = *__ctype_tolower_loc();
	const char *text = "From: A; from: b";

#define FOLDED(a, b, n)                                                                            \
	RUN(NULL, IMM64(1, (u64)(a)), IMM64(2, (u64)(b)), IMM64(3, (u64)(n)),                      \
	    IMM64(4, (u64)lower), CALL(COSY_OP_strncasecmp), EXIT())
	CHECK_EQ(OP2(strstr, text, "from"), (u64)text + 9);
	CHECK_EQ(OP2(strstr, text, "from: c"), 0);
	CHECK_EQ(OP2(strstr, text, ""), (u64)text);
	CHECK_EQ(OP3(strcasestr, text, "FROM: B", lower), (u64)text + 9);
	CHECK_EQ(OP3(strcasestr, text, "FROM: C", lower), 0);
	CHECK_EQ(FOLDED("FROM", "from", ~0ull), 0);
	CHECK_EQ(FOLDED("FROM", "frost", 3), 0);
	CHECK_EQ(FOLDED("FROM", "frost", 4), 'm' - 's');
	CHECK_EQ(FOLDED("FR", "from", 9), 0 - 'o');
	CHECK_EQ(FOLDED("a", "B", 0), 0);
	/* The table decides. */
	s32 same[256] = {};

	lower = same;
	CHECK_EQ(FOLDED("abc", "xyz", 3), 0);
}

static u64 weigh(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
	       12 * l;
}

static char printed[100];

/* A function that is called may take fewer arguments, or as many as it finds in a format. */
static void calls_out(void)
{
	u64 ones[COSY_MAX_ARGUMENTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	u64 text[] = {(u64)printed, sizeof(printed), (u64) "%s %d %d %d %ld", (u64) "a", 1, 2, 3,
		      -4ull};

	CHECK_EQ(RUN(NULL, IMM64(1, (u64)weigh), IMM64(2, (u64)ones), MOV_K(3, 12),
		     CALL(COSY_OP_call_out), EXIT()),
		 78);
	CHECK_EQ(RUN(NULL, IMM64(1, (u64)getpid), MOV_K(2, 0), MOV_K(3, 0), CALL(COSY_OP_call_out),
		     EXIT()),
		 getpid());
	CHECK_EQ(RUN(NULL, IMM64(1, (u64)snprintf), IMM64(2, (u64)text), MOV_K(3, 8),
		     CALL(COSY_OP_call_out), EXIT()),
		 10);
	CHECK(!strcmp(printed, "a 1 2 3 -4"));
}

/* Computes fib(n) by recursion, with r6 and a spill slot live across the calls. */
static const struct bpf_insn fib[] = {
	LOAD(BPF_DW, 1, 1, 0),
	CALL_LOCAL(1), /* -> 3 */
	EXIT(),
	MOV_X(0, 1), /* 3 */
	JUMP_K(BPF_JLT, 1, 2, 9),
	STORE(BPF_DW, 10, -16, 1),
	ALU64_K(BPF_ADD, 1, -1),
	CALL_LOCAL(-5),
	MOV_X(6, 0),
	LOAD(BPF_DW, 1, 10, -16),
	ALU64_K(BPF_ADD, 1, -2),
	CALL_LOCAL(-9),
	ALU64_X(BPF_ADD, 0, 6),
	EXIT(),
	EXIT(),
};
#define FIB_CNT (sizeof(fib) / sizeof(*fib))

static void local_calls(void)
{
	u64 n = 15;

	CHECK_EQ(run(fib, FIB_CNT, &n), 610);
	CHECK_EQ(state.sp, 0);
	CHECK_EQ(state.fp, ~0ull);
	/* The callee's spill frame is zeroed, the caller's given back. */
	CHECK_EQ(RUN(NULL, STORE_K(BPF_DW, 10, -8, 5), CALL_LOCAL(3), LOAD(BPF_DW, 1, 10, -8),
		     ALU64_X(BPF_ADD, 0, 1), EXIT(), LOAD(BPF_DW, 0, 10, -8),
		     STORE_K(BPF_DW, 10, -8, 70), EXIT()),
		 5);
	/* alloca gives memory that is 16-byte aligned, and gone at the function's end. */
	CHECK_EQ(RUN(NULL, CALL_LOCAL(1), EXIT(), MOV_K(1, 5), CALL(COSY_OP_alloca), MOV_X(6, 0),
		     MOV_K(1, 5), CALL(COSY_OP_alloca), ALU64_X(BPF_SUB, 0, 6), EXIT()),
		 16);
	CHECK_EQ(state.sp, 0);
}

/*
 * Runs fib one instruction, or one resume point, at a time, moving state and
 * software stack to other memory each time: nothing may hide anywhere else.
 */
static void hand_over(unsigned int stop)
{
	struct cosy_validated program = validated(fib, FIB_CNT);
	struct cosy_state *moved = NULL;
	u64 n = 9, stops = 0;
	struct libcosy_interp in = {
		.program = &program,
		.state = &state,
		.ctx = (u64)&n,
		.stack = stack,
		.stack_size = STACK_SIZE,
	};
	enum cosy_status status;

	while ((status = libcosy_interp_run(&in, stop)) == COSY_LEFT_WORK) {
		struct libcosy_interp next = {
			.program = &program,
			.state = malloc(sizeof(state)),
			.ctx = (u64)&n,
			.stack = stack,
			.stack_size = STACK_SIZE,
			.resume = in.resume,
		};

		MUST(next.state);
		*next.state = *in.state;
		memset(in.state, 0xa5, sizeof(*in.state));
		free(moved);
		moved = next.state;
		in = next;
		stops++;
	}
	CHECK_EQ(status, COSY_DONE);
	CHECK_EQ(in.ret, 34);
	CHECK(stops > 100);
	free(moved);
	cosy_validated_deinit(&program);
}

static void limits(void)
{
	struct bpf_insn insns[] = {ALU64_K(BPF_ADD, 0, 1), JUMP(-2), EXIT()};
	struct cosy_validated program = validated(insns, 3);
	struct libcosy_interp in = {
		.program = &program,
		.state = &state,
		.max_steps = 1000,
	};

	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_ENDED_STEPS);
	CHECK_EQ(state.reg[0], 1001);
	CHECK_EQ(in.resume, 1);
	CHECK_EQ(state.steps, 1000);
	/* Steps that are used stay used. */
	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_ENDED_STEPS);
	in.max_steps = 0;
	in.max_ns = 20000000;
	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_ENDED_TIME);
	CHECK(state.kernel_ns >= 20000000);
	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_ENDED_TIME);
	cosy_validated_deinit(&program);
}

/* Checks that once the time is up no other call is made, however few there were. */
static void limit_of_long_calls(void)
{
	static char text[1 << 20];
	struct bpf_insn insns[] = {
		ALU64_K(BPF_ADD, 7, 1), MOV_X(1, 6),	      MOV_K(2, 1),
		MOV_K(3, sizeof(text)), CALL(COSY_OP_memset), JUMP(-6),
	};
	struct cosy_validated program = validated(insns, sizeof(insns) / sizeof(*insns));
	struct libcosy_interp in = {.program = &program, .state = &state, .resume = 1, .max_ns = 1};

	/* One operation may be made first: between calls the clock is not read each time. */
	memset(&state, 0, sizeof(state));
	state.steps = 1;
	state.reg[6] = (u64)text;
	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_ENDED_TIME);
	CHECK(state.reg[7] <= 2);
	cosy_validated_deinit(&program);
}

/* --- Faults -------------------------------------------------------------------- */

static sigjmp_buf out;
static void *fault_addr;
static volatile int fault_code;
static void *repair;
static volatile int patience; /* handlers of a division that return before one jumps */

/* Sets all registers but the stack's and the next instruction's, as to mend a divisor. */
static void set_registers(ucontext_t *uc)
{
	for (int i = REG_R8; i <= REG_RCX; i++)
		uc->uc_mcontext.gregs[i] = 1;
}

static void on_signal(int sig, siginfo_t *info, void *uc)
{
	fault_addr = info->si_addr;
	fault_code = info->si_code;
	if (repair && sig == SIGSEGV) {
		mprotect(repair, 4096, PROT_READ | PROT_WRITE);
		repair = NULL;
		return;
	}
	if (sig == SIGFPE && patience) {
		patience--;
		set_registers(uc);
		return;
	}
	siglongjmp(out, sig);
}

static void faults(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	u8 *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int sig;

	MUST(page != MAP_FAILED);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGFPE, &action, NULL);

	sig = sigsetjmp(out, 1);
	if (!sig)
		RUN(page, STORE_K(BPF_B, 1, 5, 1), EXIT());
	CHECK_EQ(sig, SIGSEGV);
	CHECK(fault_addr == page + 5);

	/* The handler repairs: the access is made again and the run goes on. */
	repair = page;
	CHECK_EQ(RUN(page, STORE_K(BPF_B, 1, 5, 44), LOAD(BPF_B, 0, 1, 5), EXIT()), 44);

	sig = sigsetjmp(out, 1);
	if (!sig)
		RUN(NULL, CALL(COSY_OP_trap), EXIT());
	CHECK_EQ(sig, SIGILL);

	sig = sigsetjmp(out, 1);
	if (!sig)
		RUN(NULL, CALL(COSY_OP_divide_error), EXIT());
	CHECK_EQ(sig, SIGFPE);
	CHECK_EQ(fault_code, FPE_INTDIV);

	/* It comes again whatever the handler does to the registers. */
	patience = 3;
	sig = sigsetjmp(out, 1);
	if (!sig)
		RUN(NULL, CALL(COSY_OP_divide_error), EXIT());
	CHECK_EQ(sig, SIGFPE);
	CHECK_EQ(patience, 0);

	/* Endless recursion ends on the software stack's guard page. */
	sig = sigsetjmp(out, 1);
	if (!sig)
		RUN(NULL, CALL_LOCAL(1), EXIT(), CALL_LOCAL(-1), EXIT());
	CHECK_EQ(sig, SIGSEGV);
	CHECK(fault_addr == stack + STACK_SIZE);

	sig = sigsetjmp(out, 1);
	if (!sig)
		RUN(NULL, MOV_K(1, -1), CALL(COSY_OP_alloca), EXIT());
	CHECK_EQ(sig, SIGSEGV);
	CHECK(fault_addr == stack + STACK_SIZE);
}

/* Returns by a saved frame that names no call of this program. */
static void forged_return(void)
{
	struct cosy_validated program = validated(fib, FIB_CNT);
	struct cosy_frame *frame = (struct cosy_frame *)stack;
	u64 n = 5;
	struct libcosy_interp in = {
		.program = &program,
		.state = &state,
		.ctx = (u64)&n,
		.stack = stack,
		.stack_size = STACK_SIZE,
	};
	static const u64 wrong[] = {0, 2, FIB_CNT, ~0ull};
	volatile int sig;

	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		in.resume = 0;
		while (libcosy_interp_run(&in, COSY_MARK_RESUME) == COSY_LEFT_WORK && state.fp)
			;
		CHECK_EQ(frame->call, 1);
		frame->call = wrong[i];
		sig = sigsetjmp(out, 1);
		if (!sig)
			libcosy_interp_run(&in, 0);
		CHECK_EQ(sig, SIGILL);
	}
	cosy_validated_deinit(&program);
}

int main(void)
{
	stack = mmap(NULL, STACK_SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	MUST(stack != MAP_FAILED && !mprotect(stack + STACK_SIZE, 4096, PROT_NONE));
	arithmetic();
	signed_division();
	moves_and_swaps();
	jump_conditions();
	memory();
	atomics();
	calls();
	operations();
	string_searches();
	calls_out();
	local_calls();
	hand_over(COSY_MARK_HEAD);
	hand_over(COSY_MARK_RESUME);
	limits();
	limit_of_long_calls();
	faults();
	forged_return();
	cosy_validated_deinit(&latest);
	return check_result();
}
