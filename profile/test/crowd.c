// SPDX-License-Identifier: MIT
/*
 * crowd.c - makes many calls, or many processes.
 *
 *   crowd flood N	says "ready", waits for a line of input, makes N times getppid, says "done"
 *   crowd forks N	N children in turn, each of which calls getuid and ends
 *   crowd others N	the same with getgid
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int crowd_flood(int n)
{
	if (write(STDOUT_FILENO, "ready\n", 6) != 6 || getchar() == EOF)
		return 1;
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
	return write(STDOUT_FILENO, "done\n", 5) != 5;
}

static int crowd_fork(int n, int nr)
{
	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			syscall(nr);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (n > 0 && !strcmp(argv[1], "flood"))
		return crowd_flood(n);
	if (n > 0 && !strcmp(argv[1], "forks"))
		return crowd_fork(n, SYS_getuid);
	if (n > 0 && !strcmp(argv[1], "others"))
		return crowd_fork(n, SYS_getgid);
	return 2;
}
