// SPDX-License-Identifier: MIT
/* reads.c - see reads.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "../run/file/price.h"
#include "calls.h"
#include "fold/reads.h"

#define STEADY_READS 64

/* Smallest buffer that the C library reads into by itself. */
#define MIN_STDIO 512

/* As run/file/window.c has it. */
#define MAX_COST (WINDOW_COST << 6)

static enum run_reason reads_reason(const struct open_file *file, enum call_origin origin)
{
	if (!file || file->kind != FILE_REGULAR)
		return RUN_NO_FILE;
	if (origin == ORIGIN_LIBC)
		return RUN_STDIO;
	if (!file->opened)
		return RUN_INHERITED;
	if ((file->flags & O_ACCMODE) != O_RDONLY || file->flags & O_DIRECT)
		return RUN_WRITING;
	if (file->shared)
		return RUN_SHARED;
	return origin == ORIGIN_BARE ? RUN_OWN : RUN_SERVED;
}

/* Adds the earnings of a read of so many bytes.  True if the file has a window for it. */
static bool reads_earned(struct profile *profile, struct fold_process *process,
			 struct open_file *file, const struct event_call *call)
{
	uint64_t size = call->args[2];
	int64_t saved = WINDOW_SAVED - (int64_t)(size / WINDOW_SAVED_LESS);

	if (file->window)
		return true;
	file->credit += saved;
	if (file->credit < WINDOW_COST + process->dearer)
		return false;
	/* The first windows of a process wait for a thread. */
	if (process->thread_credit < LEASE_THREAD_COST) {
		process->thread_credit += saved;
		process->late = true;
		return false;
	}
	file->window = true;
	file->window_reads = 0;
	profile->run.windows++;
	/* This read is still an ordinary one. */
	return false;
}

/* Ends a file's window.  If it has not paid, the next one has to earn twice as much. */
static void reads_drop(struct fold_process *process, struct open_file *file)
{
	int64_t price = WINDOW_COST + process->dearer;

	if (!file || !file->window)
		return;
	if (process->late)
		process->late = false;
	else if (file->window_reads * (WINDOW_SAVED / 2) >= WINDOW_COST)
		process->dearer = price / 2 < WINDOW_COST ? 0 : price / 2 - WINDOW_COST;
	else if (price < MAX_COST)
		process->dearer = 2 * price - WINDOW_COST;
	file->window = file->whole = file->sought = false;
	file->credit = 0;
	file->window_from = file->window_to = file->next = 0;
	file->direct = file->fetched = file->steady = 0;
}

/* Ends the windows of descriptors that are closed: of several names of a file any does. */
static void reads_close_range(struct fold_process *process, const struct event_call *call)
{
	uint64_t last = call->args[1];

	for (uint64_t fd = call->args[0]; process->table && fd < process->table->n && fd <= last;
	     fd++)
		reads_drop(process, process->table->files[fd]);
}

/* Ends the windows of both files, since until the copy has its name others read by it. */
static void reads_dup_to(struct fold_process *process, const struct event_call *call)
{
	if ((int)call->args[0] == (int)call->args[1])
		return;
	reads_drop(process, files_get(process, (int)call->args[0]));
	reads_drop(process, files_get(process, (int)call->args[1]));
}

/* True if an ioctl or an fcntl needs the position. */
static bool control_ends(const struct event_call *call)
{
	if (call->nr == SYS_ioctl)
		return call->args[1] == FIONREAD || call->args[1] == FIOASYNC;
	return call_locks(call->nr, call->args[1]) && call->event.flags & EVENT_FROM_POSITION;
}

/* Ends windows by calls that need the kernel's idea of a position, or close a descriptor. */
static void reads_end(struct fold_process *process, struct open_file *file,
		      const struct event_call *call, enum call_origin origin)
{
	switch (call->nr) {
	case SYS_close:
	case SYS_readv:
	case SYS_preadv2:
	case SYS_splice:
	case SYS_copy_file_range:
		reads_drop(process, file);
		return;
	case SYS_close_range:
		if (!call->args[2])
			reads_close_range(process, call);
		return;
	case SYS_dup2:
	case SYS_dup3:
		reads_dup_to(process, call);
		return;
	case SYS_sendfile:
		reads_drop(process, files_get(process, (int)call->args[1]));
		return;
	case SYS_ioctl:
	case SYS_fcntl:
		if (control_ends(call))
			reads_drop(process, file);
		break;
	case SYS_read:
	case SYS_lseek:
	case SYS_dup:
		break;
	default:
		return;
	}
	/* Made by syscall(), it is seen and not served. */
	if (origin == ORIGIN_BARE)
		reads_drop(process, file);
}

/* Counts a read past the window: enough of them earn a window of all of the file. */
static void reads_past(struct profile *profile, const struct fold_process *process,
		       struct open_file *file, int64_t from, int64_t size)
{
	uint64_t areas;

	if (!file->direct++)
		file->low = file->high = from;
	if (from < file->low)
		file->low = from;
	file->steady++;
	if (from > file->high) {
		file->high = from;
		file->steady = 0;
	}
	file->fetched += size > FIRST_FETCH ? size : FIRST_FETCH;
	areas = ((uint64_t)(file->high - file->low) >> MAP_AREA_SHIFT) + 1;
	/*
	 * Estimates the size of the file, which is not recorded: the farthest read, if none was
	 * farther for long.
	 */
	if (file->steady >= STEADY_READS && file->high < STORE_WHOLE &&
	    file->fetched >= 2 * (uint64_t)file->high) {
		file->whole = true;
		profile->run.fetches++;
		profile->run.fetched += file->high + size;
	}
	if (!process->bus_handled &&
	    file->direct * MAP_READ_SAVED >= MAP_COST + areas * MAP_AREA_CHARGE)
		file->whole = true;
}

