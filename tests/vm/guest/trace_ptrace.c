/* SPDX-License-Identifier: MIT */
/*
 * Traces system calls, from the start or attached in the middle of a region: the tracer sees every
 * call, and when it detaches the program goes on, in the kernel again with its next region.
 */
#include "check.h"
#include "../../filter_arm.h"
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* The numbered lseek(-1, i) calls that a tracer has seen. */
struct sight {
	long first, last, calls, gaps;
};

/*
 * Lets pid run to its next stop, or its end, and notes what it is about to
 * call.  False when it has ended, with *status.
 */
static bool follow(pid_t pid, struct sight *sight, int *status)
{
	static int sig; /* to pass on with the next step */
	struct __ptrace_syscall_info info;

	MUST(!ptrace(PTRACE_SYSCALL, pid, 0, sig));
	sig = 0;
	MUST(waitpid(pid, status, 0) == pid);
	if (!WIFSTOPPED(*status))
		return false;
	if (WSTOPSIG(*status) != (SIGTRAP | 0x80)) {
		if (*status >> 16 == 0)
			sig = WSTOPSIG(*status);
		return true;
	}
	MUST(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_lseek ||
	    (int)info.entry.args[0] != -1)
		return true;
	if (!sight->calls++)
		sight->first = (long)info.entry.args[1];
	else if ((long)info.entry.args[1] != sight->last + 1)
		sight->gaps++;
	sight->last = (long)info.entry.args[1];
	return true;
}

/* Runs one region of `count` numbered calls. */
static long numbered(long count, long from)
{
	long wrong = 0;

	COSY_START;
	for (long i = 0; i < count; i++)
		if (lseek(-1, from + i, SEEK_SET) != -1 || errno != EBADF)
			wrong++;
	COSY_END;
	return wrong;
}

static void from_the_start(void)
{
	struct sight sight = { 0 };
	int status;
	pid_t pid = child_start();

	if (!pid) {
		MUST(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		raise(SIGSTOP);
		_exit(numbered(200, 0) ? 1 : 0);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	MUST(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	while (follow(pid, &sight, &status))
		;
	CHECK(sight.calls == 200 && !sight.gaps, "from the start: %ld calls seen, %ld gaps",
	      sight.calls, sight.gaps);
	CHECK_CHILD(status);
}

/*
 * Attaches in the middle of one region and detaches at its end: the later ones run untraced.
 * `filtered`: beside a filter that lets each of the calls through, which says nothing of tracers.
 */
static void in_the_middle(bool filtered)
{
	volatile long *shared =
		shared_memory(4096); /* [0] stop, [1] turn, [2] last, [3] the region ended */
	struct sight sight = { 0 };
	int status;
	long turn;
	pid_t pid = child_start();

	if (!pid) {
		struct cosy_stats then;
		long wrong = 0, i;

		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		if (filtered)
			MUST(!filter_arm(SYS_reboot, SECCOMP_RET_ERRNO | EPERM, 0));
		then = counts();
		COSY_START;
		for (i = 0; !shared[0]; i++) {
			if (lseek(-1, i, SEEK_SET) != -1 || errno != EBADF)
				wrong++;
			shared[1] = i;
		}
		COSY_END;
		CHECK_KERNEL(then, 1, 1000);
		shared[2] = i - 1;
		shared[3] = 1;
		while (shared[0] != 2)
			sleep_ms(1);
		then = counts();
		for (i = 0; i < 10; i++) /* the library finds out by trying now and then */
			wrong += numbered(1000, 0);
		CHECK(!wrong, "in the middle: %ld wrong results", wrong);
		CHECK_KERNEL(then, 1, 5000); /* nobody looks any more */
		_exit(check_end());
	}
	WAIT_FOR(pid, shared[1] >= 1000);
	MUST(!ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD));
	MUST(!ptrace(PTRACE_INTERRUPT, pid, 0, 0));
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	turn = shared[1];
	while (sight.calls < 100 && follow(pid, &sight, &status))
		;
	/* The last call may have been made and not yet noted when the child was stopped. */
	CHECK(sight.first == turn + 1 || sight.first == turn + 2,
	      "in the middle: turn %ld when attached, then %ld seen", turn, sight.first);
	CHECK(!sight.gaps, "in the middle: %ld gaps", sight.gaps);
	/* Let the region end: the last call made must be the last seen. */
	shared[0] = 1;
	while (!shared[3] && follow(pid, &sight, &status))
		;
	CHECK(!sight.gaps && sight.last == shared[2],
	      "in the middle: %ld gaps, the last seen is %ld of %ld", sight.gaps, sight.last,
	      shared[2]);
	MUST(!ptrace(PTRACE_DETACH, pid, 0, 0));
	shared[0] = 2;
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
}

int main(void)
{
	from_the_start();
	in_the_middle(false);
	in_the_middle(true);
	return check_end();
}
