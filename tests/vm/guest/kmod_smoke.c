/* SPDX-License-Identifier: MIT */
/*
 * The module by its ioctls alone: every way in, every thunk, every way of leaving,
 * with compounds written by hand.  Arguments choose tests by name; none runs all.
 */
#include "raw.h"
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define BUFFER_SIZE (1 << 20)

/* The lowest word of the spill frame. */
#define LOWEST (-(int)COSY_FRAME_SIZE)

static int fd;
static char *shared;
static uint64_t private[64] __attribute__((aligned(64)));
static struct raw_run the_run;

/*
 * Loads and runs once from the start, on whenever task work came between; the
 * status, with the_run filled in.
 */
static uint32_t once(const struct bpf_insn *insns, size_t count, void *ctx)
{
	struct cosy_free free = { .size = sizeof(free) };
	long ret;

	free.handle = raw_load(fd, insns, count);
	raw_run_init(&the_run, free.handle, ctx);
	ret = raw_run_to_end(fd, &the_run);
	CHECK(ret == 0, "RUN: %ld", ret);
	MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
	return ret ? ~0u : the_run.run.status;
}

/* The compound ends with this result. */
#define RESULT(want, ...)						\
	do {								\
		const struct bpf_insn insns_[] = { __VA_ARGS__ };	\
		uint32_t status_ = once(insns_, COUNT(insns_), private);	\
									\
		CHECK(status_ == COSY_DONE && (uint64_t)the_run.run.ret == (uint64_t)(want), \
		      "status %u, result %#llx, wanted %#llx", status_, \
		      (unsigned long long)the_run.run.ret, (unsigned long long)(want)); \
	} while (0)

/* The compound leaves so, at this instruction. */
#define LEAVES(want, insn, ...)						\
	do {								\
		const struct bpf_insn insns_[] = { __VA_ARGS__ };	\
		uint32_t status_ = once(insns_, COUNT(insns_), private);	\
									\
		CHECK(status_ == (want) && the_run.run.resume == (insn) + 1, \
		      "status %u at %d, wanted %u at %d", status_,	\
		      (int)the_run.run.resume - 1, (int)(want), (int)(insn)); \
	} while (0)

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

/* The shared buffer, with no memory behind it. */
static char *guarded_buffer(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = BUFFER_SIZE };
	char *room = mmap(NULL, 2 * BUFFER_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(room != MAP_FAILED && !raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	MUST(mmap(room, BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == room);
	return room;
}

/* --- The device ------------------------------------------------------------------ */

static void test_version(void)
{
	struct cosy_version version = { .size = sizeof(version) };
	struct { struct cosy_version version; uint64_t more; } longer = { .version.size = sizeof(longer) };
	struct cosy_limits limits = { .size = sizeof(limits), .flags = 1 };
	uint32_t small = 4;

	CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &version), "VERSION");
	CHECK(version.abi == COSY_ABI_VERSION && version.max_insns == COSY_MAX_INSNS &&
	      version.max_buffer == COSY_MAX_BUFFER, "VERSION's answers");
	CHECK(version.features & COSY_FEATURE_JIT, "no JIT");
	CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &longer), "a longer argument with a zero tail");
	longer.more = 1;
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, &longer) == -E2BIG, "a longer argument with a tail");
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, &small) == -EINVAL, "a shorter argument");
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, NULL) == -EFAULT, "no argument");
	CHECK(raw_ioctl(fd, COSY_IOC_LIMITS, &limits) == -EINVAL, "reserved flags");
	CHECK(raw_ioctl(fd, _IO('C', 0x99), &version) == -ENOTTY, "no such command");
}

static void test_buffer(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 3 * 4096 };
	int other = raw_open();
	char *at;

	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED && errno == ENODEV,
	      "mapped without a buffer");
	CHECK(raw_ioctl(other, COSY_IOC_SETBUF, &setbuf) == -EINVAL, "three pages");
	setbuf.len = 2048;
	CHECK(raw_ioctl(other, COSY_IOC_SETBUF, &setbuf) == -EINVAL, "half a page");
	setbuf.len = COSY_MAX_BUFFER * 2ull;
	CHECK(raw_ioctl(other, COSY_IOC_SETBUF, &setbuf) == -EINVAL, "too large");
	setbuf.len = 1ull << 63;
	CHECK(raw_ioctl(other, COSY_IOC_SETBUF, &setbuf) == -EINVAL, "far too large");
	setbuf.len = 16384;
	CHECK(!raw_ioctl(other, COSY_IOC_SETBUF, &setbuf), "four pages");
	CHECK(raw_ioctl(other, COSY_IOC_SETBUF, &setbuf) == -EBUSY, "twice");
	CHECK(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED, "half of it");
	CHECK(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, other, 4096) == MAP_FAILED, "not from its start");
	CHECK(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE, other, 0) == MAP_FAILED, "private");
	CHECK(mmap(NULL, 16384, PROT_READ, MAP_SHARED, other, 0) == MAP_FAILED, "read-only");
	at = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	MUST(at != MAP_FAILED);
	CHECK(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED && errno == EBUSY,
	      "mapped twice");
	for (int i = 0; i < 16384; i++)
		CHECK(!at[i], "not zero at %d", i);
	at[16383] = 1;
	CHECK(munmap(at, 4096) && errno == EINVAL, "part of it unmapped");
	CHECK(mremap(at, 16384, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, at + (64 << 20)) == MAP_FAILED, "moved");
	CHECK(mremap(at, 16384, 32768, MREMAP_MAYMOVE) == MAP_FAILED, "grown");
	CHECK(mremap(at, 16384, 8192, 0) == MAP_FAILED, "shrunk");
	CHECK(mremap(at, 0, 16384, MREMAP_MAYMOVE) == MAP_FAILED, "doubled");
	CHECK(mprotect(at, 4096, PROT_READ) && errno == EINVAL, "part of it read-only");
	CHECK(at[16383] == 1, "content");
	CHECK(!madvise(at, 16384, MADV_DONTNEED) && at[16383] == 1, "forgotten");
	close(other);		/* the mapping holds on */
	CHECK(at[16383] == 1, "content after close");
	CHECK(!munmap(at, 16384), "unmapped");
}

static void test_memlock(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 1 << 20 };
	struct rlimit old, limit;

	if (!geteuid()) {
		/* As root the limit does not hold; user nobody tries it. */
		printf("RLIMIT_MEMLOCK: not tried as root\n");
		return;
	}
	getrlimit(RLIMIT_MEMLOCK, &old);
	limit = old;
	limit.rlim_cur = 3 << 19;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	for (int i = 0; i < 100; i++) {
		int other = raw_open();
		long ret = raw_ioctl(other, COSY_IOC_SETBUF, &setbuf);

		CHECK(ret == (shared ? -ENOMEM : 0), "buffer %d: %ld", i, ret);
		close(other);
	}
	setrlimit(RLIMIT_MEMLOCK, &old);
	for (int i = 0; i < 100; i++) {
		int other = raw_open();

		CHECK(!raw_ioctl(other, COSY_IOC_SETBUF, &setbuf), "buffer %d", i);
		close(other);
	}
}

/* --- Programs ---------------------------------------------------------------------- */

