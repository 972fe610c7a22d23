// SPDX-License-Identifier: MIT
/*
 * share.c - see share.h.  Files that are open when a process is made are plain from then
 * on: position and lease would be shared with it, and the lease's signal would go to one
 * of the two only.
 */
#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wordexp.h>

#include "calls/share.h"
#include "environment.h"
#include "file/daemon.h"
#include "file/file.h"
#include "file/lease.h"
#include "file/lease_thread.h"
#include "file/policy.h"
#include "file/store.h"
#include "next.h"
#include "relax/relax.h"
#include "room.h"
#include "stats.h"
#include "syscall.h"
#include "vfork.h"

static int exec_result(long ret)
{
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return ret;
}

/* Begins a new process, which shares nothing that it opens from here on. */
static void share_in_child(void)
{
	vfork_parent = 0;
	vfork_process = cosy_syscall3(SYS_getpid, 0, 0, 0);
	file_share_child();
	lease_share_child();
	store_share_child();
	daemon_share_child();
	environment_share_child();
	memset(&stats, 0, sizeof(stats));
}

void share_begin(enum guard why, enum how_long how_long)
{
	file_share_begin(why, how_long);
	relax_share(how_long);
}

void share_end(void)
{
	file_share_end();
}

bool share_enter(enum guard why, enum how_long how_long)
{
	bool mine = !vfork_in_child();

	if (mine)
		share_begin(why, how_long);
	return mine;
}

bool share_enter_alone(enum guard why, enum how_long how_long)
{
	bool mine = share_enter(why, how_long);

	if (mine)
		lease_thread_end();
	return mine;
}

void share_leave(bool entered)
{
	if (entered)
		share_end();
}

void share_forbid(enum guard why)
{
	file_forbid(why);
	share_begin(why, UNTIL_CLOSED);
	share_end();
}

void share_descriptor(int fd, enum guard why, enum how_long how_long)
{
	relax_forget(fd);
	file_unspecialise_fd(fd, why, how_long);
}

/* Makes a call that forks. */
#define FORKED(call)                                                                               \
	({                                                                                         \
		bool entered_ = share_enter_alone(GUARD_NO_FP_SHARE, UNTIL_CLOSED);                \
		pid_t pid_ = (call);                                                               \
                                                                                                   \
		if (!pid_)                                                                         \
			share_in_child();                                                          \
		else                                                                               \
			share_leave(entered_);                                                     \
		pid_;                                                                              \
	})

pid_t fork(void)
{
	return FORKED(NEXT(fork)());
}

OTHER_NAME(__fork, fork);

pid_t _Fork(void)
{
	return FORKED(NEXT(_Fork)());
}

int forkpty(int *leader, char *name, const struct termios *terminal, const struct winsize *size)
{
	return FORKED(NEXT(forkpty)(leader, name, terminal, size));
}

/* Only the child comes back, unless it fails. */
int daemon(int nochdir, int noclose)
{
	int ret;

	share_begin(GUARD_NO_FP_SHARE, UNTIL_CLOSED);
	ret = NEXT(daemon)(nochdir, noclose);
	share_in_child();
	return ret;
}

/*
 * Returns libc's vfork, to which this library's jumps (arch/): the caller's frame is left twice, so
 * that function may have none.
 */
__attribute__((used, visibility("hidden"))) void *share_before_vfork(void)
{
	if (!vfork_in_child()) {
		share_begin(GUARD_NO_FP_SHARE, UNTIL_CLOSED);
		share_end();
		vfork_parent = cosy_syscall3(SYS_getpid, 0, 0, 0);
	}
	return NEXT(vfork);
}

int clone(int (*child)(void *), void *stack, int flags, void *argument, ...)
{
	bool mine = !vfork_in_child();
	/*
	 * The child of such a clone has this memory, but descriptors of its own, and is gone on
	 * return.
	 */
	bool vforks = (flags & (CLONE_VM | CLONE_VFORK | CLONE_FILES)) == (CLONE_VM | CLONE_VFORK);
	va_list args;
	pid_t *parent_tid, *child_tid;
	void *tls;
	int ret;

	va_start(args, argument);
	parent_tid = va_arg(args, pid_t *);
	tls = va_arg(args, void *);
	child_tid = va_arg(args, pid_t *);
	va_end(args);
	if (mine)
		share_begin(GUARD_NO_FP_SHARE, UNTIL_CLOSED);
	if (mine && vforks)
		vfork_parent = cosy_syscall3(SYS_getpid, 0, 0, 0);
	/* A thread that libc does not know. */
	if (flags & CLONE_THREAD)
		metadata_off();
	ret = NEXT(clone)(child, stack, flags, argument, parent_tid, tls, child_tid);
	/* A child that goes on sharing memory or descriptors does so unseen. */
	if (mine && (ret < 0 || vforks || !(flags & (CLONE_VM | CLONE_FILES))))
		share_end();
	return ret;
}

