/* SPDX-License-Identifier: MIT */
/*
 * Checks that a limit of time holds for whatever a compound is made of: it overruns it by one call,
 * or by what a few operations do.  A nanosecond is used up by anything, so with that limit a
 * compound has to end wherever it looks: which tells where that is, on any machine.
 */
#include "kmod.h"

#define A_FEW 64 /* steps between two safepoints, where time is limited */

static int regular;  /* a file of tmpfs */
static int zero;     /* /dev/zero */
static int sink;     /* /dev/null */
static int listing;  /* a directory */
static char *memory; /* other than the shared buffer */

/* Makes one RUN from the start, with that limit. */
static void run_limited(uint32_t handle, uint64_t ns, void *ctx)
{
	raw_limits(fd, 0, ns);
	raw_run_init(&the_run, handle, ctx);
	MUST(!raw_run(fd, &the_run));
	raw_limits(fd, 0, 0);
}

static void free_program(uint32_t handle)
{
	struct cosy_free free = { .size = sizeof(free), .handle = handle };

	MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
}

/* --- After calls -------------------------------------------------------------------------- */

/* Makes two of the same call: the compound ends after the first. */
static void ends_after(const char *what, int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		       uint64_t e)
{
	const struct bpf_insn insns[] = {
		WIDE(1, a), WIDE(2, b),	  WIDE(3, c), WIDE(4, d),   WIDE(5, e),
		MOV(0, 0),  CALL(number), WIDE(1, a), WIDE(2, b),   WIDE(3, c),
		WIDE(4, d), WIDE(5, e),	  MOV(0, 0),  CALL(number), EXIT,
	};
	uint32_t handle = raw_load(fd, insns, COUNT(insns));

	run_limited(handle, 1, NULL);
	CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == 13,
	      "%s: status %u at %d", what, the_run.run.status, (int)the_run.run.resume - 1);
	CHECK((int64_t)the_run.state.reg[0] >= 0 && the_run.state.steps == 1 &&
		      the_run.state.kernel_ns >= 1,
	      "%s: result %lld, %llu operations, %llu ns", what, (long long)the_run.state.reg[0],
	      (unsigned long long)the_run.state.steps, (unsigned long long)the_run.state.kernel_ns);
	/* Go on from there without a limit. */
	the_run.state.kernel_ns = 0;
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
		      the_run.run.ret >= 0,
	      "%s, the rest: status %u, result %lld", what, the_run.run.status,
	      (long long)the_run.run.ret);
	free_program(handle);
}

#define AFTER_(what, number, a, b, c, d, e, ...)                                                   \
	ends_after(what, number, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d),       \
		   (uint64_t)(e))
#define AFTER(name, ...) AFTER_(#name, SYS_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0)
#define AFTER_OP(name, ...)                                                                        \
	AFTER_(#name, (int)COSY_OP_BASE + RAW_OP_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0)

/* A seek and a read or write: the operation ends between the two. */
static void ends_within(const char *what, int number, char *to)
{
	const struct bpf_insn insns[] = {
		WIDE(1, regular), WIDE(2, (uintptr_t)to), MOV(3, 100), MOV(4, 50),
		MOV(5, SEEK_SET), CALL_OP(number),	  EXIT
	};
	uint32_t handle = raw_load(fd, insns, COUNT(insns));

	MUST(!lseek(regular, 0, SEEK_SET));
	run_limited(handle, 1, NULL);
	CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == 8 &&
		      COSY_IS_UNDER_WAY(the_run.state.reg[5]),
	      "%s: status %u at %d, r5 %#llx", what, the_run.run.status,
	      (int)the_run.run.resume - 1, (unsigned long long)the_run.state.reg[5]);
	CHECK(lseek(regular, 0, SEEK_CUR) == 50, "%s: the second call was made", what);
	the_run.state.kernel_ns = 0;
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
		      the_run.run.ret == 100 && lseek(regular, 0, SEEK_CUR) == 150,
	      "%s, the rest: status %u, result %lld", what, the_run.run.status,
	      (long long)the_run.run.ret);
	free_program(handle);
}