static void refused(const char *what, const struct bpf_insn *insns, size_t count, uint32_t bad)
{
	struct cosy_load load;
	long ret = raw_try_load(fd, insns, count, &load);

	CHECK(ret == -EINVAL, "%s: %ld", what, ret);
	CHECK(load.bad_insn == bad, "%s: instruction %u, wanted %u", what, load.bad_insn, bad);
	CHECK(raw_log[0], "%s: no reason", what);
	CHECK(!load.handle, "%s: a handle", what);
}

static void test_load(void)
{
	static const struct bpf_insn bad_register[] = { MOV(0, 0), MOV(11, 1), EXIT };
	static const struct bpf_insn denied[] = { MOV(1, 0), CALL(SYS_fork), EXIT };
	static const struct bpf_insn good[] = { MOV(0, 0), EXIT };
	static struct raw_container c;
	struct cosy_free free = { .size = sizeof(free) };
	struct cosy_load load;
	struct raw_run *r = &the_run;
	uint32_t handles[40];

	refused("a register that is not there", bad_register, COUNT(bad_register), 1);
	refused("a denied call", denied, COUNT(denied), 1);
	raw_container(&c, good, COUNT(good));
	c.header.magic++;
	CHECK(raw_load_container(fd, &c, &load) == -EINVAL && load.bad_insn == ~0u, "bad magic");
	raw_container(&c, good, COUNT(good));
	memset(&load, 0, sizeof(load));
	load.size = sizeof(load);
	load.len = COSY_MAX_COMPOUND + 1;
	load.compound = (uintptr_t)&c;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &load) == -E2BIG, "too large");
	load.len = 0;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &load) == -EINVAL, "nothing");
	load.len = 4096;
	load.compound = 0;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &load) == -EFAULT, "from nowhere");

	for (size_t i = 0; i < COUNT(handles); i++) {
		handles[i] = raw_load(fd, good, COUNT(good));
		CHECK(handles[i], "handle 0");
		for (size_t k = 0; k < i; k++)
			CHECK(handles[i] != handles[k], "handle %u twice", handles[i]);
	}
	for (size_t i = 0; i < COUNT(handles); i++) {
		free.handle = handles[i];
		CHECK(!raw_ioctl(fd, COSY_IOC_FREE, &free), "FREE");
		CHECK(raw_ioctl(fd, COSY_IOC_FREE, &free) == -ENOENT, "FREE twice");
	}
	raw_run_init(r, handles[0], NULL);
	CHECK(raw_run(fd, r) == -ENOENT, "RUN after FREE");
	raw_run_init(r, 0, NULL);
	CHECK(raw_run(fd, r) == -ENOENT, "RUN of handle 0");
	raw_run_init(r, raw_load(fd, good, COUNT(good)), NULL);
	r->run.resume = 2;
	CHECK(raw_run(fd, r) == -EINVAL, "RUN from no resume point");
	r->run.resume = ~0u;
	CHECK(raw_run(fd, r) == -EINVAL, "RUN from far away");
	r->run.resume = 0;
	r->run.stack++;
	CHECK(raw_run(fd, r) == -EINVAL, "RUN with a crooked stack");
	r->run.stack--;
	r->run.stack_size = -1ull;
	CHECK(raw_run(fd, r) == -EINVAL, "RUN with an endless stack");
	r->run.stack_size = 0;
	CHECK(!raw_run(fd, r), "RUN without a stack");
	r->run.size = 8;
	CHECK(raw_run(fd, r) == -EINVAL, "RUN, too short");
	CHECK(raw_ioctl(fd, COSY_IOC_RUN, NULL) == -EFAULT, "RUN of nothing");
}

/* The largest compound, and the same with far jumps. */
static void test_large(void)
{
	static struct bpf_insn insns[COSY_MAX_INSNS];
	struct cosy_load load;
	size_t n = 0;
	long ret;

	insns[n++] = MOV(7, 3);
	insns[n++] = MOV(2, 0);
	while (n < COSY_MAX_INSNS - 4) {
		insns[n++] = ADD(2, 0x1234567);
		insns[n++] = LOAD(BPF_DW, 3, 1, 8);
	}
	insns[n++] = ADD(7, -1);
	insns[n] = JUMP_NE(7, 0, (int16_t)(1 - (int)n));
	n++;
	insns[n++] = MOVR(0, 2);
	insns[n++] = EXIT;
	ret = raw_try_load(fd, insns, n, &load);
	printf("largest: LOAD %ld, %u instructions, %u bytes %s\n", ret, load.rewritten, load.jited, raw_log);
	if (ret == -E2BIG)
		return;		/* the jump range of a JIT before cpu v4 */
	CHECK(!ret, "LOAD");
	raw_run_init(&the_run, load.handle, private);
	CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_DONE, "RUN");
	CHECK(the_run.run.ret == 3ll * 0x1234567 * (long long)((COSY_MAX_INSNS - 5) / 2), "%llx",
	      (unsigned long long)the_run.run.ret);
}

/* --- Accesses ------------------------------------------------------------------------ */

static void test_loads(void)
{
	static const struct { int size; uint64_t want; } sizes[] = {
		{ BPF_B, 0x87 }, { BPF_H, 0x8687 }, { BPF_W, 0x84858687 }, { BPF_DW, 0x8081828384858687 },
	};
	char *places[] = { shared + 64, shared + BUFFER_SIZE - 8, (char *)&private[8] };

	for (size_t p = 0; p < COUNT(places); p++) {
		uint64_t at = (uintptr_t)places[p];

		for (size_t s = 0; s < COUNT(sizes); s++) {
			int bits = 8 << s;

			memcpy(places[p], "\x87\x86\x85\x84\x83\x82\x81\x80", 8);
			RESULT(sizes[s].want, WIDE(8, at), LOAD(sizes[s].size, 0, 8, 0), EXIT);
			RESULT(sizes[s].want, WIDE(3, at + 40), LOAD(sizes[s].size, 3, 3, -40), MOVR(0, 3), EXIT);
			if (bits < 64)
				RESULT((uint64_t)((int64_t)(sizes[s].want << (64 - bits)) >> (64 - bits)),
				       WIDE(8, at), INSN(BPF_LDX | 0x80 | sizes[s].size, 0, 8, 0, 0), EXIT);
			/* Every store kind: a register, its own base, an immediate. */
			RESULT(0x0123456789abcdef & (~0ull >> (64 - bits)), WIDE(8, at), WIDE(3, 0x0123456789abcdef),
			       STORE(sizes[s].size, 8, 0, 3), LOAD(sizes[s].size, 0, 8, 0), EXIT);
			RESULT(at & (~0ull >> (64 - bits)), WIDE(8, at), STORE(sizes[s].size, 8, 0, 8),
			       LOAD(sizes[s].size, 0, 8, 0), EXIT);
			RESULT((uint64_t)-5 & (~0ull >> (64 - bits)), WIDE(8, at), STOREK(sizes[s].size, 8, 0, -5),
			       LOAD(sizes[s].size, 0, 8, 0), EXIT);
		}
		/* Neighbours stay as they are. */
		memset(places[p] - 8, 0xee, 16);
		RESULT(0, WIDE(8, at), STOREK(BPF_B, 8, -4, 0), MOV(0, 0), EXIT);
		CHECK(!memcmp(places[p] - 8, "\xee\xee\xee\xee\x00\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee", 16),
		      "neighbours");
	}
	/* Across the end of the buffer lies other memory, or none. */
	LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, (uintptr_t)shared + BUFFER_SIZE), LOAD(BPF_DW, 0, 8, 0), EXIT);
}

