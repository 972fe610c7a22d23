// SPDX-License-Identifier: GPL-2.0 OR MIT
/* sandbox_live_test.c - which registers are read later, by each kind of instruction. */
#include "assemble.h"
#include "sandbox.h"

#define R(reg)	  (1u << (reg))
#define ALL	  0x3ffu
#define ARGUMENTS 0x3eu

/* Returns what is live at instruction `at`; ~0: it took too long to find out. */
static u32 live_at(const struct bpf_insn *insns, u32 count, u32 at)
{
	struct cosy_validated program;
	struct cosy_reject why;
	u32 ret = ~0u;
	u16 *live;

	MUST(!cosy_validate(insns, count, &program, &why));
	MUST(!cosy_live_find(&program, &live));
	if (live)
		ret = live[at];
	core_free(live);
	cosy_validated_deinit(&program);
	return ret;
}

#define LIVE(at, set, ...)                                                                         \
	do {                                                                                       \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                                    \
                                                                                                   \
		CHECK_EQ(live_at(insns_, sizeof(insns_) / sizeof(insns_[0]), at), set);            \
	} while (0)

static void arithmetic_reads_its_operands(void)
{
	LIVE(0, R(6), MOV_X(0, 6), EXIT());
	LIVE(0, 0, MOV_K(0, 6), EXIT());
	LIVE(0, 0, IMM64(0, 6), EXIT());
	LIVE(0, R(0) | R(6), ALU64_X(BPF_ADD, 0, 6), EXIT());
	LIVE(0, R(0), ALU32_K(BPF_ADD, 0, 6), EXIT());
	LIVE(0, R(2) | R(3), ALU32_X(BPF_MOV, 0, 2), ALU64_X(BPF_ADD, 0, 3), EXIT());
	LIVE(0, R(7), INSN(BPF_ALU64 | BPF_NEG, 7, 0, 0, 0), MOV_X(0, 7), EXIT());
	/* A swap's source bit is no register. */
	LIVE(0, R(7), INSN(BPF_ALU | BPF_END | BPF_TO_BE, 7, 0, 0, 16), MOV_X(0, 7), EXIT());
	/* Even where its result is overwritten: an instruction that is of no use is as it is. */
	LIVE(0, R(0) | R(4), ALU64_X(BPF_SUB, 0, 4), MOV_K(0, 1), EXIT());
}

static void accesses_read_addresses_and_values(void)
{
	LIVE(0, R(4), LOAD(BPF_DW, 0, 4, 0), EXIT());
	LIVE(0, R(0) | R(4), LOAD(BPF_DW, 5, 4, 0), EXIT());
	LIVE(0, R(0) | R(4) | R(5), STORE(BPF_DW, 4, 0, 5), EXIT());
	LIVE(0, R(0) | R(4), STORE_K(BPF_DW, 4, 0, 5), EXIT());
	LIVE(0, R(0) | R(5), STORE(BPF_DW, 10, -8, 5), EXIT());
	LIVE(0, 0, LOAD(BPF_DW, 0, 10, -8), EXIT());
	/* An atomic may read r0, and what it fetches may be of use no more. */
	LIVE(0, R(0) | R(4) | R(5), ATOMIC(BPF_DW, BPF_CMPXCHG, 4, 0, 5), MOV_K(0, 1), EXIT());
	LIVE(0, R(0) | R(4) | R(5), ATOMIC(BPF_DW, BPF_XCHG, 4, 0, 5), EXIT());
}

static void jumps_lead_to_what_is_read(void)
{
	LIVE(0, R(2) | R(3) | R(4), JUMP_K(BPF_JEQ, 2, 0, 2), MOV_X(0, 3), EXIT(), MOV_X(0, 4),
	     EXIT());
	LIVE(0, R(2) | R(3) | R(5), JUMP_X(BPF_JGT, 2, 5, 1), MOV_X(0, 3), MOV_K(0, 1), EXIT());
	LIVE(0, R(2) | R(0), JUMP32_K(BPF_JEQ, 2, 0, 1), MOV_K(0, 3), EXIT());
	LIVE(0, R(4), JUMP(2), MOV_X(0, 3), EXIT(), MOV_X(0, 4), EXIT());
	LIVE(0, R(4), INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 2), MOV_X(0, 3), EXIT(), MOV_X(0, 4),
	     EXIT());
	/* Around a loop: r4 is read in the next iteration, r5 is not. */
	LIVE(2, R(0) | R(4) | R(9), MOV_K(9, 2), ALU64_X(BPF_ADD, 0, 4), MOV_K(5, 1),
	     ALU64_X(BPF_ADD, 0, 5), JUMP_K(BPF_JNE, 9, 0, -4), EXIT());
	/* Around two, of which the inner one does not read it. */
	LIVE(3, R(0) | R(4) | R(8) | R(9), MOV_K(9, 2), ALU64_X(BPF_ADD, 0, 4), MOV_K(8, 2),
	     ALU64_K(BPF_ADD, 8, -1), JUMP_K(BPF_JNE, 8, 0, -2), JUMP_K(BPF_JNE, 9, 0, -5), EXIT());
}

static void calls_read_their_arguments(void)
{
	LIVE(0, 0, CALL(COSY_NR_getpid), EXIT());
	LIVE(0, R(1) | R(2) | R(3), CALL(COSY_NR_read), EXIT());
	LIVE(0, ARGUMENTS & ~R(5), CALL(COSY_NR_pread64), EXIT());
	/* The sixth argument is in r0. */
	LIVE(0, ARGUMENTS | R(0), CALL(COSY_NR_sendto), EXIT());
	/* r1 to r5 are zeroed, and r0 is the result; the others are as they were. */
	LIVE(0, R(6), CALL(COSY_NR_getpid), ALU64_X(BPF_ADD, 0, 1), ALU64_X(BPF_ADD, 0, 6), EXIT());
	/* A local call saves r6 to r9, and its callee may read the rest. */
	LIVE(0, ALL, CALL_LOCAL(1), EXIT(), MOV_K(0, 1), EXIT());
	LIVE(2, R(0), CALL_LOCAL(1), EXIT(), JUMP(0), EXIT());
}

/* Each pass brings what is live from one edge back to the next one. */
static u32 live_after_edges(u32 count)
{
	struct bpf_insn insns[64] = {MOV_X(0, 7), EXIT()};
	u32 i;

	for (i = 0; i < count; i++)
		insns[2 + i] = JUMP(i ? -2 : -3);
	return live_at(insns, count + 2, count + 1);
}

static void passes_are_bounded(void)
{
	CHECK_EQ(live_after_edges(1), R(7));
	CHECK_EQ(live_after_edges(14), R(7));
	CHECK_EQ(live_after_edges(40), ~0u);
}

int main(void)
{
	arithmetic_reads_its_operands();
	accesses_read_addresses_and_values();
	jumps_lead_to_what_is_read();
	calls_read_their_arguments();
	passes_are_bounded();
	return check_result();
}
