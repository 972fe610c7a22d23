/* SPDX-License-Identifier: MIT */
/*
 * Checks that no call of libcosy's own kills, under a seccomp filter that kills, a process that
 * lives natively.  The filter is there before the process begins, or it is armed before the first
 * region, or after it.  It kills for every call that the native twin does not make and that is not
 * in the list of docs/use/containers.md, which has to be enough to run in the kernel; then for one
 * call of the list as well, each in turn; then for all of them.
 */
#include "check.h"
#include "../../filter_arm.h"
#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define CALLS	 451
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A text that has '1' for each call that is in the set, so that it can be an argument. */
typedef char call_set[CALLS + 1];

/* What docs/use/containers.md lists. */
static const int listed[] = {
	SYS_read,	    SYS_newfstatat,
	SYS_ioctl,	    SYS_close,
	SYS_mmap,	    SYS_munmap,
	SYS_mprotect,	    SYS_madvise,
	SYS_prlimit64,	    SYS_futex,
	SYS_rt_sigprocmask, SYS_getpid,
	SYS_gettid,	    SYS_sched_getaffinity,
	SYS_openat,	    SYS_fcntl,
};

/* --- The process under test ------------------------------------------------------------------ */

static volatile int rounds = 5;
static volatile bool may_end, has_run;

static long region_first(void)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < rounds; i++)
		sum += getppid() > 0;
	COSY_END;
	return sum;
}

static __attribute__((noinline)) long depth(long n)
{
	return n ? depth(n - 1) + (getppid() > 0) : 0;
}

/* Is loaded only under the filter, and needs a software stack. */
static long region_second(void)
{
	long sum = 0;

	COSY_START;
	sum = depth(rounds);
	COSY_END;
	return sum;
}

static void *thread_run(void *unused)
{
	for (int i = 0; i < 3; i++)
		MUST(region_first() == rounds);
	MUST(region_second() == rounds);
	return unused;
}

static void *thread_stay(void *unused)
{
	MUST(region_first() == rounds);
	has_run = true;
	while (!may_end)
		;
	return unused;
}

/* Joins without futex, which libc calls only if it has to wait. */
static void thread_join(pthread_t thread)
{
	do
		sched_yield();
	while (pthread_tryjoin_np(thread, NULL));
}

static void thread_check(void)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, thread_run, NULL));
	thread_join(thread);
}

/* Sums the RUNs of this process, without a look into /proc, which the filter would see. */
static uint64_t runs_here(void)
{
	uint64_t runs = 0;

	for (int fd = 0; fd < 512; fd++) {
		struct cosy_stats stats = { .size = sizeof(stats) };

		runs += ioctl(fd, COSY_IOC_STATS, &stats) ? 0 : stats.runs;
	}
	return runs;
}

