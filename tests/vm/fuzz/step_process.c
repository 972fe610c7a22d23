// SPDX-License-Identifier: MIT
/* step_process.c - steps of the process: calls, forks, signals, filters, rights, and its end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "execute.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Makes a call natively, with what a compound's would be given. */
void step_call(struct actor *actor, const uint32_t *arg)
{
	/* On memory it would be our own that is gone. */
	static const int left_out[] = { SYS_mmap,  SYS_munmap, SYS_mremap,	   SYS_brk,
					SYS_shmat, SYS_shmdt,  SYS_rt_sigprocmask, SYS_mprotect };
	uint64_t value[6] = { 0 };
	const char *letters;
	int number = call_number(arg[0], &letters);

	(void)actor;
	for (size_t i = 0; i < COUNT(left_out); i++)
		if (number == left_out[i])
			return;
	for (int i = 0; letters[i]; i++)
		value[i] = value_argument(letters[i], arg[1 + i % 5]);
	if (syscall(number, value[0], value[1], value[2], value[3], value[4], value[5]) > 2)
		return;
}

/* Has a child make the next steps, while we go on after them. */
void step_fork(struct actor *actor, const uint32_t *arg)
{
	uint32_t count = 1 + arg[0] % 6;
	pid_t pid;

	if (actor->forks >= MAX_FORKS)
		return;
	actor->forks++;
	pid = fork();
	if (pid < 0)
		return;
	if (pid) {
		actor->at += count;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	actor->forks = FORKED;
	actor->end = actor->at + 1 + count;
}

void step_wait(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	waitpid(-1, NULL, arg[0] & 1 ? WNOHANG : 0);
}

void step_yield(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	if (arg[0] & 1)
		sched_yield();
	else
		usleep(arg[0] >> 1 & 1023);
}

void step_signal(struct actor *actor, const uint32_t *arg)
{
	struct itimerval often = { { 0, 50 + arg[1] % 1000 }, { 0, 50 + arg[1] % 1000 } };
	sigset_t set;

	(void)actor;
	switch (arg[0] % 5) {
	case 0 ... 1:
		kill(getpid(), SIGUSR1);
		break;
	case 2 ... 3:
		setitimer(ITIMER_REAL, &often, NULL);
		break;
	default:
		sigfillset(&set);
		sigdelset(&set, SIGALRM);
		sigprocmask(arg[1] & 1 ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	}
}

/* Has the kernel kill us some time later, whatever is under way then. */
void step_kill(struct actor *actor, const uint32_t *arg)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec at = { .it_value.tv_nsec = 1 + arg[0] % 3000000 };
	timer_t timer;

	(void)actor;
	if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
		timer_settime(timer, 0, &at, NULL);
}

/* Installs a filter: all is allowed, or one call is denied. */
void step_filter(struct actor *actor, const uint32_t *arg)
{
	static const uint32_t actions[] = { SECCOMP_RET_ALLOW,	   SECCOMP_RET_ERRNO | 1,
					    SECCOMP_RET_ERRNO | 1, SECCOMP_RET_TRAP,
					    SECCOMP_RET_LOG,	   SECCOMP_RET_KILL_THREAD };
	const char *letters;
	uint32_t number = arg[0] & 0x100 ? SYS_ioctl : (uint32_t)call_number(arg[1], &letters);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, actions[arg[0] % COUNT(actions)]),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(filter), filter };

	(void)actor;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if ((arg[0] & 0xf000) == 0x3000)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			arg[2] & 1 ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program);
}

void step_rights(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	switch (arg[0] % 6) {
	case 0:
		syscall(SYS_unshare, CLONE_NEWUSER);
		break;
	case 1:
		syscall(SYS_unshare, CLONE_FILES);
		break;
	case 2:
		syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS);
		break;
	case 3:
		prctl(PR_SET_DUMPABLE, arg[1] & 1);
		break;
	case 4:
		syscall(SYS_setresuid, -1, getuid(), getuid());
		break;
	default:
		syscall(SYS_close_range, 3 + arg[1] % 30, 3 + arg[2] % 60, 0);
	}
}

/* Reads what the kernel tells of the process. */
void step_look(struct actor *actor, const uint32_t *arg)
{
	static const char *const names[] = { "smaps",	"maps",	 "numa_maps",
					     "pagemap", "stack", "syscall" };
	char path[64], text[2048];
	int fd, reads = 40;

	(void)actor;
	if (arg[0] & 8)
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", value_descriptor(arg[1]));
	else
		snprintf(path, sizeof(path), "/proc/self/%s", names[arg[0] % COUNT(names)]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && reads-- && read(fd, text, sizeof(text)) > 0)
		;
	if (fd >= 0)
		close(fd);
}

void step_exec(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	if (!(arg[0] & 3))
		execl("/proc/self/exe", "fuzz_module", "--nothing", NULL);
	else if (!(arg[0] & 12))
		_exit(VERDICT_FINE);
}