static void test_calls(void)
{
	struct stat st;
	struct timespec ts;

	AFTER(umask, 022);
	AFTER(read, zero, memory, 100);
	AFTER(read, zero, memory, 1 << 20);
	AFTER(write, sink, memory, 100);
	/* Make calls that have a specialised version, by it and in the ordinary way. */
	for (int i = 0; i < 2; i++) {
		char *to = i ? shared : memory;

		AFTER(read, regular, to, 100);
		AFTER(pread64, regular, to, 100, 0);
		AFTER(write, regular, to, 100);
		AFTER(pwrite64, regular, to, 100, 0);
		AFTER(lseek, regular, 0, SEEK_SET);
		AFTER_OP(view_read, regular, to, 100);
		AFTER_OP(view_pread, regular, to, 100, 0);
		AFTER_OP(readc, regular);
		AFTER_OP(lend, regular, to, 100, 0);
		AFTER(getdents64, listing, to, 4096);
		ends_within("seek_read", RAW_OP_seek_read, to);
		ends_within("seek_write", RAW_OP_seek_write, to);
	}
	AFTER(fstat, regular, &st);
	AFTER(newfstatat, AT_FDCWD, "/", &st, 0);
	AFTER(stat, "/", &st);
	AFTER(getppid);
	AFTER(clock_gettime, CLOCK_MONOTONIC, &ts);
	AFTER(gettimeofday, memory, 0);
}

/* --- Between calls ------------------------------------------------------------------------ */

static void few(const char *what, const struct bpf_insn *insns, size_t count, uint64_t most)
{
	uint32_t handle = raw_load(fd, insns, count);

	run_limited(handle, 1, NULL);
	CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.state.steps <= most,
	      "%s: status %u after %llu operations", what, the_run.run.status,
	      (unsigned long long)the_run.state.steps);
	free_program(handle);
}

#define FEW(what, ...)                                                                             \
	do {                                                                                       \
		const struct bpf_insn insns_[] = { __VA_ARGS__ };                                  \
                                                                                                   \
		few(what, insns_, COUNT(insns_), A_FEW);                                           \
	} while (0)

static void test_operations(void)
{
	static struct bpf_insn large[8192];

	FEW("loop", JUMP(-1));
	FEW("loads", WIDE(8, (uintptr_t)memory), LOAD(BPF_DW, 1, 8, 0), JUMP(-2));
	FEW("recursion", CALL_LOCAL(1), EXIT, CALL_LOCAL(-1), EXIT);
	FEW("returns", CALL_LOCAL(2), JUMP(-2), EXIT, EXIT);
	FEW("small copies", WIDE(1, (uintptr_t)memory), WIDE(2, (uintptr_t)shared), MOV(3, 64),
	    CALL_OP(RAW_OP_memcpy), JUMP(-7));
	FEW("getpid", CALL(SYS_getpid), JUMP(-2));
	/* Each of its instructions may be slow: the compound looks at the clock at every turn. */
	for (size_t i = 0; i < COUNT(large) - 1; i++)
		large[i] = ADD(2, 1);
	large[COUNT(large) - 1] = JUMP(-(int)COUNT(large));
	few("large loop", large, COUNT(large), 1);
}

static void test_long_operations(void)
{
	enum { LONG = 64 << 20 };
	char *at = mmap(NULL, LONG, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	const struct bpf_insn fills[] = { WIDE(1, (uintptr_t)at), MOV(2, 1), MOV(3, LONG),
					  CALL_OP(RAW_OP_memset), EXIT };
	const struct bpf_insn searches[] = { WIDE(1, (uintptr_t)at), MOV(2, 1), MOV(3, LONG),
					     CALL_OP(RAW_OP_memchr), EXIT };
	uint32_t filling = raw_load(fd, fills, COUNT(fills)),
		 searching = raw_load(fd, searches, COUNT(searches));

	MUST(at != MAP_FAILED);
	/* A resumable operation stops between two pieces ... */
	run_limited(filling, 1, NULL);
	CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == 5,
	      "memset: status %u at %d", the_run.run.status, (int)the_run.run.resume - 1);
	CHECK(the_run.state.reg[3] < LONG && the_run.state.reg[3] >= LONG - (64 << 10),
	      "memset: %llu bytes remain", (unsigned long long)the_run.state.reg[3]);
	CHECK(the_run.state.reg[1] + the_run.state.reg[3] == (uintptr_t)at + LONG,
	      "memset: where it goes on");
	CHECK(!at[LONG - 1] && at[0] == 1, "memset: what it wrote");
	/* ... and one that is not starts over. */
	munmap(at, LONG);
	MUST(mmap(at, LONG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1,
		  0) == at);
	run_limited(searching, 1, NULL);
	CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == 5 &&
		      the_run.state.reg[3] == LONG,
	      "memchr: status %u at %d, %llu bytes", the_run.run.status,
	      (int)the_run.run.resume - 1, (unsigned long long)the_run.state.reg[3]);
	free_program(filling);
	free_program(searching);
	munmap(at, LONG);
}

