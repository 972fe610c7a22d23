// SPDX-License-Identifier: MIT
/* bench.c - see bench.h. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>

#include "bench.h"
#include "compare.h"
#include "content.h"
#include "marks.h"

static int settings;
static char **setting;
static long long timed, since;
static clockid_t the_clock = CLOCK_MONOTONIC;
static int marking;

/* A page of returns: split.c only looks whether one of them is executed. */
static void mark_begin(void)
{
	void *page = mmap((void *)MARK_PAGE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page == MAP_FAILED)
		bench_fail("marks");
	memset(page, 0xc3, 4096);
	marking = 1;
}

static void mark(unsigned long which)
{
	if (marking)
		((void (*)(void))which)();
}

long long bench_now(void)
{
	struct timespec t;

	clock_gettime(the_clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void bench_pause(void)
{
	mark(MARK_STOP);
	timed += bench_now() - since;
}

void bench_resume(void)
{
	since = bench_now();
	mark(MARK_START);
}

void bench_discount(long long ns)
{
	timed -= ns;
}

const char *bench_text(const char *name, const char *otherwise)
{
	size_t len = strlen(name);

	for (int i = 0; i < settings; i++)
		if (!strncmp(setting[i], name, len) && setting[i][len] == '=')
			return setting[i] + len + 1;
	return otherwise;
}

long bench_number(const char *name, long otherwise)
{
	const char *text = bench_text(name, NULL);

	return text ? atol(text) : otherwise;
}

_Noreturn void bench_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

void bench_file(const char *name, size_t size)
{
	struct stat st;

	if (stat(name, &st) == 0 && (size_t)st.st_size == size)
		return;
	BENCH_TRY(content_write(name, name, size));
}

static long long run(long n, long *answer)
{
	timed = 0;
	bench_resume();
	*answer = bench_work(n);
	bench_pause();
	mark(MARK_REPORT);
	return timed;
}

long bench_again(long n)
{
	long answer;

	bench_resume();
	answer = bench_work(n);
	bench_pause();
	return answer;
}

int main(int argc, char **argv)
{
	long small, large, answer;
	long long small_cost, large_cost;

	if (argc < 4) {
		fprintf(stderr, "usage: %s DIRECTORY SMALL LARGE [NAME=VALUE...]\n", argv[0]);
		return 2;
	}
	settings = argc - 4;
	setting = argv + 4;
	small = atol(argv[2]);
	large = atol(argv[3]);
	if (chdir(argv[1]) < 0)
		bench_fail(argv[1]);
	/* Waiting for a disk is no work, so the process's own time counts then. */
	if (!strcmp(bench_text("clock", "monotonic"), "process"))
		the_clock = CLOCK_PROCESS_CPUTIME_ID;
	if (bench_number("split", 0))
		mark_begin();
	bench_prepare();
	/* An earlier program's writing back would disturb, so let it end. */
	sync();
	run(bench_number("warm", small), &answer);
	run(bench_number("warm", small), &answer);
	small_cost = run(small, &answer);
	large_cost = run(large, &answer);
	printf("result %ld %lld %ld %lld %ld\n", small, small_cost, large, large_cost, answer);
	marking = 0;
	if (bench_number("check", 1)) {
		bench_check(large, answer);
		compare_report();
	}
	return 0;
}
