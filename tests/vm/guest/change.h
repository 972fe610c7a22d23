/* SPDX-License-Identifier: MIT */
/* change.h - another process that makes changes one by one, each when it is asked to. */
#ifndef CHANGE_H
#define CHANGE_H

#include "check.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* Shared memory of both processes: the numbers of the changes asked for and made. */
static struct change {
	_Atomic unsigned int asked, done;
	_Atomic bool end;
} *change;

/* Makes each change that is asked for, until the other process has ended. */
HELPER void changes_make(void (*make)(unsigned int number))
{
	for (;;) {
		unsigned int asked = change->asked;

		if (asked != change->done) {
			make(asked);
			change->done = asked;
		} else {
			sched_yield();
		}
		if (getppid() == 1)
			_exit(0);
	}
}

/* Starts the process that makes the changes. */
HELPER pid_t changes_start(void (*make)(unsigned int number))
{
	pid_t pid;

	change->asked = change->done = 0;
	pid = child_start();
	if (!pid)
		changes_make(make);
	return pid;
}

HELPER void changes_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif /* CHANGE_H */
