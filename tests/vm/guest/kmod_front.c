/* SPDX-License-Identifier: MIT */
/*
 * Tests a shared buffer of which compounds reach the beginning directly: the rest is the same
 * memory, the front grows under those that run, and the whole is charged from the start.
 */
#include "raw.h"
#include <pthread.h>
#include <sys/resource.h>

#define SIZE  (1ul << 20)
#define FIRST (1ul << 16)

/* Does *(u64 *)ctx[0] += 1, whose result is the answer. */
static const struct bpf_insn increment[] = {
	LOAD(BPF_DW, 2, 1, 0), LOAD(BPF_DW, 0, 2, 0), ADD(0, 1), STORE(BPF_DW, 2, 0, 0), EXIT,
};

static const size_t offsets[] = { 0,	    4096,	   FIRST - 8,
				  FIRST,    FIRST + 8192,  SIZE / 4 - 8,
				  SIZE / 4, SIZE / 2 + 16, SIZE - 8 };

static long set_buffer(int fd, size_t len, size_t front)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = len, .front = front };

	return raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf);
}

static char *map(int fd)
{
	char *buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	MUST(buffer != MAP_FAILED);
	return buffer;
}

static void run_at(int fd, uint32_t handle, char *at, uint64_t expected)
{
	static _Thread_local struct raw_run r;
	uint64_t ctx = (uintptr_t)at;

	raw_run_init(&r, handle, &ctx);
	MUST(!raw_run(fd, &r));
	CHECK(r.run.status == COSY_DONE && (uint64_t)r.run.ret == expected,
	      "at %p: status %u, %lld, not %llu", at, r.run.status, (long long)r.run.ret,
	      (unsigned long long)expected);
}

/* --- Sizes ------------------------------------------------------------------------------ */

static void sizes(void)
{
	static const size_t bad[] = { 1, 2048, 3 * 4096, SIZE * 2, 1ul << 40, ~0ul };
	struct cosy_setbuf old = { .size = offsetof(struct cosy_setbuf, front), .len = SIZE };
	int fd = raw_open();

	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK(set_buffer(fd, SIZE, bad[i]) == -EINVAL, "a front of %#zx", bad[i]);
	CHECK(!set_buffer(fd, SIZE, 4096), "a front of a page");
	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK(set_buffer(fd, SIZE, bad[i]) == -EINVAL, "grown to %#zx", bad[i]);
	CHECK(set_buffer(fd, SIZE, 4096) == -EBUSY, "grown to what it is");
	CHECK(set_buffer(fd, SIZE / 2, 8192) == -EBUSY, "grown as a buffer of another size");
	CHECK(!set_buffer(fd, SIZE, FIRST), "grown before it is mapped");
	CHECK(set_buffer(fd, SIZE, 8192) == -EBUSY, "made smaller");
	CHECK(!set_buffer(fd, SIZE, 0), "grown to the whole");
	CHECK(set_buffer(fd, SIZE, 0) == -EBUSY, "grown twice");
	close(fd);
	/* Call it as programs do that know of no fronts. */
	fd = raw_open();
	CHECK(!raw_ioctl(fd, COSY_IOC_SETBUF, &old), "the older argument");
	CHECK(raw_ioctl(fd, COSY_IOC_SETBUF, &old) == -EBUSY, "the older argument, again");
	close(fd);
}

/* --- Inside and outside ------------------------------------------------------------------ */

/* Runs programs that were loaded for each front, on the same memory by turns. */
static void grows(void)
{
	static const size_t fronts[] = { FIRST, SIZE / 4, SIZE / 2, SIZE };
	uint64_t expected[COUNT(offsets)] = { 0 };
	uint32_t handles[COUNT(fronts)];
	int fd = raw_open();
	char *buffer;

	MUST(!set_buffer(fd, SIZE, FIRST));
	buffer = map(fd);
	for (size_t n = 0; n < COUNT(fronts); n++) {
		if (n)
			CHECK(!set_buffer(fd, SIZE, fronts[n]), "front %zu", n);
		handles[n] = raw_load(fd, increment, COUNT(increment));
		for (size_t k = 0; k <= n; k++) {
			for (size_t i = 0; i < COUNT(offsets); i++)
				run_at(fd, handles[k], buffer + offsets[i], ++expected[i]);
		}
		for (size_t i = 0; i < COUNT(offsets); i++) {
			uint64_t *at = (uint64_t *)(buffer + offsets[i]);

			CHECK(*at == expected[i], "at %#zx the user reads %llu", offsets[i],
			      (unsigned long long)*at);
			expected[i] = *at = n << 32;
		}
	}
	/* Pages that the user has the kernel forget are still there. */
	MUST(!madvise(buffer, SIZE, MADV_DONTNEED));
	for (size_t i = 0; i < COUNT(offsets); i++)
		run_at(fd, handles[i % COUNT(handles)], buffer + offsets[i], ++expected[i]);
	close(fd);
	MUST(!munmap(buffer, SIZE));
}

