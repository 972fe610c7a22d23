// SPDX-License-Identifier: MIT
/* settings_test.c - tests where libcosy's messages go when a program closes standard error. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/settings.h"

#include "check.h"

/* What a program does with its descriptors before libcosy prints. */
enum closing { CLOSES_NONE, CLOSES_STDERR, REUSES_STDERR, CLOSES_ALL };

/* Prints a message as libcosy does at the end.  Exits with the bytes that a file of its own has got. */
static void child(int stderr_pipe, enum closing closing)
{
	int data = -1;

	setenv("COSY_STATS", "1", 1);
	dup2(stderr_pipe, STDERR_FILENO);
	close(stderr_pipe);
	libcosy_settings_init();
	if (closing != CLOSES_NONE)
		close(STDERR_FILENO);
	if (closing == CLOSES_ALL)
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	if (closing == REUSES_STDERR) {
		char name[] = "/tmp/cosy-settings-XXXXXX";

		data = mkstemp(name);
		unlink(name);
	}
	libcosy_say("a message");
	_exit(data < 0 ? 0 : (int)lseek(data, 0, SEEK_END));
}

/* Returns whether the message came out on what was standard error; `*leaked`: bytes elsewhere. */
static int said(enum closing closing, int *leaked)
{
	char text[64] = "";
	int ends[2], status;
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	if (!pid) {
		close(ends[0]);
		child(ends[1], closing);
	}
	close(ends[1]);
	CHECK(read(ends[0], text, sizeof(text) - 1) >= 0);
	close(ends[0]);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	*leaked = WEXITSTATUS(status);
	return !strcmp(text, "cosy: a message\n");
}

int main(void)
{
	int leaked;

	CHECK(said(CLOSES_NONE, &leaked) && !leaked);
	CHECK(said(CLOSES_STDERR, &leaked) && !leaked);
	CHECK(said(REUSES_STDERR, &leaked) && !leaked);
	CHECK(!said(CLOSES_ALL, &leaked) && !leaked);
	return check_result();
}
