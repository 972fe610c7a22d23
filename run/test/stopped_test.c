// SPDX-License-Identifier: MIT
/*
 * stopped_test.c - stops a program with a window for so long that the kernel takes its lease away
 * and lets a writer in.  When it goes on it must read what was written.  For root, on a machine
 * where nobody else minds that leases are taken sooner.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "check.h"
#include "parent.h"
#include "raw.h"

#define READS  100
#define ROUNDS 3

static char path[200];

static int writer(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (char round = 1; round <= ROUNDS; round++) {
		int fd;

		while (parent_state() != 'T')
			usleep(1000);
		fd = RAW(openat, AT_FDCWD, path, O_WRONLY);
		CHECK(fd >= 0 && RAW(pwrite64, fd, &round, 1, (long)READS) == 1);
		RAW(close, fd);
		CHECK(!kill(getppid(), SIGCONT));
	}
	return 0;
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	FILE *time = fopen("/proc/sys/fs/lease-break-time", "w");
	int status = -1;
	pid_t child;

	CHECK(time && fputs("2", time) >= 0 && !fclose(time));
	snprintf(path, sizeof(path), "%s/cosy-run-stopped.%d", dir ? dir : "/tmp", getpid());
	CHECK(!close(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600)) && !truncate(path, 10000));
	child = fork();
	if (!child)
		_exit(writer());
	for (char round = 1; round <= ROUNDS; round++) {
		int fd = open(path, O_RDONLY);
		char byte = -1;

		for (int i = 0; i < READS; i++)
			CHECK(read(fd, &byte, 1) == 1 && !byte);
		CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
		raise(SIGSTOP);
		CHECK(read(fd, &byte, 1) == 1 && byte == round);
		close(fd);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	unlink(path);
	return 0;
}
