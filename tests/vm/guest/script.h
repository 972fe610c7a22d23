/* SPDX-License-Identifier: MIT */
/*
 * script.h - makes compounds of lists of calls, each with constant arguments or with results of
 * earlier ones, and keeps each result.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "guards.h"
#include "raw.h"

#define SCRIPT_BUFFER (1 << 20)
#define SCRIPT_STEPS  128

static int script_fd;
static char *script_buffer; /* the shared buffer */
static struct bpf_insn script_insns[16 * SCRIPT_STEPS];
static size_t script_length;
static int script_count;
static int64_t script_result[SCRIPT_STEPS];

HELPER void script_init(void)
{
	script_fd = raw_open();
	script_buffer = raw_buffer(script_fd, SCRIPT_BUFFER);
}

HELPER void script_begin(void)
{
	script_length = 0;
	script_count = 0;
	script_insns[script_length++] = MOVR(6, 1);
}

HELPER int script_call(int call, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	const uint64_t arg[] = { a, b, c, d, e };

	for (int i = 0; i < 5; i++) {
		const struct bpf_insn wide[] = { WIDE(i + 1, arg[i]) };

		memcpy(script_insns + script_length, wide, sizeof(wide));
		script_length += COUNT(wide);
	}
	script_insns[script_length++] = MOV(0, 0);
	script_insns[script_length++] = CALL(call);
	script_insns[script_length++] = STORE(BPF_DW, 6, (int16_t)(8 * script_count), 0);
	MUST(script_count < SCRIPT_STEPS);
	return script_count++;
}

/* Adds a call, or an operation, to the script; yields the index of its result. */
#define STEP_(call, a, b, c, d, e, ...)                                                            \
	script_call(call, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), (uint64_t)(e))
#define SYS(name, ...) STEP_(SYS_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0)
#define OP(name, ...)  STEP_((int)COSY_OP_BASE + RAW_OP_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0)

HELPER struct cosy_stats script_stats(void)
{
	struct cosy_stats stats = { .size = sizeof(stats) };

	MUST(!raw_ioctl(script_fd, COSY_IOC_STATS, &stats));
	return stats;
}

static struct cosy_stats script_before, script_after;
static struct raw_run script_state;

HELPER uint32_t script_load(void)
{
	script_insns[script_length++] = MOV(0, 0);
	script_insns[script_length++] = EXIT;
	return raw_load(script_fd, script_insns, script_length);
}

HELPER void script_forget(uint32_t handle)
{
	struct cosy_free free = { .size = sizeof(free), .handle = handle };

	MUST(!raw_ioctl(script_fd, COSY_IOC_FREE, &free));
}

/*
 * Runs the script to its end, in the kernel.  On a busy machine, an operation that cannot stop in
 * the middle leaves for the host to make it, where those before it took all the time of a RUN: it
 * comes first in the next RUN then.  One that leaves there as well has another reason to.
 */
HELPER void script_run(void)
{
	uint32_t handle = script_load(), last = 0;

	memset(script_result, 0xee, sizeof(script_result));
	script_before = script_stats();
	raw_run_init(&script_state, handle, script_result);
	CHECK(!raw_run_to_end(script_fd, &script_state), "RUN");
	while (script_state.run.status == COSY_LEFT_NATIVE && script_state.run.resume != last) {
		last = script_state.run.resume;
		CHECK(!raw_run_to_end(script_fd, &script_state), "RUN");
	}
	CHECK(script_state.run.status == COSY_DONE, "status %u at %u", script_state.run.status,
	      script_state.run.resume);
	script_after = script_stats();
	script_forget(handle);
}

#define GUARD_FAILED(guard)                                                                        \
	(script_after.guard_failed[GUARD_##guard] - script_before.guard_failed[GUARD_##guard])
#define FAST() (script_after.fast - script_before.fast)

#define CHECK_RESULT(step, wanted)                                                                 \
	CHECK(script_result[step] == (int64_t)(wanted), "step %d: %lld, not %lld", step,           \
	      (long long)script_result[step], (long long)(wanted))
/* True if the script ran in one RUN: one that left in the middle lost its views there. */
#define AT_ONCE() (script_after.runs - script_before.runs == 1)

#define CHECK_GUARD_FAILED(guard, wanted)                                                          \
	CHECK(!AT_ONCE() || GUARD_FAILED(guard) == (uint64_t)(wanted), "%llu times",               \
	      (unsigned long long)GUARD_FAILED(guard))
#define CHECK_FAST_CALLS(wanted)                                                                   \
	CHECK(!AT_ONCE() || FAST() == (uint64_t)(wanted), "%llu", (unsigned long long)FAST())

/*
 * Runs instructions to their end, with a software stack at the beginning of script_buffer: they
 * have made a view there, and return 77.
 */
HELPER void script_run_view(const struct bpf_insn *insns, size_t count)
{
	uint32_t handle = raw_load(script_fd, insns, count);
	struct cosy_run *run = &script_state.run;

	raw_run_init(&script_state, handle, NULL);
	run->stack = (uintptr_t)script_buffer;
	run->stack_size = RAW_STACK;
	script_before = script_stats();
	CHECK(!raw_run_to_end(script_fd, &script_state) && run->status == COSY_DONE, "status %u",
	      run->status);
	script_after = script_stats();
	CHECK(run->ret == 77, "%lld", (long long)run->ret);
	CHECK(!AT_ONCE() || FAST() >= 1, "no view");
	script_forget(handle);
}

#endif /* SCRIPT_H */