static void test_bad_pointers(void)
{
	static const uint64_t bad[] = {
		0, 8, 0xffffffff81000000, 0xffff888000000000, 0xffffffffffffffff, 0xfffffffffffffff9,
		0x0000800000000000, 0x00007ffffffff000, 0x1234567812345678, 0x8000000000000000, 0xffffffffff600000,
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, bad[i]), MOV(7, 1), LOAD(BPF_DW, 0, 8, 0), EXIT);
		CHECK(the_run.state.reg[8] == bad[i] && the_run.state.reg[7] == 1, "registers at %#llx",
		      (unsigned long long)bad[i]);
		LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, bad[i]), LOAD(BPF_B, 8, 8, 0), EXIT);
		CHECK(the_run.state.reg[8] == bad[i], "the base is whole");
		LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, bad[i]), STORE(BPF_W, 8, 0, 8), EXIT);
		CHECK(the_run.state.reg[8] == bad[i], "the base is whole");
		LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, bad[i]), STOREK(BPF_DW, 8, 0, 5), EXIT);
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, bad[i]), MOV(0, 7), ATOMIC(BPF_DW, 8, 0, 0, BPF_ADD | BPF_FETCH), EXIT);
		CHECK(the_run.state.reg[0] == 7, "r0 behind an atomic");
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, bad[i]), MOV(0, 7), ATOMIC(BPF_W, 8, 0, 3, BPF_XOR), EXIT);
		CHECK(the_run.state.reg[0] == 7, "r0 behind an atomic");
	}
}

static void test_atomics(void)
{
	char *places[] = { shared + 128, (char *)&private[16] };

	for (size_t p = 0; p < COUNT(places); p++) {
		volatile uint64_t *at = (uint64_t *)places[p];
		uint64_t a = (uintptr_t)at;
		static const struct { int what; uint64_t want; } kinds[] = {
			{ BPF_ADD, 0xf0f0f0f0ffff0001ull + 0x00ff00ff00ff00ff },
			{ BPF_OR, 0xf0f0f0f0ffff0001ull | 0x00ff00ff00ff00ff },
			{ BPF_AND, 0xf0f0f0f0ffff0001ull & 0x00ff00ff00ff00ff },
			{ BPF_XOR, 0xf0f0f0f0ffff0001ull ^ 0x00ff00ff00ff00ff },
		};

		for (size_t k = 0; k < COUNT(kinds); k++) {
			*at = 0xf0f0f0f0ffff0001;
			RESULT(77, WIDE(8, a), WIDE(3, 0x00ff00ff00ff00ff), MOV(0, 77), ATOMIC(BPF_DW, 8, 0, 3, kinds[k].what),
			       EXIT);
			CHECK(*at == kinds[k].want, "%#x: %#llx", kinds[k].what, (unsigned long long)*at);
			*at = 0xf0f0f0f0ffff0001;
			RESULT(0xf0f0f0f0ffff0001, WIDE(8, a), WIDE(3, 0x00ff00ff00ff00ff), MOV(0, 77),
			       ATOMIC(BPF_DW, 8, 0, 3, kinds[k].what | BPF_FETCH), MOVR(0, 3), EXIT);
			CHECK(*at == kinds[k].want, "%#x fetch: %#llx", kinds[k].what, (unsigned long long)*at);
			*at = 0xf0f0f0f0ffff0001;
			RESULT(0xffff0001, WIDE(8, a), WIDE(3, 0x00ff00ff00ff00ff), MOV(0, 77),
			       ATOMIC(BPF_W, 8, 0, 3, kinds[k].what | BPF_FETCH), MOVR(0, 3), EXIT);
			CHECK((uint32_t)*at == (uint32_t)kinds[k].want && *at >> 32 == 0xf0f0f0f0, "%#x fetch: %#llx",
			      kinds[k].what, (unsigned long long)*at);
		}
		*at = 5;
		RESULT(5, WIDE(8, a), MOV(3, 6), ATOMIC(BPF_DW, 8, 0, 3, BPF_XCHG), MOVR(0, 3), EXIT);
		CHECK(*at == 6, "exchange");
		RESULT(6, WIDE(8, a), MOV(0, 6), MOV(3, 9), ATOMIC(BPF_DW, 8, 0, 3, BPF_CMPXCHG), EXIT);
		CHECK(*at == 9, "compare-exchange");
		RESULT(9, WIDE(8, a), MOV(0, 6), MOV(3, 10), ATOMIC(BPF_DW, 8, 0, 3, BPF_CMPXCHG), EXIT);
		CHECK(*at == 9, "compare-exchange that fails");
		RESULT(9, WIDE(8, a), WIDE(0, 0x100000009), MOV(3, 11), ATOMIC(BPF_W, 8, 0, 3, BPF_CMPXCHG), EXIT);
		CHECK(*at == 11, "narrow compare-exchange");
		/* Not aligned: a locked access across cache lines; the interpreter's. */
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, a + 61), MOV(3, 1), ATOMIC(BPF_W, 8, 0, 3, BPF_ADD), EXIT);
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, a + 60), MOV(3, 1), ATOMIC(BPF_DW, 8, 0, 3, BPF_ADD | BPF_FETCH), EXIT);
	}
}

#define DIV(class, op, d, s, off) INSN((class) | (op) | BPF_X, d, s, off, 0)

static void test_division(void)
{
	static const int64_t values[] = { 0, 1, -1, 7, -7, 1000000007, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, -4294967296 };

	for (size_t i = 0; i < COUNT(values); i++) {
		for (size_t k = 0; k < COUNT(values); k++) {
			int64_t a = values[i], b = values[k];
			int32_t a4 = (int32_t)a, b4 = (int32_t)b;
			int64_t quotient = !b ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
			int64_t rest = !b ? a : b == -1 ? 0 : a % b;
			uint32_t quotient4 = !b4 ? 0 : b4 == -1 ? 0 - (uint32_t)a4 : (uint32_t)(a4 / b4);
			uint32_t rest4 = !b4 ? (uint32_t)a4 : b4 == -1 ? 0 : (uint32_t)(a4 % b4);

			RESULT(quotient, WIDE(0, a), WIDE(2, b), DIV(BPF_ALU64, BPF_DIV, 0, 2, 1), EXIT);
			RESULT(rest, WIDE(0, a), WIDE(3, b), DIV(BPF_ALU64, BPF_MOD, 0, 3, 1), EXIT);
			RESULT(quotient4, WIDE(0, a), WIDE(2, b), DIV(BPF_ALU, BPF_DIV, 0, 2, 1), EXIT);
			RESULT(rest4, WIDE(0, a), WIDE(2, b), DIV(BPF_ALU, BPF_MOD, 0, 2, 1), EXIT);
			RESULT(b ? (uint64_t)a / (uint64_t)b : 0, WIDE(6, a), WIDE(2, b), DIV(BPF_ALU64, BPF_DIV, 6, 2, 0),
			       MOVR(0, 6), EXIT);
			RESULT(b4 ? (uint32_t)a4 % (uint32_t)b4 : (uint32_t)a4, WIDE(3, a), WIDE(2, b),
			       DIV(BPF_ALU, BPF_MOD, 3, 2, 0), MOVR(0, 3), EXIT);
		}
	}
}