/* --- Page faults ----------------------------------------------------------------------------- */

enum { PAGE = 4096, AN_HOUR = 3600 };

/* Returns two pages that nobody has touched. */
static char *untouched(void)
{
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	return at;
}

static bool is_resident(char *at)
{
	unsigned char there;

	MUST(!mincore(at, PAGE, &there));
	return there & 1;
}

/*
 * Runs a program that touches `at`, its context, by instruction `access`; again when the page is
 * there; and without a limit.
 */
static void faults(const char *what, const struct bpf_insn *insns, size_t count, int access,
		   char *at)
{
	uint32_t handle = raw_load(fd, insns, count);

	run_limited(handle, AN_HOUR * 1000000000ull, at);
	CHECK(the_run.run.status == COSY_LEFT_FAULT && (int)the_run.run.resume == access + 1,
	      "%s: status %u at %d", what, the_run.run.status, (int)the_run.run.resume - 1);
	CHECK(!is_resident(at), "%s: the fault was served", what);
	*(volatile char *)at = 0;
	run_limited(handle, AN_HOUR * 1000000000ull, at);
	CHECK(the_run.run.status == COSY_DONE, "%s, with the page: status %u at %d", what,
	      the_run.run.status, (int)the_run.run.resume - 1);
	munmap(at, 2 * PAGE);
	/* Without a limit the kernel serves it. */
	at = untouched();
	raw_run_init(&the_run, handle, at);
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE,
	      "%s, no limit: status %u at %d", what, the_run.run.status,
	      (int)the_run.run.resume - 1);
	munmap(at, 2 * PAGE);
	free_program(handle);
}

#define FAULTS(what, access, ...)                                                                  \
	do {                                                                                       \
		const struct bpf_insn insns_[] = { __VA_ARGS__, MOV(0, 0), EXIT };                 \
                                                                                                   \
		faults(what, insns_, COUNT(insns_), access, untouched());                          \
	} while (0)

