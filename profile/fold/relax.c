// SPDX-License-Identifier: MIT
/* relax.c - see relax.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "fold/limits.h"
#include "fold/relax.h"

/* As run/relax/trunc.c, coalesce.c and file/file.h have them. */
#define MAX_REWRITE    (16 << 20)
#define MAX_COALESCED  8192
#define EARNED	       8
#define MAX_DESCRIPTOR 1024

/* Small writes of one open file that are worth a line. */
#define MIN_SMALL 16

/* Flags with which O_TRUNC is left to the kernel. */
#define NOT_RELAXED                                                                                \
	(O_EXCL | O_DIRECT | O_SYNC | O_DSYNC | O_ASYNC | O_PATH | O_DIRECTORY |                   \
	 (O_TMPFILE & ~O_DIRECTORY))

enum contents { UNKNOWN, SOME, NONE };

bool relax_create(struct relax *relax)
{
	relax->contents = calloc(LIMIT_FILE_NAMES + 1, sizeof(*relax->contents));
	return relax->contents && table_create(&relax->names, LIMIT_FILE_NAMES);
}

void relax_destroy(struct relax *relax)
{
	table_destroy(&relax->names);
	free(relax->contents);
}

/* Returns the number of the name that a call has; 0: it has none, or there are too many. */
static uint32_t name_number(struct relax *relax, uint64_t directory, const struct event_call *call)
{
	const char *path = event_path(&call->event);
	uint64_t hash;
	bool new;

	if (!path || !*path || call->event.flags & EVENT_PATH_CUT)
		return 0;
	hash = table_mix(12, *path == '/' ? 0 : directory);
	while (*path)
		hash = table_mix(hash, *path++);
	return table_add(&relax->names, hash, &new);
}

static void contents_note(struct relax *relax, uint32_t name, enum contents contents)
{
	if (name)
		relax->contents[name] = contents;
}

/* True for a call before which all old ends are cut, whatever its file is. */
static bool call_settles(const struct event_call *call)
{
	const char *path = event_path(&call->event);

	switch (call->nr) {
	case SYS_newfstatat:
		return path && *path;
	case SYS_fcntl:
		return call->args[1] != F_GETFD && call->args[1] != F_SETFD &&
		       call->args[1] != F_GETFL && call->args[1] != F_SETFL &&
		       call->args[1] != F_DUPFD && call->args[1] != F_DUPFD_CLOEXEC;
	case SYS_stat:
	case SYS_lstat:
	case SYS_statx:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_truncate:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_link:
	case SYS_linkat:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_chmod:
	case SYS_fchmodat:
	case SYS_chown:
	case SYS_lchown:
	case SYS_fchownat:
	case SYS_utime:
	case SYS_utimes:
	case SYS_futimesat:
	case SYS_utimensat:
	case SYS_setxattr:
	case SYS_lsetxattr:
	case SYS_removexattr:
	case SYS_lremovexattr:
	case SYS_sync:
	case SYS_syncfs:
	case SYS_flock:
	case SYS_msync:
	case SYS_setrlimit:
	case SYS_prlimit64:
	case SYS_kill:
	case SYS_tgkill:
	case SYS_ptrace:
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
	case SYS_execve:
	case SYS_execveat:
		return true;
	case SYS_mmap:
		return !call_memory(call->nr, call->args);
	default:
		return false;
	}
}

/* True for a call that leaves an old end of its file as it is. */
static bool call_leaves(const struct open_file *file, const struct event_call *call)
{
	switch (call->nr) {
	case SYS_write:
	case SYS_close:
		return true;
	case SYS_fcntl:
		return call->args[1] == F_GETFD || call->args[1] == F_SETFD;
	case SYS_lseek:
		/* The bytes written since the open are before the position. */
		return (call->args[2] == SEEK_CUR && !call->args[1]) ||
		       (call->args[2] == SEEK_SET && call->args[1] == file->rewrite.bytes);
	default:
		return false;
	}
}

/* True for a call that reveals nothing to others, so that writes around it can be joined. */
static bool call_is_private(const struct open_file *file, const struct event_call *call)
{
	switch (call->nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_lseek:
	case SYS_fstat:
		return file && file->kind == FILE_REGULAR;
	case SYS_getpid:
	case SYS_getppid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_time:
	case SYS_gettimeofday:
	case SYS_clock_gettime:
		return true;
	default:
		return call_memory(call->nr, call->args);
	}
}

