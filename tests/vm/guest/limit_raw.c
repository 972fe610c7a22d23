/* SPDX-License-Identifier: MIT */
/* Tests limits, as the ioctl shows them: who sets them, what they count, how a compound ends. */
#include "raw.h"

/* Counts turns in r6; one back edge each, for ever. */
static const struct bpf_insn endless[] = { MOV(6, 0), ADD(6, 1), JUMP(-2) };

/* Counts turns in r6, of one call and one back edge, for ever. */
static const struct bpf_insn endless_calls[] = { MOV(6, 0), ADD(6, 1), CALL(SYS_getpid), JUMP(-3) };

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static const char *status_name(uint32_t status)
{
	static const char *const names[] = { "DONE",	   "LEFT_WORK",	  "LEFT_CALL",
					     "LEFT_FAULT", "LEFT_TRACED", "LEFT_BUFFER",
					     "LEFT_STACK", "LEFT_TRAP",	  "ENDED_STEPS",
					     "ENDED_TIME", "LEFT_NATIVE" };

	return status < COUNT(names) ? names[status] : "unknown";
}

static void ends(int fd, const char *what, uint32_t handle, uint32_t status, uint64_t turns)
{
	static struct raw_run r;
	double start = now_ms();
	long ret;

	raw_run_init(&r, handle, NULL);
	ret = raw_run_to_end(fd, &r);
	printf("%s: %s after %llu turns, %.0f ms\n", what, status_name(r.run.status),
	       (unsigned long long)r.state.reg[6], now_ms() - start);
	CHECK(!ret && r.run.status == status, "%s: RUN is %ld, %s", what, ret,
	      status_name(r.run.status));
	if (turns)
		CHECK(r.state.reg[6] + 1 >= turns && r.state.reg[6] <= turns + 1,
		      "%s: %llu turns, the limit allows %llu", what,
		      (unsigned long long)r.state.reg[6], (unsigned long long)turns);
}

static uint32_t load_limited(int fd, const struct bpf_insn *insns, size_t count, uint64_t ops,
			     uint64_t ns)
{
	static struct raw_container c;
	struct cosy_load load;

	raw_container(&c, insns, count);
	c.header.max_steps = ops;
	c.header.max_kernel_ns = ns;
	if (raw_load_container(fd, &c, &load)) {
		printf("FAIL: LOAD: %s\n", raw_log);
		exit(1);
	}
	return load.handle;
}

static void operations(int fd)
{
	uint32_t loop = raw_load(fd, endless, COUNT(endless)),
		 calls = raw_load(fd, endless_calls, COUNT(endless_calls));
	uint32_t own = load_limited(fd, endless, COUNT(endless), 20000, 0);

	raw_limits(fd, 10000, 0);
	ends(fd, "10000 operations, loop", loop, COSY_ENDED_STEPS, 10000);
	ends(fd, "10000 operations, calls", calls, COSY_ENDED_STEPS, 5000);
	ends(fd, "the context's 10000 before the compound's 20000", own, COSY_ENDED_STEPS, 10000);
	raw_limits(fd, 1000000, 0);
	ends(fd, "the compound's 20000 before the context's 1000000", own, COSY_ENDED_STEPS, 20000);
	raw_limits(fd, 1, 0);
	ends(fd, "1 operation", loop, COSY_ENDED_STEPS, 1);
	/* Interrupted RUNs count together. */
	raw_limits(fd, 20000000, 0);
	ticks = 0;
	alarm_us(2000, 2000);
	ends(fd, "20000000 operations, interrupted", loop, COSY_ENDED_STEPS, 20000000);
	alarm_us(0, 0);
	CHECK(ticks > 0, "no tick came");
	raw_limits(fd, 0, 0);
}

/* Forges the steps used: a RUN that has none left makes none, and none makes more than at first. */
static void forged(int fd)
{
	static const uint64_t used[] = { 1000, 1001, 1ull << 32, 1ull << 63, -1000ull, -1ull };
	static const struct bpf_insn traps[] = { CALL_OP(RAW_OP_trap), EXIT };
	uint32_t loop = raw_load(fd, endless, COUNT(endless));
	static struct raw_run r;

	/* An operation that is left is none. */
	raw_run_init(&r, raw_load(fd, traps, COUNT(traps)), NULL);
	CHECK(!raw_run_to_end(fd, &r) && r.run.status == COSY_LEFT_TRAP && !r.state.steps,
	      "a trap: %s after %llu steps", status_name(r.run.status),
	      (unsigned long long)r.state.steps);
	raw_limits(fd, 1000, 0);
	for (size_t i = 0; i < COUNT(used); i++) {
		raw_run_init(&r, loop, NULL);
		MUST(!raw_run_to_end(fd, &r) && r.run.status == COSY_ENDED_STEPS);
		r.state.steps = used[i];
		r.state.reg[6] = 0;
		CHECK(!raw_run_to_end(fd, &r) && r.run.status == COSY_ENDED_STEPS &&
			      r.state.reg[6] <= 1,
		      "%llu steps used: %s after %llu turns", (unsigned long long)used[i],
		      status_name(r.run.status), (unsigned long long)r.state.reg[6]);
	}
	raw_limits(fd, 0, 0);
}

