// SPDX-License-Identifier: GPL-2.0 OR MIT
/* disasm_test.c - instructions as text. */
#include "assemble.h"

static void reads(struct bpf_insn insn, const char *expected)
{
	struct bpf_insn insns[2] = {insn, {.imm = 0x12}};
	char text[96];
	u32 slots = cosy_disasm(insns, 2, 0, text, sizeof(text));

	CHECK_EQ(slots, insn.code == (BPF_LD | BPF_IMM | BPF_DW) ? 2 : 1);
	if (strcmp(text, expected)) {
		fprintf(stderr, "\"%s\" instead of \"%s\"\n", text, expected);
		CHECK(!strcmp(text, expected));
	}
}

int main(void)
{
	struct bpf_insn insns[] = {MOV_K(3, 7), JUMP_K(BPF_JNE, 3, 0, -2)};
	char text[8];

	reads(MOV_K(1, -5), "r1 = -5");
	reads(MOV_X(1, 2), "r1 = r2");
	reads(INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, 16, 0), "r1 = (s16)r2");
	reads(ALU32_X(BPF_ADD, 1, 2), "w1 += w2");
	reads(INSN(BPF_ALU64 | BPF_DIV | BPF_X, 1, 2, 1, 0), "r1 s/= r2");
	reads(ALU64_K(BPF_ARSH, 1, 3), "r1 s>>= 3");
	reads(INSN(BPF_ALU64 | BPF_NEG, 4, 0, 0, 0), "r4 = -r4");
	reads(INSN(BPF_ALU | BPF_END | BPF_TO_BE, 4, 0, 0, 16), "r4 = be16 r4");
	reads(INSN(BPF_ALU64 | BPF_END, 4, 0, 0, 64), "r4 = bswap64 r4");
	reads(INSN(BPF_LD | BPF_IMM | BPF_DW, 9, 0, 0, 0x345), "r9 = 0x1200000345 ll");
	reads(LOAD(BPF_B, 1, 10, -8), "r1 = *(u8 *)(r10 -8)");
	reads(LOADS(BPF_W, 1, 2, 4), "r1 = *(s32 *)(r2 +4)");
	reads(STORE(BPF_DW, 6, 16, 7), "*(u64 *)(r6 +16) = r7");
	reads(STORE_K(BPF_H, 6, 0, 5), "*(u16 *)(r6 +0) = 5");
	reads(ATOMIC(BPF_DW, BPF_ADD, 6, 8, 7), "lock *(u64 *)(r6 +8) += r7");
	reads(ATOMIC(BPF_W, BPF_OR | BPF_FETCH, 6, 8, 7), "w7 = lock fetch *(u32 *)(r6 +8) |= w7");
	reads(ATOMIC(BPF_W, BPF_XCHG, 6, 8, 7), "w7 = xchg(*(u32 *)(r6 +8), w7)");
	reads(ATOMIC(BPF_DW, BPF_CMPXCHG, 6, 8, 7), "r0 = cmpxchg(*(u64 *)(r6 +8), r0, r7)");
	reads(JUMP(3), "goto 4");
	reads(INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 70000), "gotol 70001");
	reads(JUMP_X(BPF_JSGT, 1, 2, -1), "if r1 s> r2 goto 0");
	reads(JUMP32_K(BPF_JSET, 1, 4, 1), "if w1 & 4 goto 2");
	reads(CALL(0), "call read");
	reads(CALL(COSY_OP_memcpy), "call cosy_memcpy");
	reads(CALL(5000), "call #5000");
	reads(CALL_LOCAL(9), "call 10");
	reads(EXIT(), "exit");
	reads(INSN(0xff, 0, 0, 0, 0), "unknown 0xff");

	/* Positions are absolute; text that does not fit is cut. */
	CHECK_EQ(cosy_disasm(insns, 2, 1, text, sizeof(text)), 1);
	CHECK(!strcmp(text, "if r3 !"));
	return check_result();
}
