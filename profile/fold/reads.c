// SPDX-License-Identifier: MIT
/* reads.c - see reads.h. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "../preload/file/price.h"
#include "fold/reads.h"

static enum run_reason reads_reason(const struct open_file *file, bool inside)
{
	if (!file || file->kind != FILE_REGULAR)
		return RUN_NO_FILE;
	if (inside)
		return RUN_STDIO;
	if (!file->opened)
		return RUN_INHERITED;
	if ((file->flags & O_ACCMODE) != O_RDONLY || file->flags & O_DIRECT)
		return RUN_WRITING;
	if (file->shared)
		return RUN_SHARED;
	return RUN_SERVED;
}

/* Counts what a read of so many bytes earns.  True if the file has a window when it is made. */
static bool reads_earned(struct profile *profile, struct fold_process *process,
			 struct open_file *file, uint64_t size)
{
	int64_t saved = WINDOW_SAVED - (int64_t)(size / WINDOW_SAVED_LESS);

	if (file->window)
		return true;
	file->credit += saved;
	if (file->credit < WINDOW_COST)
		return false;
	/* The first windows of a process wait for a thread. */
	if (process->thread_credit < LEASE_THREAD_COST) {
		process->thread_credit += saved;
		return false;
	}
	file->window = true;
	profile->run.windows++;
	/* This read is still an ordinary one. */
	return false;
}

void reads_count(struct profile *profile, struct fold_process *process, struct open_file *file,
		 const struct event_call *call, bool inside)
{
	struct run_sums *run = &profile->run;
	enum run_reason reason;

	if (call->nr == SYS_lseek && file && file->window && !inside) {
		run->seeks++;
		run->seeks_cpu += call->cpu;
	}
	if ((call->nr != SYS_read && call->nr != SYS_pread64) || call->ret <= 0)
		return;
	reason = reads_reason(file, inside);
	if (reason == RUN_SERVED && call->args[2] > WINDOW_MAX_LENGTH)
		reason = RUN_LARGE;
	if (reason == RUN_SERVED && !reads_earned(profile, process, file, call->args[2]))
		reason = RUN_UNEARNED;
	run->calls[reason]++;
	run->cpu[reason] += call->cpu;
	run->bytes[reason] += call->ret;
}
