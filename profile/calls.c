// SPDX-License-Identifier: MIT
/* calls.c - see calls.h. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "calls.h"
#include "core.h"

static const struct call_kind kinds[CALLS_MAX] = {
#define COSY_CALL(number, name, arguments, flags)                                                  \
	[number] = {#name, arguments, NULL, ((flags) & COSY_CALL_BLOCKS) != 0,                     \
		    ((flags) & COSY_CALL_PATH) != 0},
#define COSY_DENY(number, name, why) [number] = {#name, "", why, false, false},
#include "ops.def"
};

const struct call_kind *call_kind(unsigned int nr)
{
	static const struct call_kind unknown = {"unknown call", "", "it is not known", false,
						 false};

	return nr < CALLS_MAX && kinds[nr].name ? &kinds[nr] : &unknown;
}

int call_path(unsigned int nr)
{
	switch (nr) {
	case SYS_open:
	case SYS_stat:
	case SYS_lstat:
	case SYS_access:
	case SYS_execve:
	case SYS_truncate:
	case SYS_chdir:
	case SYS_rename:
	case SYS_mkdir:
	case SYS_rmdir:
	case SYS_creat:
	case SYS_link:
	case SYS_unlink:
	case SYS_readlink:
	case SYS_chmod:
	case SYS_chown:
	case SYS_lchown:
	case SYS_statfs:
	case SYS_getxattr:
	case SYS_lgetxattr:
	case SYS_listxattr:
	case SYS_llistxattr:
		return 0;
	case SYS_openat:
	case SYS_openat2:
	case SYS_mkdirat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_unlinkat:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_readlinkat:
	case SYS_fchmodat:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_utimensat:
	case SYS_execveat:
		return 1;
	default:
		return -1;
	}
}

int call_descriptor(unsigned int nr)
{
	const char *arguments = call_kind(nr)->arguments;

	switch (nr) {
	/* Their first argument is a number, but no descriptor. */
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_socket:
	case SYS_socketpair:
	case SYS_umask:
	case SYS_prctl:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_getitimer:
	case SYS_setitimer:
	case SYS_getpgid:
	case SYS_setpgid:
	case SYS_getsid:
	case SYS_getrlimit:
	case SYS_setrlimit:
	case SYS_prlimit64:
	case SYS_getrusage:
	case SYS_getpriority:
	case SYS_setpriority:
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_clock_gettime:
	case SYS_clock_getres:
	case SYS_clock_nanosleep:
	case SYS_clock_settime:
	case SYS_sched_setaffinity:
	case SYS_sched_getaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_getscheduler:
	case SYS_sched_setparam:
	case SYS_sched_getparam:
	case SYS_sched_get_priority_max:
	case SYS_sched_get_priority_min:
	case SYS_epoll_create:
	case SYS_epoll_create1:
	case SYS_shmget:
	case SYS_shmat:
	case SYS_shmctl:
	case SYS_semget:
	case SYS_semop:
	case SYS_semctl:
	case SYS_msgget:
	case SYS_msgsnd:
	case SYS_msgrcv:
	case SYS_msgctl:
	case SYS_select:
	case SYS_pselect6:
	case SYS_getgroups:
	case SYS_syslog:
	case SYS_membarrier:
	case SYS_keyctl:
	case SYS_memfd_create:
	case SYS_eventfd2:
	case SYS_inotify_init1:
	case SYS_timerfd_create:
		return -1;
	case SYS_dup:
	case SYS_dup2:
	case SYS_dup3:
	case SYS_getdents:
	case SYS_getdents64:
	case SYS_close_range:
		return 0;
	case SYS_mmap:
		return 4;
	default:
		return arguments[0] == 'i' ? 0 : -1;
	}
}

static int call_memory_argument(unsigned int nr, char letter)
{
	const char *arguments = call_kind(nr)->arguments;

	for (int i = 0; arguments[i] && arguments[i + 1]; i++)
		if (arguments[i] == letter && (arguments[i + 1] == 'l' || nr == SYS_getdents64))
			return i;
	return -1;
}

int call_given(unsigned int nr)
{
	return call_memory_argument(nr, 'r');
}

int call_made(unsigned int nr)
{
	return call_memory_argument(nr, 'p');
}

bool call_locks(unsigned int nr, uint64_t command)
{
	if (nr != SYS_fcntl)
		return false;
	switch (command) {
	case F_SETLK:
	case F_SETLKW:
	case F_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
	case F_OFD_GETLK:
		return true;
	default:
		return false;
	}
}

bool call_memory(unsigned int nr, const uint64_t args[6])
{
	switch (nr) {
	case SYS_brk:
	case SYS_mremap:
	case SYS_madvise:
	case SYS_mprotect:
		return true;
	case SYS_mmap:
		return args[3] & MAP_ANONYMOUS;
	default:
		return false;
	}
}