static void filter_arm_set(const char *set)
{
	struct sock_filter filter[3 * CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	size_t count = 1;

	for (unsigned int from = 0, to; from < CALLS; from = to) {
		for (to = from + 1; to < CALLS && set[to] == set[from]; to++)
			;
		if (set[from] == '0')
			continue;
		filter[count++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from, 0, 2);
		filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, to, 1, 0);
		filter[count++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	MUST(!filter_install(filter, count, 0));
}

/* Tells the tracer to look from here on. */
#define MARK() lseek(-1, 77, SEEK_SET)

static int process_run(const char *when, const char *set, bool in_kernel)
{
	bool after = !strcmp(when, "after");
	pthread_t stays;
	int status;
	pid_t pid;

	if (after) {
		MUST(!pthread_create(&stays, NULL, thread_stay, NULL));
		while (!has_run)
			sched_yield();
		MUST(region_first() == rounds);
	}
	if (strcmp(when, "exec"))
		filter_arm_set(set);
	MARK();
	for (int i = 0; i < 3; i++)
		MUST(region_first() == rounds);
	MUST(region_second() == rounds);
	thread_check();
	if (after) {
		may_end = true;
		thread_join(stays);
	}
	pid = fork();
	if (!pid) {
		thread_run(NULL);
		thread_check();
		_exit(in_kernel && runs_here() < 8 ? 4 : 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 2;
	if (status)
		return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
	return in_kernel && runs_here() < 8 ? 3 : 0;
}

/* --- Runs of it --------------------------------------------------------------------------------- */

static pid_t process_start(const char *when, const char *set, const char *mode, bool in_kernel)
{
	pid_t pid = child_start();

	if (pid)
		return pid;
	setenv("COSY_MODE", mode, 1);
	setenv("COSY_TIER", "always", 1);
	if (!strcmp(when, "exec"))
		filter_arm_set(set);
	execl("/proc/self/exe", "filter_kill", when, set, in_kernel ? "kernel" : "any", NULL);
	MUST(!"execl");
	return -1;
}

static int status_of(const char *when, const char *set, const char *mode, bool in_kernel)
{
	pid_t pid = process_start(when, set, mode, in_kernel);
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	return status;
}

/* Takes out of the set whatever the native twin calls, from its start or since it would arm. */
static void natively_called(const char *when, call_set set)
{
	pid_t first, pid;
	bool seen = !strcmp(when, "exec");
	int status;

	set[SYS_execve] = '0'; /* which begins the process */
	first = child_start();
	if (!first) {
		setenv("COSY_MODE", "native", 1);
		MUST(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		memset(set, '0', CALLS);
		execl("/proc/self/exe", "filter_kill", seen ? "before" : when, set, "any", NULL);
		MUST(!"execl");
	}
	MUST(waitpid(first, &status, 0) == first && WIFSTOPPED(status));
	MUST(!ptrace(PTRACE_SETOPTIONS, first, 0,
		     PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK));
	for (pid = first; pid != first || WIFSTOPPED(status);) {
		struct __ptrace_syscall_info info;

		if (WIFSTOPPED(status)) {
			if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
			    ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
			    info.op == PTRACE_SYSCALL_INFO_ENTRY) {
				seen |= info.entry.nr == SYS_lseek && info.entry.args[1] == 77;
				if (seen && info.entry.nr < CALLS)
					set[info.entry.nr] = '0';
			}
			ptrace(PTRACE_SYSCALL, pid, 0, 0);
		}
		MUST((pid = waitpid(-1, &status, __WALL)) > 0);
	}
	CHECK(!status, "%s: natively, traced, it ends with status %#x", when, status);
}

static void region_check(const char *when, const char *set, const char *name, bool in_kernel)
{
	int status = status_of(when, set, "auto", in_kernel);

	CHECK(!status, "%s, %s: it ends with status %#x", when, name, status);
}

/* `excepted`: how many calls of the list, the first ones, the filter has to let through. */
static void when_check(const char *when, size_t excepted)
{
	call_set unused, set;
	char name[32];
	int status;

	memset(unused, '1', CALLS);
	unused[CALLS] = 0;
	natively_called(when, unused);
	for (size_t i = 0; i < excepted; i++)
		unused[listed[i]] = '0';
	status = status_of(when, unused, "native", false);
	CHECK(!status, "%s: natively it ends with status %#x", when, status);
	memcpy(set, unused, sizeof(set));
	for (size_t i = 0; i < COUNT(listed); i++)
		set[listed[i]] = '0';
	region_check(when, set, "all but the list", kernel_expected());
	for (size_t i = 0; i < COUNT(listed); i++) {
		if (unused[listed[i]] == '0')
			continue;
		set[listed[i]] = '1';
		snprintf(name, sizeof(name), "also %d", listed[i]);
		region_check(when, set, name, false);
		set[listed[i]] = '0';
	}
	region_check(when, unused, "all", false);
}

int main(int argc, char **argv)
{
	if (argc > 3)
		_exit(process_run(argv[1], argv[2], !strcmp(argv[3], "kernel")));
	when_check("exec", 0);
	when_check("before", 2);
	when_check("after", 3);
	return check_end();
}
