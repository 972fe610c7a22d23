/* SPDX-License-Identifier: MIT */
/*
 * Checks that SIGKILL ends a region that would never end by itself.  It prints the milliseconds,
 * and fails for none: the machine may be slow.
 */
#include "check.h"
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct watch {
	volatile uint64_t turns; /* grows while the child is in its region */
};

static void endless_loop(void *arg)
{
	struct watch *watch = arg;

	COSY_START;
	for (;;)
		watch->turns++;
	COSY_END;
}

static void endless_calls(void *arg)
{
	struct watch *watch = arg;

	COSY_START;
	for (;;) {
		syscall(SYS_getpid);
		watch->turns++;
	}
	COSY_END;
}

static __attribute__((noinline)) uint64_t climb(struct watch *watch, uint64_t depth)
{
	watch->turns++;
	return depth < 50 ? climb(watch, depth + 1) + climb(watch, depth + 1) : depth;
}

static void endless_recursion(void *arg)
{
	struct watch *watch = arg;

	COSY_START;
	climb(watch, 0); /* 2^51 calls */
	COSY_END;
}

static void endless_sleep(void *arg)
{
	struct watch *watch = arg;
	struct timespec hour = { 3600, 0 };

	COSY_START;
	watch->turns++;
	syscall(SYS_nanosleep, &hour, 0);
	COSY_END;
}

/* Copies much memory at a time: the operation itself must be killable. */
static void endless_copy(void *arg)
{
	struct watch *watch = arg;
	size_t size = 16 << 20;
	char *from = shared_memory(size), *to = shared_memory(size);

	COSY_START;
	for (;;) {
		memmove(to, from, size);
		watch->turns++;
	}
	COSY_END;
}

static void *endless_thread(void *arg)
{
	endless_calls(arg);
	return NULL;
}

/* Ends the whole process, or execs, while other threads are in their regions. */
static void leave_threads(void *arg, bool by_exec)
{
	struct watch *watches = arg;
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		MUST(!pthread_create(&thread, NULL, endless_thread, &watches[i]));
	for (int i = 0; i < 4; i++)
		WAIT_FOR(0, watches[i].turns > 10);
	if (by_exec)
		execl("/proc/self/exe", "kill", "42", (char *)NULL);
	_exit(42);
}

static void by_exit(void *arg)
{
	leave_threads(arg, false);
}

static void by_exec(void *arg)
{
	leave_threads(arg, true);
}

static void left(const char *name, void (*how)(void *))
{
	double start = now_ms();
	int status = in_child(how, shared_memory(4096));

	printf("%s: gone after %.0f ms\n", name, now_ms() - start);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "%s: status %#x", name, status);
}

/* Uses up RLIMIT_CPU, for which processor time in the kernel counts, too. */
static void out_of_time(void *arg)
{
	struct rlimit limit = { 1, 1 };

	MUST(!setrlimit(RLIMIT_CPU, &limit));
	endless_loop(arg);
}

/* True if the process has spent more time in the kernel than outside. */
static bool in_kernel(pid_t pid)
{
	unsigned long user = 0, kernel = 0;
	char path[64], line[1024] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	MUST((f = fopen(path, "r")));
	MUST(fgets(line, sizeof(line), f));
	fclose(f);
	sscanf(strrchr(line, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
	       &user, &kernel);
	return kernel > user;
}

/*
 * Kills by SIGKILL, which is never handled, or by SIGTERM's default, which is the same to a region.
 */
static void killed(const char *name, void (*region)(void *), int sig, bool computes)
{
	struct watch *watch = shared_memory(sizeof(*watch));
	double start;
	uint64_t seen;
	int status;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		region(watch);
		_exit(3);
	}
	WAIT_FOR(pid, watch->turns);
	sleep_ms(200);
	seen = watch->turns;
	if (computes)
		WAIT_FOR(pid, watch->turns != seen);
	/* A native run spends its time outside, for ever. */
	if (computes && kernel_expected())
		WAIT_FOR(pid, in_kernel(pid));
	start = now_ms();
	MUST(!kill(pid, sig));
	MUST(waitpid(pid, &status, 0) == pid);
	printf("%s: gone after %.0f ms\n", name, now_ms() - start);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig, "%s: status %#x", name, status);
	munmap(watch, sizeof(*watch));
}

int main(int argc, char **argv)
{
	int status;

	if (argc > 1)
		return atoi(argv[1]);
	killed("loop", endless_loop, SIGKILL, true);
	killed("loop, SIGTERM", endless_loop, SIGTERM, true);
	killed("calls", endless_calls, SIGKILL, true);
	killed("calls, SIGTERM", endless_calls, SIGTERM, true);
	killed("recursion", endless_recursion, SIGKILL, true);
	killed("sleep", endless_sleep, SIGKILL, false);
	killed("copy", endless_copy, SIGKILL, false);
	left("exit", by_exit);
	left("exec", by_exec);
	status = in_child(out_of_time, shared_memory(4096));
	CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU),
	      "RLIMIT_CPU: status %#x", status);
	return check_end();
}