/* --- Calls --------------------------------------------------------------------------- */

static void test_calls(void)
{
	int pipes[2];
	struct cosy_stats before = counts(), after;

	RESULT(getpid(), CALL(SYS_getpid), EXIT);
	/* r1-r5 are 0 behind a call, r6-r9 what they were. */
	RESULT(0, MOV(1, 1), MOV(2, 2), MOV(3, 3), MOV(4, 4), MOV(5, 5), CALL(SYS_getpid), MOV(0, 0), ADDR(0, 1), ADDR(0, 2),
	       ADDR(0, 3), ADDR(0, 4), ADDR(0, 5), EXIT);
	RESULT(6 + 7 + 8 + 9, MOV(6, 6), MOV(7, 7), MOV(8, 8), MOV(9, 9), CALL(SYS_getpid), MOV(0, 0), ADDR(0, 6), ADDR(0, 7),
	       ADDR(0, 8), ADDR(0, 9), EXIT);
	RESULT(-EBADF, MOV(1, -1), CALL(SYS_close), EXIT);
	/* Six arguments: mmap, with the offset in r0. */
	RESULT(-EINVAL, MOV(1, 0), MOV(2, 4096), MOV(3, 3), MOV(4, MAP_PRIVATE | MAP_ANONYMOUS), MOV(5, -1), MOV(0, 1),
	       CALL(SYS_mmap), EXIT);
	MUST(!pipe(pipes));
	RESULT(5, MOV(1, pipes[1]), WIDE(2, (uintptr_t)"hello"), MOV(3, 5), CALL(SYS_write), EXIT);
	RESULT(5, MOV(1, pipes[0]), WIDE(2, (uintptr_t)shared), MOV(3, 100), CALL(SYS_read), EXIT);
	CHECK(!memcmp(shared, "hello", 5), "what was read");
	close(pipes[0]);
	close(pipes[1]);
	after = counts();
	CHECK(after.calls - before.calls == 7, "%llu calls", (unsigned long long)(after.calls - before.calls));
	CHECK(after.runs - before.runs == 7, "%llu runs", (unsigned long long)(after.runs - before.runs));
	RESULT((uintptr_t)private, CALL_OP(RAW_OP_CTX), EXIT);
	RESULT(0, CALL_OP(RAW_OP_FENCE), MOV(0, 0), EXIT);
	LEAVES(COSY_LEFT_TRAP, 1, MOV(6, 66), CALL_OP(RAW_OP_TRAP), EXIT);
	CHECK(the_run.state.reg[6] == 66, "registers at a trap");
}

/* r0 = fib(r1) by calling itself; r6, r7 and a spilled word live across the calls. */
static const struct bpf_insn fib[] = {
	MOV(1, 15), CALL_LOCAL(1), EXIT,
	/* 3 */
	MOVR(0, 1),
	INSN(BPF_JMP | BPF_JLT | BPF_K, 1, 0, 9, 2),
	MOVR(6, 1),
	STORE(BPF_DW, 10, -8, 1),
	ADD(1, -1), CALL_LOCAL(-6),
	MOVR(7, 0),
	LOAD(BPF_DW, 1, 10, -8), ADD(1, -2), CALL_LOCAL(-10),
	ADDR(0, 7),
	EXIT,
};

static void test_local_calls(void)
{
	static const struct bpf_insn deep[] = {
		MOV(1, 0), CALL_LOCAL(1), EXIT,
		ADD(1, 1), CALL_LOCAL(-2), EXIT,
	};
	static const struct bpf_insn up[] = {	/* r1 levels down and up again */
		WIDE(1, 500), CALL_LOCAL(1), EXIT,
		MOV(0, 0), INSN(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 4, 0),
		STOREK(BPF_DW, 10, -448, 1), ADD(1, -1), CALL_LOCAL(-5), ADD(0, 1), EXIT,
	};
	uint32_t status;

	status = once(fib, COUNT(fib), NULL);
	CHECK(status == COSY_DONE && the_run.run.ret == 610, "fib(15): status %u, %lld", status, (long long)the_run.run.ret);
	status = once(deep, COUNT(deep), NULL);
	CHECK(status == COSY_LEFT_STACK && the_run.run.resume == 5, "endless recursion: status %u at %u", status,
	      the_run.run.resume);
	CHECK(the_run.run.detail > RAW_STACK && the_run.run.detail <= RAW_STACK + 64, "needs %llu",
	      (unsigned long long)the_run.run.detail);
	CHECK(the_run.state.reg[1] == RAW_STACK / 48, "%llu levels", (unsigned long long)the_run.state.reg[1]);
	status = once(up, COUNT(up), NULL);
	CHECK(status == COSY_LEFT_STACK, "500 of the largest frames: status %u", status);
	/* More room for the same compound: RUN again from there. */
	{
		static char large[500 * (sizeof(struct cosy_frame) + COSY_FRAME_SIZE) + 4096] __attribute__((aligned(16)));
		uint32_t handle = raw_load(fd, up, COUNT(up));

		raw_run_init(&the_run, handle, NULL);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_STACK, "status %u", the_run.run.status);
		memcpy(large, the_run.stack, RAW_STACK);
		the_run.run.stack = (uintptr_t)large;
		the_run.run.stack_size = sizeof(large);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_DONE && the_run.run.ret == 500,
		      "status %u, result %lld", the_run.run.status, (long long)the_run.run.ret);
	}
	/* No stack at all. */
	{
		uint32_t handle = raw_load(fd, fib, COUNT(fib));

		raw_run_init(&the_run, handle, NULL);
		the_run.run.stack = the_run.run.stack_size = 0;
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_STACK, "status %u", the_run.run.status);
		raw_run_init(&the_run, handle, NULL);
		the_run.run.stack = 4096;
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_FAULT && the_run.run.detail == 4096,
		      "status %u", the_run.run.status);
	}
	/* alloca: room of its own for each level, given back at return. */
	RESULT(0, MOV(1, 100), CALL_OP(RAW_OP_ALLOCA), MOVR(6, 0), MOV(1, 1), CALL_OP(RAW_OP_ALLOCA),
	       INSN(BPF_ALU64 | BPF_SUB | BPF_X, 0, 6, 0, 0), ADD(0, -112), EXIT);
	LEAVES(COSY_LEFT_STACK, 2, WIDE(1, RAW_STACK + 1), CALL_OP(RAW_OP_ALLOCA), EXIT);
	LEAVES(COSY_LEFT_STACK, 2, WIDE(1, -1), CALL_OP(RAW_OP_ALLOCA), EXIT);
}

