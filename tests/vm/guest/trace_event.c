/* SPDX-License-Identifier: MIT */
/*
 * Switches an event of the kernel's at the entry of system calls on while a region waits, also beside
 * a filter that lets all of its calls through: each call that the region makes from then on is in
 * the trace, as it is natively.
 */
#include "check.h"
#include "../../filter_arm.h"

#define TRACING "/sys/kernel/tracing/"
#define EVENT	TRACING "events/raw_syscalls/sys_enter/"

enum { WANTED = 100, OTHERS = 1000 };

static void setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	MUST(fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value) && !close(fd));
}

/* Makes calls, waits for a byte, and makes those that are to be seen. */
static void calls_make(int pipe, bool filtered)
{
	struct cosy_stats then;
	long wrong = 0, got;
	char byte;

	if (filtered)
		MUST(!filter_arm(SYS_reboot, SECCOMP_RET_ERRNO | EPERM, 0));
	then = counts();
	COSY_START;
	for (long i = 0; i < OTHERS; i++)
		wrong += lseek(-1, WANTED + i, SEEK_SET) != -1 || errno != EBADF;
	got = read(pipe, &byte, 1);
	for (long i = 0; i < WANTED; i++)
		wrong += lseek(-1, i, SEEK_SET) != -1 || errno != EBADF;
	COSY_END;
	CHECK(got == 1 && !wrong, "%ld wrong results", wrong);
	CHECK_KERNEL(then, 1, OTHERS);
	_exit(check_end());
}

/* Returns how many of these calls are in the trace. */
static long seen(void)
{
	bool there[WANTED] = { false };
	char line[512];
	FILE *trace = fopen(TRACING "trace", "r");
	long count = 0;

	MUST(trace);
	while (fgets(line, sizeof(line), trace)) {
		const char *at = strstr(line, "sys_enter: NR 8 (");
		unsigned long fd, number;

		if (at && sscanf(at, "sys_enter: NR 8 (%lx, %lx", &fd, &number) == 2 &&
		    number < WANTED && !there[number]) {
			there[number] = true;
			count++;
		}
	}
	fclose(trace);
	return count;
}

static void traced(bool filtered)
{
	char filter[64];
	int status, ends[2];
	long count;
	pid_t pid;

	MUST(!pipe(ends));
	pid = child_start();
	if (!pid)
		calls_make(ends[0], filtered);
	snprintf(filter, sizeof(filter), "id == %d && common_pid == %d", SYS_lseek, pid);
	setting(EVENT "filter", filter);
	WAIT_FOR(pid, is_asleep(pid));
	setting(EVENT "enable", "1");
	MUST(write(ends[1], "x", 1) == 1 && waitpid(pid, &status, 0) == pid);
	setting(EVENT "enable", "0");
	CHECK_CHILD(status);
	count = seen();
	CHECK(count == WANTED, "%s: %ld of %d calls in the trace",
	      filtered ? "beside a filter" : "no filter", count, WANTED);
	setting(EVENT "filter", "0");
	setting(TRACING "trace", "");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	if (geteuid())
		SKIP("only root switches events on");
	if (access(EVENT "enable", W_OK))
		SKIP("no event of system calls");
	/* Else an event switches that of each schedule on and off, too, for the names of processes. */
	setting(TRACING "options/record-cmd", "0");
	traced(false);
	traced(true);
	setting(TRACING "options/record-cmd", "1");
	return check_end();
}
