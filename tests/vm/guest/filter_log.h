/* SPDX-License-Identifier: MIT */
/* filter_log.h - what the kernel's log says of calls that a seccomp filter has logged. */
#ifndef COSY_TESTS_GUEST_FILTER_LOG_H
#define COSY_TESTS_GUEST_FILTER_LOG_H

#include "filter.h"
#include <sched.h>

/* Opens the log at its end, and lifts its limit.  Returns -1 if this user may not. */
HELPER int seccomp_log_open(void)
{
	int limit = open("/proc/sys/kernel/printk_ratelimit", O_WRONLY);
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (limit < 0 || log < 0) {
		close(limit);
		close(log);
		return -1;
	}
	MUST(write(limit, "0", 1) == 1 && lseek(log, 0, SEEK_END) >= 0 && !close(limit));
	return log;
}

/* Says that a part of the test is skipped if this user may not read the log; suite.sh passes it on. */
HELPER void seccomp_log_check(void)
{
	int log = seccomp_log_open();

	if (log < 0)
		printf("SKIP: records in the log, which is for root alone\n");
	close(log);
}

/*
 * Returns the number of records of type SECCOMP about this process.  A kernel thread writes them a
 * while later, in order: when that of a child's call has come, all of this process's have.
 */
HELPER int seccomp_log_count(int log)
{
	char record[1024], own[32], last[32];
	int count = 0;
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		filter_arm(SYS_sched_yield, SECCOMP_RET_LOG, 0);
		sched_yield();
		_exit(0);
	}
	MUST(waitpid(pid, NULL, 0) == pid);
	snprintf(own, sizeof(own), " pid=%d ", getpid());
	snprintf(last, sizeof(last), " pid=%d ", pid);
	for (;;) {
		ssize_t got = read(log, record, sizeof(record) - 1);

		if (got < 0) {
			usleep(1000);
			continue;
		}
		record[got] = '\0';
		if (!strstr(record, "type=1326 "))
			continue;
		if (strstr(record, last))
			return count;
		count += strstr(record, own) != NULL;
	}
}

#endif /* COSY_TESTS_GUEST_FILTER_LOG_H */
