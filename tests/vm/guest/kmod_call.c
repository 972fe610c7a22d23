/* SPDX-License-Identifier: MIT */
/*
 * Tests system calls, operations and local calls of compounds.
 * Arguments choose parts by name; none runs all.
 */
#include "kmod.h"

static void test_calls(void)
{
	int pipes[2];
	struct cosy_stats before = counts(), after;

	RESULT(getpid(), CALL(SYS_getpid), EXIT);
	/* After a call r1-r5 are 0, and r6-r9 what they were. */
	RESULT(0, MOV(1, 1), MOV(2, 2), MOV(3, 3), MOV(4, 4), MOV(5, 5), CALL(SYS_getpid),
	       MOV(0, 0), ADDR(0, 1), ADDR(0, 2), ADDR(0, 3), ADDR(0, 4), ADDR(0, 5), EXIT);
	RESULT(6 + 7 + 8 + 9, MOV(6, 6), MOV(7, 7), MOV(8, 8), MOV(9, 9), CALL(SYS_getpid),
	       MOV(0, 0), ADDR(0, 6), ADDR(0, 7), ADDR(0, 8), ADDR(0, 9), EXIT);
	RESULT(-EBADF, MOV(1, -1), CALL(SYS_close), EXIT);
	/* Pass six arguments: mmap, with the offset in r0. */
	RESULT(-EINVAL, MOV(1, 0), MOV(2, 4096), MOV(3, 3), MOV(4, MAP_PRIVATE | MAP_ANONYMOUS),
	       MOV(5, -1), MOV(0, 1), CALL(SYS_mmap), EXIT);
	MUST(!pipe(pipes));
	RESULT(5, MOV(1, pipes[1]), WIDE(2, (uintptr_t)"hello"), MOV(3, 5), CALL(SYS_write), EXIT);
	RESULT(5, MOV(1, pipes[0]), WIDE(2, (uintptr_t)shared), MOV(3, 100), CALL(SYS_read), EXIT);
	CHECK(!memcmp(shared, "hello", 5), "what was read");
	close(pipes[0]);
	close(pipes[1]);
	after = counts();
	CHECK(after.calls - before.calls == 7, "%llu calls",
	      (unsigned long long)(after.calls - before.calls));
	/* Task work that comes in between makes two of one RUN. */
	CHECK(after.runs - before.runs >= 7, "%llu runs",
	      (unsigned long long)(after.runs - before.runs));
	RESULT((uintptr_t)private, CALL_OP(RAW_OP_ctx), EXIT);
	RESULT(0, CALL_OP(RAW_OP_fence), MOV(0, 0), EXIT);
	LEAVES(COSY_LEFT_TRAP, 1, MOV(6, 66), CALL_OP(RAW_OP_trap), EXIT);
	CHECK(the_run.state.reg[6] == 66, "registers at a trap");
	LEAVES(COSY_LEFT_TRAP, 1, MOV(6, 67), CALL_OP(RAW_OP_divide_error), EXIT);
	CHECK(the_run.state.reg[6] == 67, "registers at a divide error");
}

/* Computes r0 = fib(r1) by calling itself; r6, r7 and a spilled word live across the calls. */
static const struct bpf_insn fib[] = {
	MOV(1, 15),
	CALL_LOCAL(1),
	EXIT,
	/* 3 */
	MOVR(0, 1),
	INSN(BPF_JMP | BPF_JLT | BPF_K, 1, 0, 9, 2),
	MOVR(6, 1),
	STORE(BPF_DW, 10, -8, 1),
	ADD(1, -1),
	CALL_LOCAL(-6),
	MOVR(7, 0),
	LOAD(BPF_DW, 1, 10, -8),
	ADD(1, -2),
	CALL_LOCAL(-10),
	ADDR(0, 7),
	EXIT,
};