/* True if the window contains the bytes, or is filled with them because they come next. */
static bool reads_window(struct profile *profile, const struct fold_process *process,
			 struct open_file *file, const struct event_call *call)
{
	int64_t from = call->nr == SYS_pread64 ? (int64_t)call->args[3] : file->position;
	int64_t to = from + call->ret, fill;

	if (file->whole || (call->nr == SYS_read && !file->position_known) || from < 0 ||
	    from > INT64_MAX / 2)
		return true;
	if (from >= file->window_from && to <= file->window_to)
		return true;
	if (file->window_to && from != file->window_to && from != file->next) {
		file->next = to;
		reads_past(profile, process, file, from, call->ret);
		return false;
	}
	fill = file->window_to ? 2 * (file->window_to - file->window_from) : FIRST_FETCH;
	if (fill > STORE_SMALL)
		fill = STORE_SMALL;
	file->window_from = from;
	file->window_to = file->next =
		(from + (fill > call->ret ? fill : call->ret) + 4095) & ~4095L;
	profile->run.fetches++;
	/* A read that is cut short was at the file's end. */
	profile->run.fetched +=
		call->ret < (int64_t)call->args[2] ? call->ret : file->window_to - from;
	return true;
}

static struct run_served run_served(const struct run_sums *run)
{
	return (struct run_served){
		.calls = run->calls[RUN_SERVED],
		.cpu = run->cpu[RUN_SERVED],
		.bytes = run->bytes[RUN_SERVED],
		.seeks = run->seeks,
		.windows = run->windows,
		.random = run->random,
		.fetches = run->fetches,
		.fetched = run->fetched,
	};
}

/* Adds what has come since `before`. */
static void run_served_add(struct run_served *sum, const struct run_served *after,
			   const struct run_served *before)
{
	sum->calls += after->calls - before->calls;
	sum->cpu += after->cpu - before->cpu;
	sum->bytes += after->bytes - before->bytes;
	sum->seeks += after->seeks - before->seeks;
	sum->windows += after->windows - before->windows;
	sum->random += after->random - before->random;
	sum->fetches += after->fetches - before->fetches;
	sum->fetched += after->fetched - before->fetched;
}

/* Returns the counts of a served file, or NULL if it is unknown, or too many are counted. */
static struct run_served *served_of(struct profile *profile, struct table *names,
				    const struct fold_process *process, struct open_file *file)
{
	uint64_t hash = table_mix(14, (uint64_t)process->program << 1 | process->first);
	bool new;

	if (!file->run_file && file->path) {
		for (const char *at = file->path; *at; at++)
			hash = table_mix(hash, *at);
		hash = table_mix(hash, 0);
		for (const char *at = process->started; *at; at++)
			hash = table_mix(hash, *at);
		file->run_file = table_add(names, hash, &new);
		if (file->run_file && new) {
			struct run_file *named = &profile->run_files[file->run_file];

			profile->n_run_files = file->run_file;
			named->program = process->program;
			named->first = process->first;
			strcpy(named->started, process->started);
			strcpy(named->path, file->path);
		}
		free(file->path);
		file->path = NULL;
	}
	return file->run_file ? &profile->run_files[file->run_file].served : NULL;
}

static void reads_count_all(struct profile *profile, struct fold_process *process,
			    struct open_file *file, const struct event_call *call,
			    enum call_origin origin)
{
	struct run_sums *run = &profile->run;
	enum run_reason reason;

	/* The new action for SIGBUS is not recorded: it may be a handler, or the default again. */
	if (call->nr == SYS_rt_sigaction && call->args[0] == SIGBUS && call->args[1])
		process->bus_handled = true;
	reads_end(process, file, call, origin);
	if (call->nr == SYS_lseek && file && file->window && origin == ORIGIN_PROGRAM) {
		file->sought = call->ret != file->position || !file->position_known;
		run->seeks++;
	}
	if ((call->nr != SYS_read && call->nr != SYS_pread64) || call->ret <= 0)
		return;
	reason = reads_reason(file, origin);
	if (reason == RUN_STDIO && call->args[2] < MIN_STDIO)
		reason = RUN_UNBUFFERED;
	if (reason == RUN_SERVED && call->args[2] > WINDOW_MAX_LENGTH)
		reason = RUN_LARGE;
	if (reason == RUN_SERVED && !reads_earned(profile, process, file, call))
		reason = RUN_UNEARNED;
	if (reason == RUN_SERVED && !reads_window(profile, process, file, call))
		reason = RUN_RANDOM;
	if (reason == RUN_SERVED) {
		run->earlier += file->earlier;
		file->window_reads++;
		run->random += file->sought;
	}
	if (file)
		file->sought = false;
	run->calls[reason]++;
	run->cpu[reason] += call->cpu;
	run->bytes[reason] += call->ret;
}

void reads_count(struct profile *profile, struct table *names, struct fold_process *process,
		 struct open_file *file, const struct event_call *call, enum call_origin origin)
{
	struct run_served before = run_served(&profile->run), after, *served;

	reads_count_all(profile, process, file, call, origin);
	if (!file || !file->window)
		return;
	served = served_of(profile, names, process, file);
	after = run_served(&profile->run);
	if (served)
		run_served_add(served, &after, &before);
}
