/* SPDX-License-Identifier: MIT */
/*
 * A handler repairs what a region faulted on, by mprotect or mmap, and returns: the region goes on,
 * skips nothing, does nothing twice, and is in the kernel again.
 */
#include "check.h"
#include <sys/syscall.h>

#define PAGES 64

static char *area;
static long page;
static volatile sig_atomic_t repairs, strays;
static bool by_mmap;

static void on_segv(int sig, siginfo_t *si, void *unused)
{
	char *at = (char *)((uintptr_t)si->si_addr & -(uintptr_t)page);

	(void)unused;
	if (at < area || at >= area + PAGES * page) {
		static const char text[] = "FAIL fault_repair.c: a fault elsewhere\n";

		write(1, text, sizeof(text) - 1);
		signal(sig, SIG_DFL); /* a stray fault is a failure, not a loop */
		strays++;
		return;
	}
	repairs++;
	if (by_mmap) {
		if (mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) != at)
			_exit(1);
	} else if (mprotect(at, page, PROT_READ | PROT_WRITE)) {
		_exit(1);
	}
}

static void forget(void)
{
	if (by_mmap)
		MUST(!munmap(area, PAGES * page));
	else
		MUST(!mprotect(area, PAGES * page, PROT_NONE));
	repairs = 0;
}

static void writes(void)
{
	struct cosy_stats before = counts();
	uint64_t *words = (uint64_t *)area, sum = 0, expect = 0;
	long n = PAGES * page / 8, calls = 0;

	forget();
	COSY_START;
	for (long i = 0; i < n; i++) {
		if (i % 64 == 0 && syscall(SYS_getpid) > 0)
			calls++;
		words[i] = (uint64_t)i * 3 + 1;
	}
	COSY_END;
	CHECK(repairs == PAGES, "writes: %d repairs", (int)repairs);
	CHECK(calls == n / 64, "writes: %ld calls of %ld", calls, n / 64);
	for (long i = 0; i < n; i++) {
		sum += words[i];
		expect += (uint64_t)i * 3 + 1;
	}
	CHECK(sum == expect, "writes: wrong contents");
	/* The interpreter makes at most a few calls after each repair. */
	CHECK_KERNEL(before, PAGES / 2, n / 64 - 2 * PAGES);
}

static void atomics(void)
{
	struct cosy_stats before = counts();
	uint64_t bad = 0, old = 0;

	MUST(mmap(area, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	     area);
	forget();
	COSY_START;
	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < PAGES; i++) {
			old = __atomic_fetch_add((uint64_t *)(area + i * page), 5,
						 __ATOMIC_SEQ_CST);
			if (old != (uint64_t)turn * 5)
				bad++;
		}
	COSY_END;
	CHECK(repairs == PAGES && !bad, "atomics: %d repairs, %llu wrong", (int)repairs,
	      (unsigned long long)bad);
	CHECK_KERNEL(before, 1, 0);
}

/* Operations that stop in the middle must not move again what they moved before the fault. */
static void moves(void)
{
	struct cosy_stats before = counts();
	size_t size = (PAGES - 1) * page;
	char *from = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int differ = -1;
	size_t len = 0;

	MUST(from != MAP_FAILED);
	for (size_t i = 0; i < size; i++)
		from[i] = (char)(i * 7 % 251 + 1);
	from[size - 1] = 0;
	forget();
	COSY_START;
	memcpy(area + 100, from, size);
	differ = memcmp(area + 100, from, size);
	len = strlen(area + 100);
	COSY_END;
	CHECK(repairs == PAGES, "memcpy: %d repairs", (int)repairs);
	CHECK(!differ && len == strlen(from), "memcpy: differs (%d), length %zu of %zu", differ,
	      len, strlen(from));
	CHECK(!memcmp(area + 100, from, size), "memcpy: really differs");
	forget();
	COSY_START;
	memset(area + 5, 0x77, size);
	COSY_END;
	CHECK(repairs == PAGES, "memset: %d repairs", (int)repairs);
	for (size_t i = 0; i < size; i++)
		if (area[5 + i] != 0x77) {
			CHECK(0, "memset: byte %zu is %d", i, area[5 + i]);
			break;
		}
	CHECK_KERNEL(before, 2, 0);
	munmap(from, size);
}

/* Moves downwards over overlapping memory: doing part of it twice would show. */
static void overlapping(void)
{
	struct cosy_stats before = counts();
	size_t size = 8 * page;

	MUST(mmap(area, PAGES * page, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == area);
	for (size_t i = 0; i < size; i++)
		area[200 + i] = (char)(i * 13 % 241);
	MUST(!mprotect(area + 3 * page, page, PROT_NONE));
	MUST(!mprotect(area + 6 * page, page, PROT_NONE));
	repairs = 0;
	COSY_START;
	memmove(area, area + 200, size);
	COSY_END;
	CHECK(repairs == 2, "memmove down: %d repairs", (int)repairs);
	for (size_t i = 0; i < size; i++)
		if (area[i] != (char)(i * 13 % 241)) {
			CHECK(0, "memmove down: byte %zu is wrong", i);
			break;
		}
	MUST(!mprotect(area + 3 * page, page, PROT_NONE));
	repairs = 0;
	COSY_START;
	memmove(area + 300, area, size);
	COSY_END;
	CHECK(repairs == 1, "memmove up: %d repairs", (int)repairs);
	for (size_t i = 0; i < size; i++)
		if (area[300 + i] != (char)(i * 13 % 241)) {
			CHECK(0, "memmove up: byte %zu is wrong", i);
			break;
		}
	CHECK_KERNEL(before, 2, 0);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO };

	page = sysconf(_SC_PAGESIZE);
	area = mmap(NULL, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(area != MAP_FAILED);
	MUST(!sigaction(SIGSEGV, &sa, NULL));
	for (int i = 0; i < 2; i++) {
		by_mmap = i;
		writes();
		atomics();
		moves();
	}
	by_mmap = false; /* memory that is there must stay */
	overlapping();
	CHECK(!strays, "%d faults elsewhere", (int)strays);
	return check_end();
}