/* An operation that is long enough for safepoints of its own faults behind them likewise. */
static void test_fault_in_operation(void)
{
	enum { THERE = 64 << 10 };
	char *at =
		mmap(NULL, 2 * THERE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct bpf_insn insns[] = { MOV(2, 7), MOV(3, 2 * THERE), CALL_OP(RAW_OP_memset),
					  EXIT };
	uint32_t handle = raw_load(fd, insns, COUNT(insns));

	MUST(at != MAP_FAILED);
	memset(at, 1, THERE);
	run_limited(handle, AN_HOUR * 1000000000ull, at);
	CHECK(the_run.run.status == COSY_LEFT_FAULT && the_run.state.reg[3] == THERE,
	      "status %u, %llu bytes remain", the_run.run.status,
	      (unsigned long long)the_run.state.reg[3]);
	CHECK(!is_resident(at + THERE), "the fault was served");
	free_program(handle);
	munmap(at, 2 * THERE);
}

/*
 * Where time is limited the kernel serves no fault of a compound's own accesses: one may take as
 * long as a call.  Those of its calls it serves.
 */
static void test_faults(void)
{
	static char name[] = "/dev/zero";

	FAULTS("load", 0, LOAD(BPF_DW, 2, 1, 0));
	FAULTS("store", 1, MOV(2, 1), STORE(BPF_DW, 1, 0, 2));
	FAULTS("atomic", 1, MOV(2, 1), ATOMIC(BPF_DW, 1, 0, 2, BPF_ADD | BPF_FETCH));
	FAULTS("memset", 2, MOV(2, 7), MOV(3, 64), CALL_OP(RAW_OP_memset));
	FAULTS("memcpy", 4, MOVR(2, 1), WIDE(1, (uintptr_t)memory), MOV(3, 64),
	       CALL_OP(RAW_OP_memcpy));
	FAULTS("strlen", 0, CALL_OP(RAW_OP_strlen));
	/* After turns of fuel, and after a call of each kind, they are refused as before. */
	FAULTS("after a loop", 4, MOV(3, 1000), ADD(3, -1), JUMP_NE(3, 0, -2), MOV(2, 1),
	       STORE(BPF_DW, 1, 0, 2));
	FAULTS("after getpid", 3, MOVR(6, 1), CALL(SYS_getpid), MOV(2, 1), STORE(BPF_DW, 6, 0, 2));
	FAULTS("after getppid", 3, MOVR(6, 1), CALL(SYS_getppid), MOV(2, 1),
	       STORE(BPF_DW, 6, 0, 2));
	FAULTS("after umask", 4, MOVR(6, 1), MOV(1, 022), CALL(SYS_umask), MOV(2, 1),
	       STORE(BPF_DW, 6, 0, 2));
	/* Calls have the kernel write into pages that nobody has touched. */
	for (int i = 0; i < 2; i++) {
		char *a = untouched(), *b = untouched(), *c = untouched(), *d = untouched();
		const struct bpf_insn insns[] = {
			MOV(1, i ? regular : zero),
			WIDE(2, (uintptr_t)a),
			MOV(3, 100),
			MOV(4, 0),
			MOV(0, 0),
			CALL(SYS_pread64),
			MOVR(6, 0),
			MOV(1, regular),
			WIDE(2, (uintptr_t)b),
			CALL(SYS_fstat),
			ADDR(6, 0),
			MOV(1, AT_FDCWD),
			WIDE(2, (uintptr_t)name),
			WIDE(3, (uintptr_t)c),
			MOV(4, 64),
			MOV(5, 0),
			CALL_OP(RAW_OP_read_file),
			ADDR(6, 0),
			MOV(1, CLOCK_MONOTONIC),
			WIDE(2, (uintptr_t)d),
			CALL(SYS_clock_gettime),
			ADDR(6, 0),
			MOVR(0, 6),
			EXIT,
		};
		uint32_t handle = raw_load(fd, insns, COUNT(insns));

		raw_limits(fd, 0, AN_HOUR * 1000000000ull);
		raw_run_init(&the_run, handle, NULL);
		CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
			      the_run.run.ret == 164,
		      "calls: status %u at %d, %lld", the_run.run.status,
		      (int)the_run.run.resume - 1, (long long)the_run.run.ret);
		raw_limits(fd, 0, 0);
		free_program(handle);
		munmap(a, 2 * PAGE);
		munmap(b, 2 * PAGE);
		munmap(c, 2 * PAGE);
		munmap(d, 2 * PAGE);
	}
	/* The thread itself faults as before. */
	*(volatile char *)untouched() = 1;
}

/* --- From RUN to RUN ------------------------------------------------------------------------- */

/* Makes long calls: none comes to a safepoint, however often they go on. */
static void test_long_calls(void)
{
	enum { LIMIT = 10000000, CALLS = 4000 };
	const struct bpf_insn insns[] = {
		MOV(7, CALLS),	  MOV(1, zero),	     WIDE(2, (uintptr_t)memory),
		WIDE(3, 1 << 20), MOV(0, 0),	     CALL(SYS_read),
		ADD(7, -1),	  JUMP_NE(7, 0, -9), EXIT,
	};
	uint32_t handle = raw_load(fd, insns, COUNT(insns));
	uint64_t left;
	int runs = 0;

	raw_limits(fd, 0, LIMIT);
	raw_run_init(&the_run, handle, NULL);
	do
		MUST(!raw_run(fd, &the_run));
	while (the_run.run.status == COSY_LEFT_WORK && ++runs < 1000);
	left = the_run.state.reg[7];
	CHECK(the_run.run.status == COSY_ENDED_TIME && left,
	      "status %u in %d RUNs, %llu calls were left", the_run.run.status, runs,
	      (unsigned long long)left);
	CHECK(the_run.state.kernel_ns >= LIMIT, "%llu ns",
	      (unsigned long long)the_run.state.kernel_ns);
	/* Time that is used up stays used up. */
	for (int i = 0; i < 3; i++) {
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_ENDED_TIME,
		      "again: status %u", the_run.run.status);
		CHECK(the_run.state.reg[7] == left, "again: it went on");
	}
	raw_limits(fd, 0, 0);
	free_program(handle);
}