OTHER_NAME(__clone, clone);

/*
 * Makes `call` with `envp_`: `environment` with the library's variables; or without the library,
 * where a rule leaves `program` alone.  Without memory it is `environment` as it is.
 */
#define WITH_ENVIRONMENT(program, environment, call)                                               \
	({                                                                                         \
		char *const *envp_ = (environment);                                                \
		bool alone_ = policy_alone(program);                                               \
		size_t count_ = alone_ ? environment_count(envp_) : environment_room(envp_);       \
		size_t list_ = alone_ ? environment_list_room(envp_) : 0;                          \
		size_t bytes_ = (count_ + 1) * sizeof(char *) + list_ + 1;                         \
		bool large_ = bytes_ > MAX_STACK_ROOM;                                             \
		char *stack_[large_ ? 1 : bytes_ / sizeof(char *) + 1];                            \
		struct room *taken_ = large_ ? room_take(bytes_) : NULL;                           \
		char **more_ = taken_ ? taken_->pointers : large_ ? NULL : stack_;                 \
		__typeof__(call) result_;                                                          \
                                                                                                   \
		if (more_ && alone_)                                                               \
			envp_ = environment_without(envp_, more_, (char *)(more_ + count_ + 1));   \
		else if (more_ && count_)                                                          \
			envp_ = environment_complete(envp_, more_);                                \
		result_ = (call);                                                                  \
		room_return(taken_);                                                               \
		result_;                                                                           \
	})

/* Makes a call of libc's that makes a process. */
#define SHARED(call) SHARE_AROUND(GUARD_NO_FP_SHARE, UNTIL_CLOSED, call)

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return SHARED(WITH_ENVIRONMENT(
		path, envp, NEXT(posix_spawn)(pid, path, actions, attributes, argv, envp_)));
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return SHARED(WITH_ENVIRONMENT(
		file, envp, NEXT(posix_spawnp)(pid, file, actions, attributes, argv, envp_)));
}

/* glibc has these from 2.39 on; without them they fail as if the kernel could not do it. */
int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int pidfd_spawnp(int *pidfd, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);

static int spawn_result(int ret)
{
	return ret < 0 ? ENOSYS : ret;
}

int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return spawn_result(SHARED(WITH_ENVIRONMENT(
		path, envp, NEXT(pidfd_spawn)(pidfd, path, actions, attributes, argv, envp_))));
}

int pidfd_spawnp(int *pidfd, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	return spawn_result(SHARED(WITH_ENVIRONMENT(
		file, envp, NEXT(pidfd_spawnp)(pidfd, file, actions, attributes, argv, envp_))));
}

/* Makes a call of libc's that starts a shell, with this process's environment. */
#define SHELL(call)                                                                                \
	({                                                                                         \
		bool hidden_ = policy_alone("/bin/sh") && environment_hide();                      \
		unsigned int added_ = hidden_ ? 0 : environment_restore();                         \
		__typeof__(call) answer_;                                                          \
                                                                                                   \
		answer_ = SHARED(call);                                                            \
		environment_unrestore(added_);                                                     \
		if (hidden_)                                                                       \
			environment_show();                                                        \
		answer_;                                                                           \
	})

int system(const char *command)
{
	return SHELL(NEXT(system)(command));
}

FILE *popen(const char *command, const char *mode)
{
	return SHELL(NEXT(popen)(command, mode));
}

OTHER_NAME(_IO_popen, popen);

int wordexp(const char *words, wordexp_t *expansion, int flags)
{
	return SHELL(NEXT(wordexp)(words, expansion, flags));
}

/* Makes the kernel's position the files' own for an exec; open files stay open. */
#define EXECUTED(call) SHARE_AROUND(GUARD_KERNEL_POSITION, FOR_NOW, call)

int execve(const char *path, char *const argv[], char *const envp[])
{
	return EXECUTED(WITH_ENVIRONMENT(path, envp,
					 exec_result(cosy_syscall3(SYS_execve, (unsigned long)path,
								   (unsigned long)argv,
								   (unsigned long)envp_))));
}

