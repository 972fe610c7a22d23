/* SPDX-License-Identifier: MIT */
/*
 * Tests opening, the buffer, LOAD; all of it in many threads at once.
 * Arguments choose parts by name; none runs all.
 */
#include "kmod.h"
#include <pthread.h>
#include <sys/resource.h>

/* --- The device ------------------------------------------------------------------ */

static void test_version(void)
{
	struct cosy_version version = { .size = sizeof(version) };
	struct {
		struct cosy_version version;
		uint64_t more;
	} longer = { .version.size = sizeof(longer) };
	struct cosy_limits limits = { .size = sizeof(limits), .flags = 1 };
	static uint64_t large[1024];
	uint32_t small = 4;

	CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &version), "VERSION");
	CHECK(version.abi == COSY_ABI_VERSION && version.max_insns == COSY_MAX_INSNS &&
		      version.max_buffer == COSY_MAX_BUFFER,
	      "VERSION's answers");
	CHECK(version.features & COSY_FEATURE_JIT, "no JIT");
	CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &longer), "a longer argument with a zero tail");
	longer.more = 1;
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, &longer) == -E2BIG, "a longer argument with a tail");
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, &small) == -EINVAL, "a shorter argument");
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, NULL) == -EFAULT, "no argument");
	CHECK(raw_ioctl(fd, COSY_IOC_LIMITS, &limits) == -EINVAL, "reserved flags");
	*(uint32_t *)large = sizeof(large);
	CHECK(raw_ioctl(fd, COSY_IOC_VERSION, large) == -E2BIG, "a far longer argument");
	CHECK(raw_ioctl(fd, COSY_IOC_RUN, large) == -E2BIG, "a far longer RUN");
	CHECK(raw_ioctl(fd, _IO('C', 0x99), &version) == -ENOTTY, "no such command");
}

static void test_buffer(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 3 * 4096 };
	int other = raw_open();
	char *at;

	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED &&
		      errno == ENODEV,
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
	CHECK(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED,
	      "half of it");
	CHECK(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, other, 4096) == MAP_FAILED,
	      "not from its start");
	CHECK(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE, other, 0) == MAP_FAILED,
	      "private");
	CHECK(mmap(NULL, 16384, PROT_READ, MAP_SHARED, other, 0) == MAP_FAILED, "read-only");
	at = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	MUST(at != MAP_FAILED);
	CHECK(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0) == MAP_FAILED &&
		      errno == EBUSY,
	      "mapped twice");
	for (int i = 0; i < 16384; i++)
		CHECK(!at[i], "not zero at %d", i);
	at[16383] = 1;
	CHECK(munmap(at, 4096) && errno == EINVAL, "part of it unmapped");
	CHECK(mremap(at, 16384, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, at + (64 << 20)) ==
		      MAP_FAILED,
	      "moved");
	CHECK(mremap(at, 16384, 32768, MREMAP_MAYMOVE) == MAP_FAILED, "grown");
	CHECK(mremap(at, 16384, 8192, 0) == MAP_FAILED, "shrunk");
	CHECK(mremap(at, 0, 16384, MREMAP_MAYMOVE) == MAP_FAILED, "doubled");
	CHECK(mprotect(at, 4096, PROT_READ) && errno == EINVAL, "part of it read-only");
	CHECK(at[16383] == 1, "content");
	CHECK(!madvise(at, 16384, MADV_DONTNEED) && at[16383] == 1, "forgotten");
	close(other); /* the mapping holds on */
	CHECK(at[16383] == 1, "content after close");
	CHECK(!munmap(at, 16384), "unmapped");
}

