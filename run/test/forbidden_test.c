// SPDX-License-Identifier: MIT
/*
 * forbidden_test.c - a security module forbids leases, and notes each refusal: counts how often they
 * are asked for, of files of one's own and of others.  A debugger stands in for the module.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "specialised.h"

/* How often the file is opened and read, and how many refusals a process with CAP_LEASE takes. */
enum { OPENED = 100, REFUSED = 8 };

static void read_often(void)
{
	for (int i = 0; i < OPENED; i++) {
		int fd = open(path, O_RDONLY);

		read_on(fd, 0, READS);
		close(fd);
	}
}

/* Lets the process go on until it is about to ask for a lease; false: it has ended well. */
static bool goes_to_lease(pid_t pid, struct user_regs_struct *registers)
{
	int status;

	do {
		CHECK(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		CHECK(waitpid(pid, &status, 0) == pid);
		if (WIFEXITED(status)) {
			CHECK(!WEXITSTATUS(status));
			return false;
		}
		CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, registers));
	} while (registers->orig_rax != SYS_fcntl || registers->rsi != F_SETLEASE ||
		 registers->rdx != F_RDLCK);
	return true;
}

/* Refuses each lease that a process asks for which reads the file; returns how many it did. */
static int refusals(void)
{
	struct user_regs_struct registers;
	int status, count = 0;
	pid_t pid = fork();

	if (!pid) {
		CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
		raise(SIGSTOP);
		read_often();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	while (goes_to_lease(pid, &registers)) {
		count++;
		registers.orig_rax = -1; /* no call */
		CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &registers));
		CHECK(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
		registers.rax = -EACCES;
		CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &registers));
	}
	return count;
}

static void counts(const char *whose, int want)
{
	int count = refusals();

	if (count != want) {
		fprintf(stderr, "leases of %s files were asked for %d times, not %d\n", whose,
			count, want);
		exit(1);
	}
}

int main(void)
{
	path_make("forbidden");
	counts("own", 1);
	if (chown(path, 12345, -1))
		printf("not root: nothing is told of others' files\n");
	else
		counts("others'", REFUSED);
	unlink(path);
	return 0;
}