static void test_local_calls(void)
{
	static const struct bpf_insn deep[] = {
		MOV(1, 0), CALL_LOCAL(1), EXIT, ADD(1, 1), CALL_LOCAL(-2), EXIT,
	};
	static const struct bpf_insn up[] = {
		/* r1 levels down and up again */
		WIDE(1, 500),
		CALL_LOCAL(1),
		EXIT,
		MOV(0, 0),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 4, 0),
		STOREK(BPF_DW, 10, -448, 1),
		ADD(1, -1),
		CALL_LOCAL(-5),
		ADD(0, 1),
		EXIT,
	};
	uint32_t status;

	status = once(fib, COUNT(fib), NULL);
	CHECK(status == COSY_DONE && the_run.run.ret == 610, "fib(15): status %u, %lld", status,
	      (long long)the_run.run.ret);
	status = once(deep, COUNT(deep), NULL);
	CHECK(status == COSY_LEFT_STACK && the_run.run.resume == 5,
	      "endless recursion: status %u at %u", status, the_run.run.resume);
	CHECK(the_run.run.detail > RAW_STACK && the_run.run.detail <= RAW_STACK + 64, "needs %llu",
	      (unsigned long long)the_run.run.detail);
	CHECK(the_run.state.reg[1] == RAW_STACK / 48, "%llu levels",
	      (unsigned long long)the_run.state.reg[1]);
	status = once(up, COUNT(up), NULL);
	CHECK(status == COSY_LEFT_STACK, "500 of the largest frames: status %u", status);
	/* Give the same compound more room: RUN again from there. */
	{
		static char large[500 * (sizeof(struct cosy_frame) + COSY_FRAME_SIZE) + 4096]
			__attribute__((aligned(16)));
		uint32_t handle = raw_load(fd, up, COUNT(up));

		raw_run_init(&the_run, handle, NULL);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_STACK, "status %u",
		      the_run.run.status);
		memcpy(large, the_run.stack, RAW_STACK);
		the_run.run.stack = (uintptr_t)large;
		the_run.run.stack_size = sizeof(large);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_DONE &&
			      the_run.run.ret == 500,
		      "status %u, result %lld", the_run.run.status, (long long)the_run.run.ret);
	}
	/* No stack at all. */
	{
		uint32_t handle = raw_load(fd, fib, COUNT(fib));

		raw_run_init(&the_run, handle, NULL);
		the_run.run.stack = the_run.run.stack_size = 0;
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_STACK, "status %u",
		      the_run.run.status);
		raw_run_init(&the_run, handle, NULL);
		the_run.run.stack = 4096;
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_FAULT &&
			      the_run.run.detail == 4096,
		      "status %u", the_run.run.status);
	}
	/* Give alloca room of its own at each level, which is given back at return. */
	RESULT(0, MOV(1, 100), CALL_OP(RAW_OP_alloca), MOVR(6, 0), MOV(1, 1),
	       CALL_OP(RAW_OP_alloca), INSN(BPF_ALU64 | BPF_SUB | BPF_X, 0, 6, 0, 0), ADD(0, -112),
	       EXIT);
	LEAVES(COSY_LEFT_STACK, 2, WIDE(1, RAW_STACK + 1), CALL_OP(RAW_OP_alloca), EXIT);
	LEAVES(COSY_LEFT_STACK, 2, WIDE(1, -1), CALL_OP(RAW_OP_alloca), EXIT);
	/* A callee finds zeros where its caller has spilled. */
	RESULT(0, STOREK(BPF_DW, 10, -8, 5), CALL_LOCAL(1), EXIT, LOAD(BPF_DW, 0, 10, -8), EXIT);
}

/* Resumes with a stack that says other things than what was pushed. */
static void test_forged_stack(void)
{
	uint32_t handle = raw_load(fd, fib, COUNT(fib));
	struct raw_run *r = &the_run;
	struct cosy_frame *frame = (struct cosy_frame *)r->stack;
	static const uint64_t wild[] = {
		0, 2, 3, 4, 7, 9, 13, 14, 15, 1000, 1ull << 32, ~0ull, 0xffffffff81000000
	};

	for (size_t i = 0; i < 2 * COUNT(wild); i++) {
		uint64_t call = wild[i / 2];

		/* Resume at the exit of the second function, with this frame on top. */
		raw_run_init(r, handle, NULL);
		memset(&r->state, 0, sizeof(r->state));
		r->run.resume = 14 + 1;
		r->state.sp = 64;
		r->state.fp = 0;
		/* There is room for any number of words, too. */
		if (i % 2)
			r->run.stack_size = 1ull << 40;
		frame->call = call;
		frame->fp = ~0ull;
		CHECK(!raw_run(fd, r), "RUN");
		CHECK(r->run.status == COSY_LEFT_TRAP, "call %#llx: status %u",
		      (unsigned long long)call, r->run.status);
		raw_run_init(r, handle, NULL);
		r->run.resume = 14 + 1;
		frame->call = 1;
		r->state.sp = 64;
		r->state.fp = call ? call | 0x100000 : ~0ull;
		CHECK(!raw_run(fd, r), "RUN");
		CHECK(r->run.status == COSY_LEFT_TRAP, "fp %#llx: status %u",
		      (unsigned long long)r->state.fp, r->run.status);
	}
	/* A frame that is its own caller returns for ever, to after `call fib; exit`. */
	raw_run_init(r, handle, NULL);
	memset(&r->state, 0, sizeof(r->state));
	r->run.resume = 14 + 1;
	frame->call = 12;
	frame->fp = 0;
	alarm_us(20000, 20000); /* also where the first comes before RUN */
	CHECK(!raw_run(fd, r), "RUN");
	alarm_us(0, 0);
	CHECK(r->run.status == COSY_LEFT_WORK, "frames in a circle: status %u", r->run.status);
}