/* --- Forks ------------------------------------------------------------------------------ */

static void forks(void)
{
	int fd = raw_open(), status;
	char *buffer;
	pid_t pid;

	MUST(!set_buffer(fd, SIZE, FIRST));
	buffer = map(fd);
	for (size_t i = 0; i < COUNT(offsets); i++)
		buffer[offsets[i]] = (char)(i + 1);
	pid = child_start();
	if (!pid) {
		for (size_t i = 0; i < COUNT(offsets); i++)
			CHECK(buffer[offsets[i]] == (char)(i + 1), "at %#zx: %d", offsets[i],
			      buffer[offsets[i]]);
		CHECK(!buffer[SIZE / 2 + 8192], "not zero");
		memset(buffer, 'c', SIZE);
		CHECK(set_buffer(fd, SIZE, SIZE) == -EXDEV, "the child grows the parent's");
		_exit(check_end());
	}
	/* Meanwhile the parent's front grows. */
	CHECK(!set_buffer(fd, SIZE, SIZE), "the parent's");
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	for (size_t i = 0; i < COUNT(offsets); i++)
		CHECK(buffer[offsets[i]] == (char)(i + 1), "the child wrote at %#zx", offsets[i]);
	close(fd);
	MUST(!munmap(buffer, SIZE));
}

/* --- All at once ------------------------------------------------------------------------- */

static struct {
	int fd;
	char *buffer;
	pthread_barrier_t start;
} race;

static void *grower(void *arg)
{
	pthread_barrier_wait(&race.start);
	for (size_t front = FIRST * 2; front <= SIZE; front *= 2) {
		long ret = set_buffer(race.fd, SIZE, front);

		CHECK(!ret || ret == -EBUSY, "growing to %#zx: %ld", front, ret);
	}
	return arg;
}

/* Touches its own word of each page, by turns from user mode and in a compound. */
static void *toucher(void *arg)
{
	uintptr_t number = (uintptr_t)arg;
	uint32_t handle;

	pthread_barrier_wait(&race.start);
	handle = raw_load(race.fd, increment, COUNT(increment));
	for (size_t i = 0; i < SIZE / 4096; i++) {
		size_t page = number % 2 ? i : SIZE / 4096 - 1 - i;
		char *at = race.buffer + page * 4096 + number * 8;

		++*(uint64_t *)at;
		run_at(race.fd, handle, at, 2);
	}
	return NULL;
}

static void *forker(void *arg)
{
	int status;
	pid_t pid;

	pthread_barrier_wait(&race.start);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		for (size_t i = 0; i < SIZE; i += 4096)
			race.buffer[i + 4000] = 1;
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	return arg;
}

static void races(void)
{
	for (int round = 0; round < 8; round++) {
		pthread_t threads[6];

		race.fd = raw_open();
		MUST(!set_buffer(race.fd, SIZE, FIRST));
		race.buffer = map(race.fd);
		pthread_barrier_init(&race.start, NULL, COUNT(threads));
		for (uintptr_t i = 0; i < COUNT(threads); i++)
			MUST(!pthread_create(&threads[i], NULL,
					     i < 2   ? grower
					     : i < 3 ? forker
						     : toucher,
					     (void *)i));
		for (size_t i = 0; i < COUNT(threads); i++)
			MUST(!pthread_join(threads[i], NULL));
		for (size_t i = 0; i < SIZE; i += 4096) {
			for (int k = 3; k < 6; k++)
				CHECK(((uint64_t *)(race.buffer + i))[k] == 2, "page %#zx", i);
			CHECK(!race.buffer[i + 4000], "the child's write at %#zx", i);
		}
		CHECK(set_buffer(race.fd, SIZE, SIZE) == -EBUSY, "it has not grown");
		close(race.fd);
		MUST(!munmap(race.buffer, SIZE));
	}
}

/* --- What is charged ---------------------------------------------------------------------- */

static void charged(void *unused)
{
	struct rlimit limit = { SIZE, SIZE };
	int fd, other;

	(void)unused;
	become(4243, true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	fd = raw_open();
	other = raw_open();
	CHECK(set_buffer(fd, SIZE * 2, 4096) == -ENOMEM, "more than may be locked");
	CHECK(!set_buffer(fd, SIZE, 4096), "all that may be locked");
	CHECK(set_buffer(other, 4096, 0) == -ENOMEM, "what is not in the front is not charged");
	CHECK(!set_buffer(fd, SIZE, SIZE), "growing is charged again");
	CHECK(set_buffer(other, 4096, 0) == -ENOMEM, "growing gives back");
	close(fd);
	CHECK(!set_buffer(other, SIZE, 0), "closing does not give all back");
	close(other);
}

int main(void)
{
	close(raw_open());
	sizes();
	grows();
	forks();
	races();
	if (!geteuid())
		CHECK_CHILD(in_child(charged, NULL));
	return check_end();
}