/* A stack that says other things than what was pushed. */
static void test_forged_stack(void)
{
	uint32_t handle = raw_load(fd, fib, COUNT(fib));
	struct raw_run *r = &the_run;
	struct cosy_frame *frame = (struct cosy_frame *)r->stack;
	static const uint64_t wild[] = { 0, 2, 3, 4, 7, 9, 13, 14, 15, 1000, 1ull << 32, ~0ull, 0xffffffff81000000 };

	for (size_t i = 0; i < COUNT(wild); i++) {
		/* At the exit of the second function, with this frame on top. */
		raw_run_init(r, handle, NULL);
		memset(&r->state, 0, sizeof(r->state));
		r->run.resume = 14 + 1;
		r->state.sp = 64;
		r->state.fp = 0;
		frame->call = wild[i];
		frame->fp = ~0ull;
		CHECK(!raw_run(fd, r), "RUN");
		CHECK(r->run.status == COSY_LEFT_TRAP, "call %#llx: status %u", (unsigned long long)wild[i], r->run.status);
		r->run.resume = 14 + 1;
		frame->call = 1;
		r->state.sp = 64;
		r->state.fp = wild[i] ? wild[i] | 0x100000 : ~0ull;
		CHECK(!raw_run(fd, r), "RUN");
		CHECK(r->run.status == COSY_LEFT_TRAP, "fp %#llx: status %u", (unsigned long long)r->state.fp, r->run.status);
	}
	/* A frame that is its own caller: returns for ever, behind `call fib; exit`. */
	raw_run_init(r, handle, NULL);
	memset(&r->state, 0, sizeof(r->state));
	r->run.resume = 14 + 1;
	frame->call = 12;
	frame->fp = 0;
	alarm_us(20000, 0);
	CHECK(!raw_run(fd, r), "RUN");
	CHECK(r->run.status == COSY_LEFT_WORK, "frames in a circle: status %u", r->run.status);
}

/* --- Leaving and going on --------------------------------------------------------------- */

static void test_signal_loop(void)
{
	/* Until the handler has changed the word. */
	const struct bpf_insn waits[] = {
		WIDE(8, (uintptr_t)&signals), MOV(6, 0), STOREK(BPF_DW, 10, -448, 12345),
		ADD(6, 1), LOAD(BPF_W, 1, 8, 0), INSN(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, -3, 0),
		LOAD(BPF_DW, 0, 10, -448), EXIT,
	};
	long ret;

	signals = 0;
	handle(SIGALRM, on_signal, SA_RESTART);
	raw_run_init(&the_run, raw_load(fd, waits, COUNT(waits)), NULL);
	alarm_us(30000, 0);
	/* Other work than the signal may come first. */
	do
		ret = raw_run(fd, &the_run);
	while (!ret && the_run.run.status == COSY_LEFT_WORK && !signals);
	CHECK(!ret && the_run.run.status == COSY_LEFT_WORK && signals == 1, "RUN %ld, status %u, %d signals", ret,
	      the_run.run.status, (int)signals);
	CHECK(the_run.state.frame[0] == 12345 && the_run.state.reg[8] == (uintptr_t)&signals, "saved state");
	ret = raw_run_to_end(fd, &the_run);
	CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 12345, "RUN %ld, status %u", ret,
	      the_run.run.status);
	/* A signal to itself is handled before the next instruction. */
	{
		const struct bpf_insn raises[] = {
			CALL(SYS_getpid), MOVR(1, 0), MOV(2, SIGALRM), CALL(SYS_kill),
			WIDE(8, (uintptr_t)&signals), LOAD(BPF_W, 0, 8, 0), EXIT,
		};

		signals = 0;
		raw_run_init(&the_run, raw_load(fd, raises, COUNT(raises)), NULL);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_WORK && the_run.run.resume == 5,
		      "status %u at %u", the_run.run.status, the_run.run.resume);
		ret = raw_run_to_end(fd, &the_run);
		CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 1, "saw %lld", (long long)the_run.run.ret);
	}
}

