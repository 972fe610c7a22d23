/* SPDX-License-Identifier: MIT */
/* filter.h - what tests of seccomp filters share: arming them, and the log. */
#ifndef COSY_TESTS_GUEST_FILTER_H
#define COSY_TESTS_GUEST_FILTER_H

#include "../../filter_arm.h"
#include "check.h"

/* Returns the number of records of type SECCOMP in the kernel's log about this process. */
HELPER int seccomp_records(int log, pid_t pid)
{
	char record[1024], wanted[32];
	int count = 0;
	ssize_t got;

	snprintf(wanted, sizeof(wanted), " pid=%d ", pid);
	while ((got = read(log, record, sizeof(record) - 1)) > 0) {
		record[got] = '\0';
		count += strstr(record, "type=1326 ") && strstr(record, wanted);
	}
	return count;
}

#endif /* COSY_TESTS_GUEST_FILTER_H */
