// SPDX-License-Identifier: MIT
/*
 * inherited_test.c - a program is started under a filter that ends each process which calls prctl(2),
 * as it does in some sandboxes.  The library may not call it, neither at the start nor when a file gets
 * a window.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../tests/filter_arm.h"
#include "specialised.h"

static int read_file(void)
{
	int fd;

	path_make("inherited");
	fd = open(path, O_RDONLY);
	read_on(fd, 0, READS);
	close(fd);
	unlink(path);
	return 0;
}

int main(int argc, char **argv)
{
	char *again[] = {argv[0], "again", NULL};
	int status;
	pid_t pid;

	if (argc > 1)
		return read_file();
	pid = fork();
	if (!pid) {
		CHECK(!filter_arm(SYS_prctl, SECCOMP_RET_KILL_PROCESS, 0));
		execv(again[0], again);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		fprintf(stderr, "signal %d\n", WTERMSIG(status));
	CHECK(!status);
	return 0;
}
