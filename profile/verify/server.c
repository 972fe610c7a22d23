// SPDX-License-Identifier: MIT
/* server.c - see server.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/signals.h"
#include "verify/server.h"

#define PATIENCE 60 /* s for a server to end */

void server_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void nap(long milliseconds)
{
	struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void children_signal(int signal)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	if (!file)
		return;
	while (fscanf(file, "%d", &pid) == 1)
		kill(pid, signal);
	fclose(file);
}

double server_end(void)
{
	double ns = 0;

	for (int waited = 0;; waited++) {
		struct rusage usage;
		int status;
		pid_t pid;

		/* Signal again and again: some children have just become ours. */
		if (waited % 20 == 0)
			children_signal(waited < PATIENCE * 20 ? SIGTERM : SIGKILL);
		while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
			ns += usage.ru_utime.tv_sec * 1e9 + usage.ru_utime.tv_usec * 1e3 +
			      usage.ru_stime.tv_sec * 1e9 + usage.ru_stime.tv_usec * 1e3;
		if (pid < 0 && errno != EINTR)
			return ns;
		nap(50);
	}
}

/* Becomes a shell in a child, whose output is shown only if `loud`. */
static void shell(const char *command, bool loud)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!loud)
		dup2(null, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

int load_run(const char *command)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		shell(command, false);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Runs the load, in a process beside the recording. */
static void load_beside(const char *command, int to, pid_t parent)
{
	int status = -1;
	pid_t pid;

	setpgid(0, 0);
	signals_restore();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid = fork();
	if (!pid)
		shell(command, true);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (write(to, &status, sizeof(status)) < 0)
		_exit(1);
	/* Signal repeatedly: a signal between a check of the flag and a wait is missed. */
	while (getppid() == parent) {
		kill(parent, SIGALRM);
		nap(100);
	}
	_exit(0);
}

bool load_start(struct load *load)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	load->pid = fork();
	if (!load->pid)
		load_beside(load->command, ends[1], parent);
	if (load->pid > 0)
		setpgid(load->pid, load->pid);
	close(ends[1]);
	load->from = ends[0];
	return load->pid > 0;
}

int load_end(struct load *load)
{
	int status;

	if (fcntl(load->from, F_SETFL, O_NONBLOCK) ||
	    read(load->from, &status, sizeof(status)) != sizeof(status))
		status = -1;
	close(load->from);
	/* End it with all that it has started. */
	kill(-load->pid, SIGKILL);
	return status;
}
