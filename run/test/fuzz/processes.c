// SPDX-License-Identifier: MIT
/* processes.c - makes calls that share a descriptor with another process, or end this one. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fuzz.h"

extern char **environ;

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void same_position(void)
{
	BOTH(lseek(mine, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR));
}

/* Forks a child whose reads move the parent's position, and which ends in every way there is. */
void do_fork(void)
{
	size_t len = some_length();
	int end = chance(4);
	pid_t pid = fork();

	if (!pid) {
		if (chance(2))
			same_bytes(BOTH(read(mine, a, len), RAW(read, theirs, b, len)));
		if (chance(2))
			do_reads();
		if (chance(2))
			close(mine);
		/* Leave this out where other threads may have locks and buffers. */
		if (end == 0 && threads == 1)
			exit(7);
		if (end == 1)
			_Exit(7);
		if (end == 2)
			RAW(exit_group, 7);
		_exit(7);
	}
	same(WEXITSTATUS(status_of(pid)), 7, "a child's status");
	same_position();
	do_read();
}

void do_vfork(void)
{
	size_t len = some_length();
	pid_t pid = vfork();

	if (!pid) {
		RAW(read, mine, a, len);
		RAW(read, theirs, b, len);
		close(theirs);
		close(mine);
		_exit(7);
	}
	same(WEXITSTATUS(status_of(pid)), 7, "a child's status");
	same_position();
	do_read();
}

/* Starts a program that reads from standard input what `theirs` then has to skip. */
void do_spawn(void)
{
	char count[20], *argv[] = {"head", "-c", count, NULL};
	posix_spawn_file_actions_t actions;
	int null = open("/dev/null", O_WRONLY), len = chance(900);
	pid_t pid;

	snprintf(count, sizeof(count), "%d", len);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, mine, 0);
	posix_spawn_file_actions_adddup2(&actions, null, 1);
	/* It complains if a position is beyond any file. */
	posix_spawn_file_actions_adddup2(&actions, null, 2);
	same(posix_spawnp(&pid, "head", &actions, NULL, argv, environ), 0, "posix_spawnp");
	posix_spawn_file_actions_destroy(&actions);
	close(null);
	same(WIFEXITED(status_of(pid)), 1, "a child's status");
	/* head moves back by what it has read too much, unless the file is at its end. */
	RAW(lseek, theirs, RAW(lseek, mine, 0, SEEK_CUR), SEEK_SET);
	same_position();
	do_reads();
}

/* The position must be the kernel's when the shell starts. */
void do_system(void)
{
	char command[120];
	long want;

	snprintf(command, sizeof(command),
		 "read x </proc/$PPID/fdinfo/%d; exit $(( ${x##*:} %% 251 ))", mine);
	want = RAW(lseek, theirs, 0, SEEK_CUR) % 251;
	same(WEXITSTATUS(system(command)), want, "the position that a child sees");
}

void do_popen(void)
{
	char command[120];
	FILE *stream;

	fcntl(mine, F_SETFD, 0);
	snprintf(command, sizeof(command), "cat /proc/self/fdinfo/%d | head -n 1", mine);
	stream = popen(command, "r");
	memset(a, 0, 100);
	same(fgets(a, 100, stream) != NULL, 1, "what popen gave");
	pclose(stream);
	same(atol(a + strlen("pos:")), RAW(lseek, theirs, 0, SEEK_CUR),
	     "the position that a child sees");
	do_read();
}

/* Execs this very program, which goes on: see main.c. */
void do_exec(void)
{
	static const struct itimerval never;
	const long numbers[] = {mine, theirs, mode,  writer_commands,	 writer_answers,
				size, step,   steps, (long)chance_state, seed};
	char words[10][24], *argv[RESUMED + 1] = {"run_fuzz", "--resume", path};
	int way = chance(4), self;

	if (threads > 1)
		return;
	do_reads();
	for (int i = 0; i < 10; i++) {
		snprintf(words[i], sizeof(words[i]), "%ld", numbers[i]);
		argv[3 + i] = words[i];
	}
	fcntl(mine, F_SETFD, 0);
	/* Its signal would have no handler after the exec. */
	setitimer(ITIMER_REAL, &never, NULL);
	switch (way) {
	case 0:
		execve("/proc/self/exe", argv, environ);
		break;
	case 1:
		execvp("/proc/self/exe", argv);
		break;
	case 2:
		self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		fexecve(self, argv, environ);
		break;
	default:
		execv("/proc/self/exe", argv);
	}
	same(errno, 0, "exec's errno");
}

void resume(char **argv)
{
	snprintf(path, sizeof(path), "%s", argv[0]);
	mine = atol(argv[1]);
	theirs = atol(argv[2]);
	mode = atol(argv[3]);
	writer_commands = atol(argv[4]);
	writer_answers = atol(argv[5]);
	size = atol(argv[6]);
	step = atol(argv[7]);
	steps = atol(argv[8]);
	chance_state = atol(argv[9]);
	seed = atol(argv[10]);
}

void do_exec_nothing(void)
{
	char *argv[] = {"nothing", NULL};

	same(execv("/no/such/program", argv), -1, "an exec of nothing");
	same(execlp("no-such-program", "nothing", NULL), -1, "an exec of nothing");
	same_position();
	do_reads();
}

void do_pass(void)
{
	int pair[2], fd = mine, got;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {0};
	struct iovec byte = {"x", 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	struct mmsghdr messages = {0};
	char received;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	messages.msg_hdr = message;
	if (chance(2))
		same(sendmsg(pair[0], &message, 0), 1, "sendmsg");
	else
		same(sendmmsg(pair[0], &messages, 1, 0), 1, "sendmmsg");
	byte.iov_base = &received;
	same(recvmsg(pair[1], &message, 0), 1, "recvmsg");
	memcpy(&got, CMSG_DATA(&control.header), sizeof(got));
	same(lseek(got, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR), "the position passed on");
	same(RAW(read, got, a, 10), RAW(read, theirs, b, 10), "a read by the receiver");
	close(got);
	close(pair[0]);
	close(pair[1]);
	do_read();
}