static void rewrite_count(struct open_file *file, const struct event_call *call)
{
	file->rewrite.calls++;
	file->rewrite.cpu += call->cpu;
}

static void write_count(struct relax *relax, struct fold_process *process, struct open_file *file,
			const struct event_call *call)
{
	bool in_row = process->writing == file->serial;

	process->writing = file->serial;
	if (call->ret <= 0)
		return;
	contents_note(relax, file->name, SOME);
	file->writes++;
	if (file->rewrites) {
		rewrite_count(file, call);
		file->rewrite.writes++;
		file->rewrite.bytes += call->ret;
	}
	if (call->args[2] > MAX_COALESCED)
		return;
	file->small_writes++;
	if (in_row && file->small_writes > EARNED) {
		file->coalesced++;
		file->coalesced_cpu += call->cpu;
	}
}

void relax_count(struct relax *relax, struct fold_process *process, struct open_file *file,
		 const struct event_call *call, enum call_origin origin)
{
	if (call_settles(call) || (origin != ORIGIN_PROGRAM && call->nr == SYS_write))
		process->settled++;
	if (!call->ret &&
	    (call->nr == SYS_unlink || call->nr == SYS_unlinkat || call->nr == SYS_rename ||
	     call->nr == SYS_renameat || call->nr == SYS_renameat2))
		contents_note(relax, name_number(relax, relax_directory(process, file), call),
			      NONE);
	if (file && file->rewrites &&
	    (file->settled != process->settled || !call_leaves(file, call)))
		file->rewrites = false;
	if (file && file->kind == FILE_REGULAR && call->nr == SYS_write && !process->threaded) {
		write_count(relax, process, file, call);
		return;
	}
	if (file && file->rewrites && call->nr == SYS_close)
		rewrite_count(file, call);
	if (file && call->ret > 0 && (call->nr == SYS_read || call->nr == SYS_pread64))
		contents_note(relax, file->name, SOME);
	if (!call_is_private(file, call))
		process->writing = 0;
}

void relax_opened(struct relax *relax, struct fold_process *process, struct open_file *file,
		  uint64_t directory, const struct event_call *call, enum call_origin origin)
{
	enum contents before;

	if (file->kind != FILE_REGULAR)
		return;
	file->name = name_number(relax, directory, call);
	before = file->name ? relax->contents[file->name] : UNKNOWN;
	if (!(file->flags & O_TRUNC))
		return;
	contents_note(relax, file->name, NONE);
	if ((file->flags & O_ACCMODE) == O_RDONLY || file->flags & NOT_RELAXED ||
	    origin != ORIGIN_PROGRAM || process->threaded || call->ret >= MAX_DESCRIPTOR) {
		/* The kernel truncates it: before, old ends are cut. */
		process->settled++;
		return;
	}
	file->settled = process->settled;
	file->rewrites = before == SOME;
	file->fresh = !file->rewrites;
	if (file->rewrites)
		rewrite_count(file, call);
}

void relax_closed(struct profile *profile, const struct open_file *file)
{
	struct relax_sums *trunc = &profile->relax[RELAX_TRUNC],
			  *coalesce = &profile->relax[RELAX_COALESCE];

	if (file->kind != FILE_REGULAR || !file->opened || file->shared)
		return;
	if (file->fresh && file->writes) {
		profile->fresh.files++;
		profile->fresh.calls += file->calls;
		profile->fresh.cpu += file->cpu;
	}
	if (file->rewrite.writes && file->rewrite.bytes <= MAX_REWRITE) {
		trunc->files++;
		trunc->calls += file->rewrite.calls;
		trunc->writes += file->rewrite.writes;
		trunc->bytes += file->rewrite.bytes;
		trunc->cpu += file->rewrite.cpu;
	}
	if (file->small_writes >= MIN_SMALL && 5 * file->small_writes >= 4 * file->calls &&
	    2 * file->coalesced >= file->small_writes) {
		coalesce->files++;
		coalesce->calls += file->coalesced;
		coalesce->cpu += file->coalesced_cpu;
	}
}