/* Allocates at a forged height of the stack, which has no room there. */
static void test_forged_height(void)
{
	static const struct bpf_insn allocates[] = { MOV(1, 20), CALL_OP(RAW_OP_alloca), EXIT };
	static const struct {
		uint64_t sp, size;
	} full[] = {
		{ RAW_STACK, RAW_STACK }, { RAW_STACK + 16, RAW_STACK }, { 1ull << 63, RAW_STACK },
		{ -16ull, RAW_STACK },	  { -1ull, RAW_STACK },		 { 0, 24 },
	};
	uint32_t handle = raw_load(fd, allocates, COUNT(allocates));

	for (size_t i = 0; i < COUNT(full); i++) {
		raw_run_init(&the_run, handle, NULL);
		memset(&the_run.state, 0, sizeof(the_run.state));
		the_run.state.fp = ~0ull;
		the_run.state.reg[1] = 20;
		the_run.state.sp = full[i].sp;
		the_run.run.stack_size = full[i].size;
		the_run.run.resume = 1 + 1;
		CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_LEFT_STACK,
		      "at %#llx of %llu bytes: status %u", (unsigned long long)full[i].sp,
		      (unsigned long long)full[i].size, the_run.run.status);
	}
}

/* Returns from a frame that is there, but for one thing. */
static void test_forged_frame(void)
{
	static const struct {
		const char *what;
		uint64_t fp, call, size;
		bool popped;
	} frames[] = {
		{ "whole", 8, 1, 8 + 48, true },
		{ "whole, with a word", 8, 12, 8 + 64, true },
		{ "misaligned", 4, 1, RAW_STACK, false },
		{ "its head is cut off", 8, 1, 8 + 40, false },
		{ "its word is cut off", 8, 12, 8 + 48, false },
		{ "above the stack", 64, 1, 64, false },
	};
	uint32_t handle = raw_load(fd, fib, COUNT(fib));

	for (size_t i = 0; i < COUNT(frames); i++) {
		struct cosy_frame frame = { .call = frames[i].call, .fp = ~0ull };

		raw_run_init(&the_run, handle, NULL);
		memset(&the_run.state, 0, sizeof(the_run.state));
		memset(the_run.stack, 0, 256);
		memcpy(the_run.stack + frames[i].fp, &frame, sizeof(frame));
		the_run.state.fp = frames[i].fp;
		the_run.state.sp = frames[i].size;
		the_run.run.stack_size = frames[i].size;
		the_run.run.resume = 14 + 1;
		MUST(!raw_run_to_end(fd, &the_run));
		/* After the one that has a word comes a return without a frame. */
		if (frames[i].popped && frames[i].call == 1)
			CHECK(the_run.run.status == COSY_DONE, "%s: status %u", frames[i].what,
			      the_run.run.status);
		else
			CHECK(the_run.run.status == COSY_LEFT_TRAP &&
				      the_run.state.fp == (frames[i].popped ? ~0ull : frames[i].fp),
			      "%s: status %u, fp %#llx", frames[i].what, the_run.run.status,
			      (unsigned long long)the_run.state.fp);
	}
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "calls", .run = test_calls },
		{ "local_calls", .run = test_local_calls },
		{ "forged_stack", .run = test_forged_stack },
		{ "forged_height", .run = test_forged_height },
		{ "forged_frame", .run = test_forged_frame },
	};

	return kmod_main(parts, COUNT(parts), argc, argv);
}