static void test_restart(void)
{
	struct timespec nap = { 0, 200000000 };
	const struct bpf_insn naps[] = {
		WIDE(1, (uintptr_t)&nap), MOV(2, 0), CALL(SYS_nanosleep), EXIT,
	};
	char byte = 0;
	int pipes[2];
	long ret;

	MUST(!pipe(pipes));
	const struct bpf_insn reads[] = {
		MOV(1, pipes[0]), WIDE(2, (uintptr_t)&byte), MOV(3, 1), CALL(SYS_read), EXIT,
	};

	/* Without SA_RESTART the read itself ends with EINTR. */
	signals = 0;
	handle(SIGALRM, on_signal, 0);
	raw_run_init(&the_run, raw_load(fd, reads, COUNT(reads)), NULL);
	alarm_us(20000, 0);
	ret = raw_run(fd, &the_run);
	CHECK(ret == -EINTR && the_run.run.status == COSY_LEFT_CALL && the_run.run.resume == 5 && signals == 1,
	      "RUN %ld, status %u at %u", ret, the_run.run.status, the_run.run.resume);
	CHECK(the_run.state.reg[1] == (uint64_t)pipes[0] && the_run.state.reg[3] == 1, "arguments at the call");

	/* With it the kernel restarts RUN, which goes on at the read. */
	signals = 0;
	handle(SIGALRM, on_signal, SA_RESTART);
	if (!fork()) {
		sleep_ms(100);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	raw_run_init(&the_run, the_run.run.handle, NULL);
	alarm_us(20000, 10000);
	ret = raw_run_to_end(fd, &the_run);
	alarm_us(0, 0);
	CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 1 && byte == 'x' && signals > 1,
	      "RUN %ld, status %u, result %lld, %d signals", ret, the_run.run.status, (long long)the_run.run.ret, (int)signals);
	wait(NULL);

	/* A signal that is ignored: restart_syscall ends the sleep, and RUN has its result. */
	signals = 0;
	raw_run_init(&the_run, raw_load(fd, naps, COUNT(naps)), NULL);
	if (!fork()) {
		sleep_ms(50);
		kill(getppid(), SIGSTOP);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	double start = now_ms();

	ret = raw_run(fd, &the_run);
	CHECK(!ret, "RUN %ld", ret);
	CHECK(now_ms() - start > 190, "slept only %.0f ms", now_ms() - start);
	CHECK(the_run.run.status == COSY_LEFT_CALL || the_run.run.status == COSY_DONE, "status %u", the_run.run.status);
	wait(NULL);
	close(pipes[0]);
	close(pipes[1]);
}

static void endless_child(void *unused)
{
	static const struct bpf_insn endless[] = { JUMP(-1) };

	(void)unused;
	fd = raw_open();
	raw_run_init(&the_run, raw_load(fd, endless, COUNT(endless)), NULL);
	for (;;)
		raw_run(fd, &the_run);
}

static void test_kill(void)
{
	double start;
	int status;
	pid_t pid = fork();

	if (!pid)
		endless_child(NULL);
	sleep_ms(100);
	start = now_ms();
	kill(pid, SIGKILL);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
	CHECK(now_ms() - start < 500, "died only after %.1f ms", now_ms() - start);
	printf("died after %.1f ms\n", now_ms() - start);
}

static void seccomp_child(void *unused)
{
	const struct bpf_insn locks[] = {
		MOV(1, PR_SET_NO_NEW_PRIVS), MOV(2, 1), CALL(SYS_prctl),
		MOV(1, PR_SET_SECCOMP), MOV(2, SECCOMP_MODE_STRICT), CALL(SYS_prctl),
		MOVR(6, 0), CALL(SYS_getpid), EXIT,
	};

	(void)unused;
	fd = raw_open();
	raw_run_init(&the_run, raw_load(fd, locks, COUNT(locks)), NULL);
	raw_run(fd, &the_run);
	/* Strict: read, write, exit and sigreturn are all that is left. */
	if (the_run.run.status == COSY_LEFT_TRACED && the_run.run.resume == 8 && the_run.state.reg[6] == 0)
		syscall(SYS_exit, 42);
	syscall(SYS_exit, 43);
}

static void test_seccomp(void)
{
	int status = in_child(seccomp_child, NULL);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %#x", status);
}

static void test_nested(void)
{
	static struct raw_run inner;
	static const struct bpf_insn good[] = { MOV(0, 0), EXIT };
	int other = raw_open();

	raw_run_init(&inner, raw_load(fd, good, COUNT(good)), NULL);
	RESULT(-ELOOP, MOV(1, fd), WIDE(2, COSY_IOC_RUN), WIDE(3, (uintptr_t)&inner.run), CALL(SYS_ioctl), EXIT);
	raw_run_init(&inner, raw_load(other, good, COUNT(good)), NULL);
	RESULT(-ELOOP, MOV(1, other), WIDE(2, COSY_IOC_RUN), WIDE(3, (uintptr_t)&inner.run), CALL(SYS_ioctl), EXIT);
	/* And afterwards it may. */
	CHECK(!raw_run(other, &inner) && inner.run.status == COSY_DONE, "RUN");
	close(other);
}

/* A compound that takes away what it runs on. */
static void test_own_ground(void)
{
	int other = raw_open();
	char *buffer = raw_buffer(other, 65536);
	struct cosy_free free = { .size = sizeof(free) };
	struct raw_run *r = &the_run;
	const struct bpf_insn closes[] = { MOV(1, other), CALL(SYS_close), MOVR(6, 0), CALL(SYS_getpid), EXIT };
	const struct bpf_insn frees[] = {
		MOV(1, other), WIDE(2, COSY_IOC_FREE), WIDE(3, (uintptr_t)&free), CALL(SYS_ioctl), MOVR(6, 0),
		CALL(SYS_getpid), EXIT,
	};
	const struct bpf_insn unmaps[] = {
		WIDE(8, (uintptr_t)buffer), STOREK(BPF_DW, 8, 0, 5),
		MOVR(1, 8), WIDE(2, 65536), CALL(SYS_munmap), LOAD(BPF_DW, 0, 8, 0), EXIT,
	};
	uint32_t closing = raw_load(other, closes, COUNT(closes)), unmapping = raw_load(other, unmaps, COUNT(unmaps));
	uint32_t plain;

	free.handle = raw_load(other, frees, COUNT(frees));
	raw_run_init(r, free.handle, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_DONE && r->run.ret == getpid(), "frees itself: %u", r->run.status);
	CHECK(raw_run(other, r) == -ENOENT, "it is gone");

	/* Protection that programs do not see keeps them from running. */
	CHECK(!mprotect(buffer, 65536, PROT_READ), "mprotect");
	raw_run_init(r, unmapping, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER && !r->run.resume, "read-only: %u", r->run.status);
	CHECK(!mprotect(buffer, 65536, PROT_READ | PROT_WRITE), "mprotect");

	raw_run_init(r, unmapping, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER && r->run.resume == 8, "unmapped: %u at %u",
	      r->run.status, r->run.resume);
	CHECK(r->state.reg[0] == 0 && r->state.reg[8] == (uintptr_t)buffer, "registers");
	raw_run_init(r, unmapping, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER && !r->run.resume, "again: %u", r->run.status);
	/* What is loaded now does not know of the buffer: its address is no memory. */
	plain = raw_load(other, unmaps, COUNT(unmaps));
	raw_run_init(r, plain, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_FAULT && r->run.resume == 3, "loaded later: %u", r->run.status);

	raw_run_init(r, closing, NULL);
	/* It was compiled for the buffer that is gone. */
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER, "closing: %u", r->run.status);
	raw_run_init(r, raw_load(other, closes, COUNT(closes)), NULL);
	CHECK(!raw_run_to_end(other, r) && r->run.status == COSY_DONE && r->run.ret == getpid(), "closes itself: %u",
	      r->run.status);
	CHECK(close(other) && errno == EBADF, "it is closed");
}

static void fork_child(void *unused)
{
	struct cosy_stats stats = { .size = sizeof(stats) };
	struct cosy_version version = { .size = sizeof(version) };

	(void)unused;
	CHECK(raw_run(fd, &the_run) == -EXDEV, "RUN in a child");
	CHECK(raw_ioctl(fd, COSY_IOC_STATS, &stats) == -EXDEV, "STATS in a child");
	CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &version), "VERSION in a child");
	CHECK(!memcmp(shared, "the parent's", 13), "the child's copy");
	strcpy(shared, "the child's");
	shared[BUFFER_SIZE - 1] = 'c';
	if (!fork()) {
		CHECK(!strcmp(shared, "the child's"), "the grandchild's copy");
		_exit(check_failures);
	}
	int status;

	wait(&status);
	_exit(check_failures || status);
}

static void test_fork(void)
{
	int status;

	strcpy(shared, "the parent's");
	shared[BUFFER_SIZE - 1] = 'p';
	status = in_child(fork_child, NULL);
	CHECK(!status, "status %#x", status);
	CHECK(!strcmp(shared, "the parent's") && shared[BUFFER_SIZE - 1] == 'p', "the parent's buffer");
}

/* Nothing that looks like a kernel address in what a leave saves. */
static void scan_state(const char *what)
{
	const uint64_t *words = (const uint64_t *)&the_run.state;

	for (size_t i = 0; i < sizeof(the_run.state) / 8; i++) {
		if (i == 11 && words[i] == ~0ull)
			continue;	/* fp: none */
		CHECK(words[i] >> 47 == 0, "%s: word %zu is %#llx", what, i, (unsigned long long)words[i]);
	}
}

static void test_kernel_values(void)
{
	/* A frame as deep as can be of which nothing was written, in a program of two functions. */
	static const struct bpf_insn deep_trap[] = {
		CALL(SYS_getpid), CALL_LOCAL(1), EXIT,
		LOAD(BPF_DW, 6, 10, -448), CALL_OP(RAW_OP_TRAP), EXIT,
	};
	/* Stores to the buffer, then every kind of leave. */
	const struct bpf_insn store_trap[] = {
		WIDE(8, (uintptr_t)shared), STORE(BPF_DW, 8, 0, 8), STOREK(BPF_W, 8, 8, 7), LOAD(BPF_DW, 7, 8, 0),
		ATOMIC(BPF_DW, 8, 0, 7, BPF_ADD | BPF_FETCH), CALL_OP(RAW_OP_TRAP), EXIT,
	};
	const struct bpf_insn strings[] = {
		WIDE(1, (uintptr_t)shared), CALL_OP(RAW_OP_STRLEN), CALL_OP(RAW_OP_TRAP), EXIT,
	};

	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(once(deep_trap, COUNT(deep_trap), NULL) == COSY_LEFT_TRAP, "status %u", the_run.run.status);
	scan_state("deep frame");
	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(once(store_trap, COUNT(store_trap), NULL) == COSY_LEFT_TRAP, "status %u", the_run.run.status);
	scan_state("stores");
	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(once(strings, COUNT(strings), NULL) == COSY_LEFT_TRAP, "status %u", the_run.run.status);
	scan_state("strings");
	LEAVES(COSY_LEFT_FAULT, 1, MOV(1, 0), LOAD(BPF_DW, 0, 1, 0), EXIT);
	scan_state("fault");
}

