/* SPDX-License-Identifier: MIT */
/* filter.h - what tests of seccomp filters share: arming them, and the log. */
#ifndef COSY_TESTS_GUEST_FILTER_H
#define COSY_TESTS_GUEST_FILTER_H

#include "../../filter_arm.h"
#include "check.h"

/* Returns the number of records of type SECCOMP in the kernel's log about this process. */
HELPER int seccomp_records(int log, pid_t pid)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), " pid=%d ", pid);
	return log_records(log, "type=1326 ", wanted);
}

#endif /* COSY_TESTS_GUEST_FILTER_H */