static void test_memlock(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 1 << 20 };
	struct rlimit old, limit;

	if (!geteuid()) {
		/* The limit does not hold for root; user nobody tries it. */
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
	r->run.calls = r->run.fast = 12345;
	CHECK(!raw_run(fd, r) && !r->run.calls && !r->run.fast, "RUN counted %llu calls, %llu fast",
	      (unsigned long long)r->run.calls, (unsigned long long)r->run.fast);
	/* A library that does not know of these counts keeps other things there. */
	r->run.size = offsetof(struct cosy_run, calls);
	r->run.calls = r->run.fast = 12345;
	CHECK(!raw_run(fd, r) && r->run.calls == 12345 && r->run.fast == 12345, "a short RUN");
	r->run.size -= 8;
	CHECK(raw_run(fd, r) == -EINVAL, "RUN, too short");
	CHECK(raw_ioctl(fd, COSY_IOC_RUN, NULL) == -EFAULT, "RUN of nothing");
}

/* Checks that no handle leads to a program that is gone, whose memory is another's now. */
static void test_handles(void)
{
	enum { MANY = 1200 };
	static const struct bpf_insn ones[] = { MOV(0, 1), EXIT }, twos[] = { MOV(0, 2), EXIT };
	struct cosy_free free = { .size = sizeof(free) };
	struct cosy_load *load;
	static uint32_t handles[MANY];
	static struct raw_container c;
	int one = raw_open(), two = raw_open();
	uint32_t next;

	for (int i = 0; i < MANY; i++)
		handles[i] = raw_load(one, ones, COUNT(ones));
	for (int i = 0; i < MANY; i++) {
		free.handle = handles[i];
		MUST(!raw_ioctl(one, COSY_IOC_FREE, &free));
	}
	/* Wait until the kernel gives the memory back, which so many get it to do soon. */
	sleep_ms(500);
	for (int i = 0; i < MANY; i++)
		raw_load(two, twos, COUNT(twos));
	for (int i = 0; i < MANY; i++) {
		raw_run_init(&the_run, handles[i], NULL);
		CHECK(raw_run(one, &the_run) == -ENOENT, "handle %u: result %lld", handles[i],
		      (long long)the_run.run.ret);
	}
	close(two);
	/* A LOAD whose answer cannot be written leaves no program. */
	raw_container(&c, ones, COUNT(ones));
	load = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(load != MAP_FAILED);
	*load = (struct cosy_load){ .size = sizeof(*load),
				    .len = c.header.size,
				    .compound = (uintptr_t)&c };
	next = raw_load(one, ones, COUNT(ones));
	free.handle = next;
	MUST(!raw_ioctl(one, COSY_IOC_FREE, &free) && !mprotect(load, 4096, PROT_READ));
	CHECK(raw_ioctl(one, COSY_IOC_LOAD, load) == -EFAULT, "an answer to read-only memory");
	CHECK(raw_load(one, ones, COUNT(ones)) == next, "a program that nobody knows of stayed");
	munmap(load, 4096);
	close(one);
}

/* Loads the largest compound, and the same with far jumps. */
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
	printf("largest: LOAD %ld, %u instructions, %u bytes %s\n", ret, load.rewritten, load.jited,
	       raw_log);
	if (ret == -E2BIG)
		return; /* the jump range of a JIT before cpu v4 */
	CHECK(!ret, "LOAD");
	raw_run_init(&the_run, load.handle, private);
	CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_DONE, "RUN");
	CHECK(the_run.run.ret == 3ll * 0x1234567 * (long long)((COSY_MAX_INSNS - 5) / 2), "%llx",
	      (unsigned long long)the_run.run.ret);
}

/*
 * --- Many at once ------------------------------------------------------------------------------
 */

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
	static const struct bpf_insn getpids[] = { MOV(6, 50), CALL(SYS_getpid), ADD(6, -1),
						   JUMP_NE(6, 0, -3), EXIT };
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
			MUST(!pthread_create(&threads[i], NULL, i < 2 ? race_load : race_run,
					     NULL));
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

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "version", .run = test_version }, { "buffer", .run = test_buffer },
		{ "memlock", .run = test_memlock }, { "load", .run = test_load },
		{ "handles", .run = test_handles }, { "large", .run = test_large },
		{ "race", .run = test_race },
	};

	return kmod_main(parts, COUNT(parts), argc, argv);
}