/* --- Operations on memory ------------------------------------------------------------------ */

enum { OP_MEMCPY = 4, OP_MEMMOVE, OP_MEMSET, OP_MEMCMP, OP_MEMCHR, OP_MEMRCHR, OP_MEMMEM, OP_STRLEN, OP_STRNLEN, OP_STRCMP,
       OP_STRNCMP, OP_STRCHR, OP_STRRCHR, OP_STRCPY, OP_STPCPY, OP_STRNCPY, OP_STRCHRNUL, OP_RAWMEMCHR, OP_COUNT };

static uint32_t op_handle[OP_COUNT];

/* Runs one operation; its result.  Must not leave. */
static uint64_t op(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t arguments[4] = { a, b, c, d };
	const struct bpf_insn insns[] = {
		MOVR(6, 1), LOAD(BPF_DW, 1, 6, 0), LOAD(BPF_DW, 2, 6, 8), LOAD(BPF_DW, 3, 6, 16), LOAD(BPF_DW, 4, 6, 24),
		CALL_OP(number), EXIT,
	};
	long ret;

	if (!op_handle[number])
		op_handle[number] = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, op_handle[number], arguments);
	ret = raw_run_to_end(fd, &the_run);
	CHECK(!ret && the_run.run.status == COSY_DONE, "operation %d: RUN %ld, status %u, detail %#llx", number, ret,
	      the_run.run.status, (unsigned long long)the_run.run.detail);
	return (uint64_t)the_run.run.ret;
}

#define P(p) ((uint64_t)(uintptr_t)(p))
#define SIGN(x) (((int64_t)(x) > 0) - ((int64_t)(x) < 0))

#define SAME(want, got) do { \
		uint64_t want_ = (uint64_t)(want), got_ = (uint64_t)(got); \
		CHECK(want_ == got_, "%#llx, wanted %#llx", (unsigned long long)got_, (unsigned long long)want_); \
	} while (0)

static void test_memory(void)
{
	enum { ROOM = 3 * 4096 };
	static char model_a[ROOM], model_b[ROOM];
	char *plain = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *places[2];

	/* One range ends with its memory, both here and in the buffer. */
	MUST(plain != MAP_FAILED && !munmap(plain + ROOM, 4096));
	places[0] = plain;
	places[1] = shared + BUFFER_SIZE - ROOM;
	chance_init();
	for (int round = 0; round < 600; round++) {
		char *a = places[chance(2)], *b = places[chance(2)];
		size_t n = chance(4) ? chance(100) : chance(ROOM - 64);
		size_t x = chance(2) ? ROOM - n : chance(ROOM - n), y = chance(ROOM - n);
		int letters = chance(2) ? 3 : 200, byte = 'a' + (int)chance((uint64_t)letters + 1);
		char *want;

		for (size_t i = 0; i < ROOM; i++) {
			a[i] = (char)('a' + chance((uint64_t)letters));
			if (a[i] == 0)
				a[i] = 1;
		}
		if (a != b)
			memcpy(b, a, ROOM);
		if (n && chance(2))
			b[y + chance(n)] ^= 1;
		for (size_t i = 0; i < ROOM; i++)
			b[i] = b[i] ? b[i] : 1;
		memcpy(model_a, a, ROOM);
		memcpy(model_b, b, ROOM);

		SAME(SIGN(memcmp(a + x, b + y, n)), SIGN(op(OP_MEMCMP, P(a + x), P(b + y), n, 0)));
		SAME(P(memchr(a + x, byte, n)), op(OP_MEMCHR, P(a + x), 0xffffff00ull | (uint8_t)byte, n, 0));
		SAME(P(memrchr(a + x, byte, n)), op(OP_MEMRCHR, P(a + x), (uint64_t)byte, n, 0));
		{
			size_t m = chance(n < 5 ? n + 1 : 5);

			SAME(P(memmem(a + x, n, b + y, m)), op(OP_MEMMEM, P(a + x), n, P(b + y), m));
		}
		/* Strings: an end within. */
		if (n) {
			a[x + n - 1] = 0;
			b[y + n - 1] = 0;
			SAME(strlen(a + x), op(OP_STRLEN, P(a + x), 0, 0, 0));
			SAME(strnlen(a + x, n / 2), op(OP_STRNLEN, P(a + x), n / 2, 0, 0));
			SAME(SIGN(strcmp(a + x, b + y)), SIGN(op(OP_STRCMP, P(a + x), P(b + y), 0, 0)));
			SAME(SIGN(strncmp(a + x, b + y, n / 2)), SIGN(op(OP_STRNCMP, P(a + x), P(b + y), n / 2, 0)));
			SAME(P(strchr(a + x, byte)), op(OP_STRCHR, P(a + x), (uint64_t)byte, 0, 0));
			SAME(P(strchr(a + x, 0)), op(OP_STRCHR, P(a + x), 0, 0, 0));
			SAME(P(strrchr(a + x, byte)), op(OP_STRRCHR, P(a + x), (uint64_t)byte, 0, 0));
			SAME(P(strchrnul(a + x, byte)), op(OP_STRCHRNUL, P(a + x), (uint64_t)byte, 0, 0));
			SAME(P(rawmemchr(a + x, 0)), op(OP_RAWMEMCHR, P(a + x), 0, 0, 0));
		}
		/* What writes: the same on the model. */
		memcpy(model_a, a, ROOM);
		memcpy(model_b, b, ROOM);
		if (a == b) {
			memmove(model_a + x, model_a + y, n);
			op(OP_MEMMOVE, P(a + x), P(a + y), n, 0);
			CHECK(!memcmp(a, model_a, ROOM), "memmove(%zu, %zu, %zu)", x, y, n);
			continue;
		}
		memcpy(model_a + x, model_b + y, n);
		op(OP_MEMCPY, P(a + x), P(b + y), n, 0);
		CHECK(!memcmp(a, model_a, ROOM), "memcpy(%zu, %zu, %zu)", x, y, n);
		memset(model_a + y, byte, n);
		op(OP_MEMSET, P(a + y), (uint64_t)byte, n, 0);
		CHECK(!memcmp(a, model_a, ROOM), "memset(%zu, %zu)", y, n);
		if (n) {
			want = stpcpy(model_a + x, model_b + y);
			SAME(P(a + (want - model_a)), op(OP_STPCPY, P(a + x), P(b + y), 0, 0));
			CHECK(!memcmp(a, model_a, ROOM), "stpcpy(%zu, %zu)", x, y);
			SAME(P(a + x), op(OP_STRCPY, P(a + x), P(b + y), 0, 0));
			CHECK(!memcmp(a, model_a, ROOM), "strcpy(%zu, %zu)", x, y);
			strncpy(model_a + x, model_b + y, n);
			SAME(P(a + x), op(OP_STRNCPY, P(a + x), P(b + y), n, 0));
			CHECK(!memcmp(a, model_a, ROOM), "strncpy(%zu, %zu, %zu)", x, y, n);
		}
	}
	munmap(plain, ROOM);
}

