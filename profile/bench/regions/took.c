// SPDX-License-Identifier: MIT
/* took.c - prints the us of processor time of a command and its children: took COMMAND... */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long time_us(struct timeval time)
{
	return time.tv_sec * 1000000 + time.tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid = argc > 1 ? fork() : -1;

	if (!pid) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 1;
	fprintf(stderr, "@ took %ld\n", time_us(usage.ru_utime) + time_us(usage.ru_stime));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