static void kernel_time(int fd)
{
	static const struct timespec nap = { 0, 300000000 };
	const struct bpf_insn napping[] = {
		MOV(6, 3),  WIDE(1, (uintptr_t)&nap), MOV(2, 0),  CALL(SYS_nanosleep),
		ADD(6, -1), JUMP_NE(6, 0, -6),	      MOV(0, 77), EXIT,
	};
	uint32_t loop = raw_load(fd, endless, COUNT(endless)),
		 calls = raw_load(fd, endless_calls, COUNT(endless_calls));
	uint32_t sleeper = raw_load(fd, napping, COUNT(napping));
	static struct raw_run r;
	double start;
	long ret;

	raw_limits(fd, 0, 50000000);
	start = now_ms();
	ends(fd, "50 ms, loop", loop, COSY_ENDED_TIME, 0);
	CHECK(now_ms() - start >= 45, "50 ms: ended after %.0f ms", now_ms() - start);
	ends(fd, "50 ms, calls", calls, COSY_ENDED_TIME, 0);
	alarm_us(5000, 5000);
	ends(fd, "50 ms, interrupted", loop, COSY_ENDED_TIME, 0);
	alarm_us(0, 0);
	/* Almost a second of sleep is no kernel time. */
	start = now_ms();
	raw_run_init(&r, sleeper, NULL);
	ret = raw_run_to_end(fd, &r);
	CHECK(!ret && r.run.status == COSY_DONE && r.run.ret == 77,
	      "sleeping: RUN is %ld, %s, result %lld", ret, status_name(r.run.status),
	      (long long)r.run.ret);
	CHECK(now_ms() - start >= 899, "sleeping: took only %.0f ms", now_ms() - start);
	ends(fd, "the compound's 20 ms before the context's 50",
	     load_limited(fd, endless, COUNT(endless), 0, 20000000), COSY_ENDED_TIME, 0);
	raw_limits(fd, 0, 0);
}

/* Sets no limit: the compound yields to others and goes on to its end. */
static void none(int fd)
{
	static const struct bpf_insn long_loop[] = {
		MOV(6, 0), ADD(6, 1), JUMP_LT(6, 30000000, -2), MOVR(0, 6), EXIT,
	};
	uint32_t handle = raw_load(fd, long_loop, COUNT(long_loop));
	static struct raw_run r;
	long ret;

	raw_run_init(&r, handle, NULL);
	ret = raw_run_to_end(fd, &r);
	CHECK(!ret && r.run.status == COSY_DONE && r.run.ret == 30000000,
	      "no limit: RUN is %ld, %s, result %lld", ret, status_name(r.run.status),
	      (long long)r.run.ret);
}

static void parameter_set(const char *name, const char *value)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/cosy/parameters/%s", name);
	fd = open(path, O_WRONLY);
	MUST(fd >= 0);
	MUST(write(fd, value, strlen(value)) == (ssize_t)strlen(value));
	close(fd);
}

static void administrator(int fd)
{
	uint32_t loop = raw_load(fd, endless, COUNT(endless));

	if (geteuid()) {
		printf("module parameters: not tried, not root\n");
		return;
	}
	parameter_set("max_steps", "30000");
	ends(fd, "max_steps=30000", loop, COSY_ENDED_STEPS, 30000);
	raw_limits(fd, 1000, 0);
	ends(fd, "max_steps=30000, the context's 1000", loop, COSY_ENDED_STEPS, 1000);
	raw_limits(fd, 0, 0);
	parameter_set("max_steps", "0");
	parameter_set("max_kernel_ms", "30");
	ends(fd, "max_kernel_ms=30", loop, COSY_ENDED_TIME, 0);
	parameter_set("max_kernel_ms", "0");
}

int main(void)
{
	int fd = raw_open();

	handle(SIGALRM, on_tick, SA_RESTART);
	operations(fd);
	forged(fd);
	kernel_time(fd);
	none(fd);
	administrator(fd);
	return check_end();
}