/* An operation that faults in the middle keeps what remains in r1-r3. */
static void test_memory_faults(void)
{
	char *plain = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char model[8 * 4096];

	MUST(plain != MAP_FAILED);
	for (int round = 0; round < 60; round++) {
		uint64_t to = 100 + chance(200), from = chance(4) ? chance(400) : to, n = 3 * 4096 + chance(4096);
		int hole = 1 + (int)chance(2), number = chance(3) ? OP_MEMMOVE : OP_MEMSET;
		uint64_t arguments[4];
		long ret;

		for (size_t i = 0; i < sizeof(model); i++)
			model[i] = plain[i] = (char)chance(0);
		if (number == OP_MEMMOVE)
			memmove(model + to, model + from, n);
		else
			memset(model + to, (int)(from & 0xff), n);
		arguments[0] = P(plain + to);
		arguments[1] = number == OP_MEMMOVE ? P(plain + from) : from;
		arguments[2] = n;
		op(number, P(shared), P(shared), 0, 0);	/* loads it */
		MUST(!mprotect(plain + hole * 4096, 4096, chance(2) || number == OP_MEMSET ? PROT_READ : PROT_NONE));
		raw_run_init(&the_run, op_handle[number], arguments);
		ret = raw_run(fd, &the_run);
		CHECK(!ret && the_run.run.status == COSY_LEFT_FAULT && the_run.run.resume == 6, "RUN %ld, status %u at %u", ret,
		      the_run.run.status, the_run.run.resume);
		MUST(!mprotect(plain + hole * 4096, 4096, PROT_READ | PROT_WRITE));
		/* Repaired: what remains, done over. */
		CHECK(the_run.state.reg[3] <= n, "remains %llu", (unsigned long long)the_run.state.reg[3]);
		ret = raw_run_to_end(fd, &the_run);
		CHECK(!ret && the_run.run.status == COSY_DONE, "RUN %ld, status %u", ret, the_run.run.status);
		CHECK(!memcmp(plain, model, sizeof(model)), "%s(%llu, %llu, %llu) with a hole at %d",
		      number == OP_MEMMOVE ? "memmove" : "memset", (unsigned long long)to, (unsigned long long)from,
		      (unsigned long long)n, hole);
	}
	munmap(plain, 8 * 4096);
	/* Wild ranges. */
	static const uint64_t wild[] = { 0, 0xffffffff81000000, 0x7ffffffff000, 0x800000000000, 0xfffffffffffffff0, 1ull << 63 };

	for (size_t i = 0; i < COUNT(wild); i++) {
		for (int number = OP_MEMCPY; number < OP_COUNT; number++) {
			uint64_t arguments[2][4] = {
				{ wild[i], number == OP_MEMSET ? 1 : P(shared), 0x100000000, 1 },
				{ P(shared), wild[i], 0x100000000, 1 },
			};

			for (int k = 0; k < 2; k++) {
				long ret;

				if (k && number != OP_MEMCPY && number != OP_MEMMOVE && number != OP_MEMCMP &&
				    number != OP_STRCMP && number != OP_STRCPY && number != OP_STPCPY && number != OP_STRNCPY)
					continue;
				op(number, P(shared), P(shared), 0, 0);
				raw_run_init(&the_run, op_handle[number], arguments[k]);
				ret = raw_run(fd, &the_run);
				if (number == OP_STRNLEN && !k)
					continue;	/* its bound is a pointer here */
				CHECK(!ret && the_run.run.status == COSY_LEFT_FAULT, "operation %d, %#llx: RUN %ld, status %u", number,
				      (unsigned long long)wild[i], ret, the_run.run.status);
			}
		}
	}
}

/* --- Many at once ------------------------------------------------------------------------------ */

static volatile bool stop_racing;
static int race_fd;
static uint32_t race_handle[4];

static void *race_run(void *arg)
{
	struct raw_run *r = malloc(sizeof(*r));

	for (unsigned int i = 0; !stop_racing; i++) {
		raw_run_init(r, race_handle[i % 4], arg);
		raw_run(race_fd, r);
	}
	free(r);
	return NULL;
}

static void *race_load(void *unused)
{
	static const struct bpf_insn getpids[] = { MOV(6, 50), CALL(SYS_getpid), ADD(6, -1), JUMP_NE(6, 0, -3), EXIT };
	struct cosy_free free = { .size = sizeof(free) };
	struct cosy_load load;

	for (unsigned int i = 0; !stop_racing; i++) {
		if (raw_try_load(race_fd, getpids, COUNT(getpids), &load))
			continue;
		free.handle = race_handle[i % 4];
		race_handle[i % 4] = load.handle;
		raw_ioctl(race_fd, COSY_IOC_FREE, &free);
	}
	return unused;
}

static void test_race(void)
{
	for (int round = 0; round < 10; round++) {
		struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 65536 };
		pthread_t threads[6];
		char *buffer;

		race_fd = raw_open();
		MUST(!raw_ioctl(race_fd, COSY_IOC_SETBUF, &setbuf));
		buffer = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, race_fd, 0);
		memset(race_handle, 0, sizeof(race_handle));
		stop_racing = false;
		for (size_t i = 0; i < COUNT(threads); i++)
			MUST(!pthread_create(&threads[i], NULL, i < 2 ? race_load : race_run, NULL));
		sleep_ms(60);
		munmap(buffer, 65536);
		sleep_ms(20);
		close(race_fd);
		sleep_ms(20);
		stop_racing = true;
		for (size_t i = 0; i < COUNT(threads); i++)
			pthread_join(threads[i], NULL);
	}
}

/* --- All -------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
	{ "version", test_version },
	{ "buffer", test_buffer },
	{ "memlock", test_memlock },
	{ "load", test_load },
	{ "large", test_large },
	{ "loads", test_loads },
	{ "bad_pointers", test_bad_pointers },
	{ "atomics", test_atomics },
	{ "division", test_division },
	{ "calls", test_calls },
	{ "local_calls", test_local_calls },
	{ "forged_stack", test_forged_stack },
	{ "signal_loop", test_signal_loop },
	{ "restart", test_restart },
	{ "kill", test_kill },
	{ "seccomp", test_seccomp },
	{ "nested", test_nested },
	{ "own_ground", test_own_ground },
	{ "fork", test_fork },
	{ "kernel_values", test_kernel_values },
	{ "memory", test_memory },
	{ "memory_faults", test_memory_faults },
	{ "race", test_race },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = raw_open();
	shared = guarded_buffer();
	handle(SIGALRM, on_signal, SA_RESTART);
	for (size_t i = 0; i < COUNT(tests); i++) {
		int before = check_failures;
		bool wanted = argc < 2;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], tests[i].name);
		if (!wanted)
			continue;
		tests[i].test();
		printf("%s %s\n", check_failures == before ? "ok" : "not ok", tests[i].name);
	}
	return check_end();
}
