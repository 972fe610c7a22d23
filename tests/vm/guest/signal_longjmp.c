/* SPDX-License-Identifier: MIT */
/* A handler leaves a region by siglongjmp, over and over: nothing is lost or kept. */
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
	char scratch[256];	/* address taken: lives in the shared buffer */

	COSY_START;
	for (int i = 0; i < 256; i++)
		scratch[i] = (char)i;
	deep(scratch[3], me);
	after++;
	COSY_END;
}

static long status_kb(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kb = atol(line + strlen(key));
	fclose(f);
	return kb;
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
	long rss, size;

	handle(SIGUSR1, on_usr1, 0);
	for (i = 0; i < 100; i++)	/* warm up: whatever is made once is made now */
		if (!sigsetjmp(out, 1))
			jump_out(me);
	rss = status_kb("VmRSS:");
	size = status_kb("VmSize:");
	files = open_files();
	before = counts();
	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(out, 1))
			jump_out(me);
	CHECK(jumps == ROUNDS + 100 && !after, "%d jumps, %d regions went on", (int)jumps, (int)after);
	CHECK(status_kb("VmRSS:") - rss < 512, "resident memory grew from %ld to %ld kB", rss, status_kb("VmRSS:"));
	CHECK(status_kb("VmSize:") - size < 512, "memory grew from %ld to %ld kB", size, status_kb("VmSize:"));
	CHECK(open_files() == files, "%d open files, before %d", open_files(), files);
	CHECK_KERNEL(before, ROUNDS, ROUNDS);
	return check_end();
}
