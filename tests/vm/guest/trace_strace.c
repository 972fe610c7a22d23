/* SPDX-License-Identifier: MIT */
/*
 * Checks that strace sees every call of a region: started with the program, and attached in the
 * middle.
 */
#include "check.h"
#include <libgen.h>

static char target[256];

struct sight {
	long first, last, calls, gaps, end;
};

/* Reads the output of strace; end is the number that the target itself reports, or -1. */
static struct sight sight_read(const char *path)
{
	struct sight sight = { .end = -1 };
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f)
		return sight;
	while (fgets(line, sizeof(line), f)) {
		char *call = strstr(line, "lseek(");
		int fd;
		long i;

		if (!call || sscanf(call, "lseek(%d, %ld", &fd, &i) != 2)
			continue;
		if (fd == -2)
			sight.end = i;
		if (fd != -1)
			continue;
		if (!sight.calls++)
			sight.first = i;
		else if (i != sight.last + 1)
			sight.gaps++;
		sight.last = i;
	}
	fclose(f);
	return sight;
}

static pid_t spawn(int out, char **argv)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		if (out >= 0)
			dup2(out, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static bool have_strace(void)
{
	char *argv[] = { "strace", "-V", NULL };
	int null = open("/dev/null", O_WRONLY), status;
	pid_t pid = spawn(null, argv);

	MUST(waitpid(pid, &status, 0) == pid);
	close(null);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void from_the_start(void)
{
	char *argv[] = { "strace", "-f", "-o", "trace", target, "300", NULL };
	struct sight sight;
	int status;
	pid_t pid = spawn(-1, argv);

	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	sight = sight_read("trace");
	CHECK(sight.calls == 300 && sight.first == 0 && !sight.gaps && sight.end == 300,
	      "from the start: %ld calls, first %ld, %ld gaps, end %ld", sight.calls, sight.first,
	      sight.gaps, sight.end);
	unlink("trace");
}

static void in_the_middle(void)
{
	char pid_text[16], *run[] = { target, "0", "end", NULL };
	char *attach[] = { "strace", "-f", "-q", "-o", "trace", "-p", pid_text, NULL };
	struct sight sight;
	int wire[2], status, end, turns = 0;
	pid_t pid, strace;
	char c;

	MUST(!pipe2(wire, O_CLOEXEC));
	pid = spawn(wire[1], run);
	close(wire[1]);
	while (turns < 20 && read(wire[0], &c, 1) == 1)
		turns++;
	CHECK(turns == 20, "in the middle: the target ended early");
	snprintf(pid_text, sizeof(pid_text), "%d", pid);
	strace = spawn(-1, attach);
	while (!has_ended(pid) && sight_read("trace").calls < 100) {
		char rest[64];

		MUST(!fcntl(wire[0], F_SETFL, O_NONBLOCK));
		while (read(wire[0], rest, sizeof(rest)) > 0) /* the target never waits for us */
			;
		sleep_ms(20);
	}
	end = creat("end", 0600);
	MUST(end >= 0);
	close(end);
	MUST(!fcntl(wire[0], F_SETFL, 0));
	while (read(wire[0], &c, 1) == 1)
		;
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	MUST(waitpid(strace, &status, 0) == strace);
	sight = sight_read("trace");
	printf("attached before call %ld of %ld\n", sight.first, sight.end);
	CHECK(sight.calls >= 100 && !sight.gaps, "in the middle: %ld calls seen, %ld gaps",
	      sight.calls, sight.gaps);
	CHECK(sight.first >= 1000, "in the middle: attached at call %ld already", sight.first);
	CHECK(sight.end == sight.last + 1, "in the middle: the last call seen is %ld, made %ld",
	      sight.last, sight.end - 1);
	unlink("trace");
	unlink("end");
}

int main(void)
{
	char self[200];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	MUST(len > 0);
	self[len] = 0;
	snprintf(target, sizeof(target), "%s/trace_target", dirname(self));
	if (!have_strace())
		SKIP("there is no strace here");
	directory_enter();
	from_the_start();
	in_the_middle();
	directory_leave();
	return check_end();
}
