/* SPDX-License-Identifier: MIT */
/* Leaves a region by a handler's siglongjmp, over and over: nothing is lost or kept. */
#include "check.h"
#include <setjmp.h>

#define ROUNDS 10000

static sigjmp_buf out;
static volatile sig_atomic_t jumps, after;

static void on_usr1(int sig)
{
	(void)sig;
	jumps++;
	siglongjmp(out, 1);
}

static __attribute__((noinline)) int deep(int n, int me)
{
	if (!n)
		return kill(me, SIGUSR1);
	return deep(n - 1, me) + 1;
}

static __attribute__((noinline)) void jump_out(int me)
{
	char scratch[256]; /* address taken: lives in the shared buffer */

	COSY_START;
	for (int i = 0; i < 256; i++)
		scratch[i] = (char)i;
	deep(scratch[3], me);
	after++;
	COSY_END;
}

static long proc_kb(const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	char line[256];
	long kb = -1;

	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kb = atol(line + strlen(key));
	fclose(f);
	MUST(kb >= 0);
	return kb;
}

/*
 * Returns the kB of memory that is there, counted page by page: VmRSS is a sum of counters that
 * lag.
 */
static long resident_kb(void)
{
	return proc_kb("/proc/self/smaps_rollup", "Rss:");
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	MUST(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

int main(void)
{
	struct cosy_stats before;
	volatile int i;
	int me = getpid(), files;
	long resident, size, grown;

	handle(SIGUSR1, on_usr1, 0);
	for (i = 0; i < 100; i++) /* warm up: what is made once is made now */
		if (!sigsetjmp(out, 1))
			jump_out(me);
	resident = resident_kb();
	size = proc_kb("/proc/self/status", "VmSize:");
	files = open_files();
	before = counts();
	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(out, 1))
			jump_out(me);
	CHECK(jumps == ROUNDS + 100 && !after, "%d jumps, %d regions went on", (int)jumps,
	      (int)after);
	grown = resident_kb() - resident;
	CHECK(grown < 512, "resident memory grew by %ld kB from %ld", grown, resident);
	grown = proc_kb("/proc/self/status", "VmSize:") - size;
	CHECK(grown < 512, "memory grew by %ld kB from %ld", grown, size);
	CHECK(open_files() == files, "%d open files, before %d", open_files(), files);
	CHECK_KERNEL(before, ROUNDS, ROUNDS);
	return check_end();
}