/*
 * Forges the time used, in the user's memory: the rest may become smaller, not larger than at
 * first.
 */
static void test_forged(void)
{
	static const struct bpf_insn naps[] = {
		MOV(1, 0), CALL(SYS_umask), MOV(1, 0), CALL(SYS_umask), MOV(0, 5), EXIT,
	};
	static const uint64_t used_up[] = { 1000000000, 1000000001, 1ull << 63, ~0ull };
	uint32_t handle = raw_load(fd, naps, COUNT(naps));
	struct cosy_stats before, after;
	uint64_t used;

	run_limited(handle, 1, NULL);
	used = the_run.state.kernel_ns;
	CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == 3, "status %u",
	      the_run.run.status);
	raw_limits(fd, 0, 1000000000);
	for (size_t i = 0; i < COUNT(used_up); i++) {
		the_run.state.kernel_ns = used_up[i];
		before = counts();
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_ENDED_TIME &&
			      the_run.run.resume == 3,
		      "%llu ns used: status %u at %u", (unsigned long long)used_up[i],
		      the_run.run.status, the_run.run.resume);
		after = counts();
		CHECK(after.calls == before.calls && after.runs == before.runs &&
			      the_run.state.kernel_ns == used_up[i],
		      "%llu ns used: it ran", (unsigned long long)used_up[i]);
	}
	/* With nothing used there is a whole RUN's time, and no more. */
	raw_limits(fd, 0, 1);
	the_run.state.kernel_ns = 0;
	CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_ENDED_TIME &&
		      the_run.run.resume == 5,
	      "nothing used: status %u at %u", the_run.run.status, the_run.run.resume);
	CHECK(the_run.state.kernel_ns > 0 && used > 0, "nothing was counted");
	raw_limits(fd, 0, 0);
	the_run.state.kernel_ns = ~0ull;
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
		      the_run.run.ret == 5,
	      "no limit: status %u", the_run.run.status);
	free_program(handle);
}

static void parameter_set(const char *name, const char *value)
{
	char path[96];
	int file;

	snprintf(path, sizeof(path), "/sys/module/cosy/parameters/%s", name);
	file = open(path, O_WRONLY);
	MUST(file >= 0 && write(file, value, strlen(value)) == (ssize_t)strlen(value) &&
	     !close(file));
}

/* Checks that no RUN exceeds the administrator's limit, whatever its state says. */
static void test_administrator(void)
{
	static const struct bpf_insn endless[] = { JUMP(-1) };
	uint32_t handle = raw_load(fd, endless, COUNT(endless));

	if (geteuid()) {
		printf("module parameters: not tried, not root\n");
		return;
	}
	parameter_set("max_kernel_ms", "5");
	raw_run_init(&the_run, handle, NULL);
	for (int i = 0; i < 4; i++) {
		CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_ENDED_TIME,
		      "RUN %d: status %u", i, the_run.run.status);
		the_run.state.kernel_ns = 0;
		the_run.state.steps = 0;
	}
	parameter_set("max_kernel_ms", "0");
	free_program(handle);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "calls", .run = test_calls },
		{ "operations", .run = test_operations },
		{ "long_operations", .run = test_long_operations },
		{ "faults", .run = test_faults },
		{ "fault_in_operation", .run = test_fault_in_operation },
		{ "long_calls", .run = test_long_calls },
		{ "forged", .run = test_forged },
		{ "administrator", .run = test_administrator },
	};

	memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	regular = memfd_create("regular", 0);
	zero = open("/dev/zero", O_RDONLY);
	sink = open("/dev/null", O_WRONLY);
	listing = open("/", O_RDONLY | O_DIRECTORY);
	MUST(memory != MAP_FAILED && zero >= 0 && sink >= 0 && listing >= 0);
	MUST(write(regular, memory, 1 << 20) == 1 << 20 && !lseek(regular, 0, SEEK_SET));
	return kmod_main(parts, COUNT(parts), argc, argv);
}