int execv(const char *path, char *const argv[])
{
	if (environment_kept())
		return execve(path, argv, environment_now());
	return EXECUTED(NEXT(execv)(path, argv));
}

int execvp(const char *file, char *const argv[])
{
	if (environment_kept())
		return execvpe(file, argv, environment_now());
	return EXECUTED(NEXT(execvp)(file, argv));
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return EXECUTED(WITH_ENVIRONMENT(file, envp, NEXT(execvpe)(file, argv, envp_)));
}

int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	return EXECUTED(
		WITH_ENVIRONMENT(path, envp, NEXT(execveat)(dir, path, argv, envp_, flags)));
}

/* Returns the first argument, or NULL. */
static const char *arguments_first(char *const argv[])
{
	/* unistd.h says that the list is there, which the compiler would believe. */
	__asm__("" : "+r"(argv));
	return argv ? argv[0] : NULL;
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	return EXECUTED(
		WITH_ENVIRONMENT(arguments_first(argv), envp, NEXT(fexecve)(fd, argv, envp_)));
}

/* Calls `exec` with the list's arguments as an array. */
#define EXEC_LIST(first, args, exec)                                                               \
	({                                                                                         \
		va_list count_;                                                                    \
		size_t argc_ = 1;                                                                  \
		int ret_;                                                                          \
                                                                                                   \
		va_copy(count_, args);                                                             \
		while (va_arg(count_, char *))                                                     \
			argc_++;                                                                   \
		va_end(count_);                                                                    \
		{                                                                                  \
			char *argv[argc_ + 1];                                                     \
                                                                                                   \
			argv[0] = (char *)(first);                                                 \
			for (size_t i_ = 1; i_ <= argc_; i_++)                                     \
				argv[i_] = va_arg(args, char *);                                   \
			ret_ = (exec);                                                             \
		}                                                                                  \
		ret_;                                                                              \
	})

int execl(const char *path, const char *first, ...)
{
	va_list args;
	int ret;

	va_start(args, first);
	ret = EXEC_LIST(first, args, execv(path, argv));
	va_end(args);
	return ret;
}

int execlp(const char *file, const char *first, ...)
{
	va_list args;
	int ret;

	va_start(args, first);
	ret = EXEC_LIST(first, args, execvp(file, argv));
	va_end(args);
	return ret;
}

int execle(const char *path, const char *first, ...)
{
	va_list args;
	int ret;

	va_start(args, first);
	ret = EXEC_LIST(first, args, execve(path, argv, va_arg(args, char **)));
	va_end(args);
	return ret;
}

/* Gives the kernel the positions of descriptors that are sent to another process. */
static void message_passing(const struct msghdr *message)
{
	if (!message || !message->msg_control || !message->msg_controllen)
		return;
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR((struct msghdr *)message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len;
		     at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + at, sizeof(fd));
			share_descriptor(fd, GUARD_NO_FP_SHARE, UNTIL_CLOSED);
		}
	}
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	relax_tell();
	message_passing(message);
	return NEXT(sendmsg)(socket, message, flags);
}

int sendmmsg(int socket, struct mmsghdr *messages, unsigned int count, int flags)
{
	relax_tell();
	for (unsigned int i = 0; messages && i < count; i++)
		message_passing(&messages[i].msg_hdr);
	return NEXT(sendmmsg)(socket, messages, count, flags);
}

COLD void share_table_with_thread(enum guard why)
{
	share_begin(why, FOR_NOW);
	lease_thread_end();
	lease_thread_share_table();
	share_end();
}

/* A process's number stands for the descriptors of its first thread, while that lives. */
void pthread_exit(void *ret)
{
	if (cosy_syscall3(SYS_gettid, 0, 0, 0) == cosy_syscall3(SYS_getpid, 0, 0, 0))
		share_table_with_thread(GUARD_ONE_TABLE);
	NEXT(pthread_exit)(ret);
	__builtin_unreachable();
}

/*
 * Settles, and prints the statistics.  Nobody shares a specialised file's position, so nothing else
 * is lost with the process.
 */
void _exit(int status)
{
	if (!vfork_in_child()) {
		relax_end();
		stats_end();
	}
	for (;;)
		cosy_syscall3(SYS_exit_group, status, 0, 0);
}

void _Exit(int status) __attribute__((alias("_exit")));
