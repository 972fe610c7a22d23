// SPDX-License-Identifier: MIT
/* admit.c - see admit.h. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "record/bpf/admit.h"
#include "record/bpf/tasks.h"
#include "admit.skel.h"

#define TRIES	 5 /* two that begin at once may refuse each other, and one may just be ending */
#define PAUSE_NS 20000000

static int admit_try(struct admit *programs)
{
	struct admit__bss *found = programs->bss;
	int error;

	*found = (struct admit__bss){0};
	error = tasks_iterate(bpf_link__fd(programs->links.admit_task));
	if (error)
		return error;
	if (found->own_copies)
		return -EALREADY;
	return found->other_users < ADMIT_USERS ? 0 : -EUSERS;
}

/* Waits for one to three pauses, not as long as another that began at the same time. */
static void admit_pause(void)
{
	struct timespec pause;

	clock_gettime(CLOCK_MONOTONIC, &pause);
	pause.tv_nsec = PAUSE_NS + (pause.tv_nsec ^ (long)getpid() << 12) % (2 * PAUSE_NS);
	pause.tv_sec = 0;
	nanosleep(&pause, NULL);
}

int observer_admit(void)
{
	struct admit *programs = admit__open_and_load();
	int error;

	if (!programs)
		return -errno;
	error = admit__attach(programs);
	for (int i = 0; !error && i < TRIES; i++) {
		if (i)
			admit_pause();
		prctl(PR_SET_NAME, ADMIT_NAME);
		error = admit_try(programs);
		if (!error)
			break;
		prctl(PR_SET_NAME, "cosy-observe");
		if (i < TRIES - 1 && (error == -EALREADY || error == -EUSERS))
			error = 0;
	}
	admit__destroy(programs);
	return error;
}
