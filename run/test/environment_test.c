// SPDX-License-Identifier: MIT
/*
 * environment_test.c - checks that rules hold when the environment is gone.  Run with a rule that
 * switches files off whose name ends with ".off", and COSY_RUN_EAGER=1.
 *
 * environment_test.c --reads OFF ON: reads both, and says by its status which got a lease.  Whoever
 * starts it leaves no variable of `cosy run` in the environment, so it finds none.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"

/* Statuses of a process that read both files: neither got a lease, or only the second, as ruled. */
enum { NEITHER = 20, AS_RULED = 22 };

static char self[PATH_MAX], preload[2 * PATH_MAX] = "LD_PRELOAD=", off[100], on[100];
static char *arguments[] = {self, "--reads", off, on, NULL};

static void make_file(char *path, const char *dir, const char *kind)
{
	int fd;

	snprintf(path, sizeof(off), "%s/cosy-run-environment.%d.%s", dir ? dir : "/tmp", getpid(),
		 kind);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	for (int i = 0; i < 100; i++)
		CHECK(write(fd, "x", 1) == 1);
	close(fd);
}

static void remove_files(void)
{
	unlink(off);
	unlink(on);
}

static bool gets_lease(const char *path)
{
	int fd = open(path, O_RDONLY);
	bool leased;
	char byte;

	CHECK(fd >= 0);
	for (int i = 0; i < 60; i++)
		CHECK(read(fd, &byte, 1) == 1);
	leased = RAW(fcntl, fd, F_GETLEASE) == F_RDLCK;
	close(fd);
	return leased;
}

static int read_both(const char *first, const char *second)
{
	return NEITHER + gets_lease(first) + 2 * gets_lease(second);
}

static void status_is(int want, const char *what, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == want)
		return;
	fprintf(stderr, "%s: status 0x%x, not %d\n", what, status, want);
	exit(1);
}

/* Checks that `exec` in a child starts a program that reads both files. */
#define RUNS(want, exec)                                                                           \
	do {                                                                                       \
		pid_t child_ = fork();                                                             \
		int status_;                                                                       \
                                                                                                   \
		if (!child_) {                                                                     \
			(exec);                                                                    \
			_exit(1);                                                                  \
		}                                                                                  \
		CHECK(waitpid(child_, &status_, 0) == child_);                                     \
		status_is(want, #exec, status_);                                                   \
	} while (0)

/* Checks the same of a call that makes the child itself. */
#define SPAWNS(want, spawn)                                                                        \
	do {                                                                                       \
		pid_t child_;                                                                      \
		int status_;                                                                       \
                                                                                                   \
		CHECK(!(spawn));                                                                   \
		CHECK(waitpid(child_, &status_, 0) == child_);                                     \
		status_is(want, #spawn, status_);                                                  \
	} while (0)

/* Makes a list of arguments NULL, unseen by the compiler. */
static char *const *volatile no_list;

/* A list of arguments may be missing, or empty: then there is no name of a program in it. */
static void programs_without_arguments(char *const kept[])
{
	int fd = open("/bin/true", O_PATH | O_CLOEXEC);
	char *const empty[] = {NULL};

	CHECK(fexecve(fd, no_list, kept) == -1 && errno == EINVAL);
	RUNS(0, execve("/bin/true", no_list, kept));
	RUNS(0, execv("/bin/true", no_list));
	RUNS(0, execveat(AT_FDCWD, "/bin/true", no_list, kept, 0));
	RUNS(0, fexecve(fd, empty, kept));
	RUNS(0, execve("/bin/true", empty, kept));
	RUNS(0, execvpe("true", empty, kept));
	SPAWNS(0, posix_spawn(&child_, "/bin/true", NULL, NULL, empty, kept));
	close(fd);
}

/* Counts the variables of `cosy run`, but for LD_PRELOAD. */
static int variables(char *const list[])
{
	int count = 0;

	for (; *list; list++)
		count += !strncmp(*list, "COSY", 4);
	return count;
}

enum { MANY = 12000 };

/* A thread's stack may have no room for a list of so many variables. */
static void *start_with_many(void *unused)
{
	static char *many[MANY + 2] = {preload};

	for (int i = 1; i <= MANY; i++)
		many[i] = "AAAAAAAA=B";
	SPAWNS(AS_RULED, posix_spawn(&child_, self, NULL, NULL, arguments, many));
	return unused;
}

static void programs_with_many_variables(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstacksize(&attributes, 32768));
	CHECK(!pthread_create(&thread, &attributes, start_with_many, NULL));
	CHECK(!pthread_join(thread, NULL));
}

static void programs(void)
{
	char *const *argv = arguments;
	char *const kept[] = {preload, "HOME=/", NULL}, *const empty[] = {NULL};
	int fd = open(self, O_PATH | O_CLOEXEC);
	char command[4 * PATH_MAX];
	FILE *pipe;

	CHECK(fd >= 0);
	/* Leave nothing of the library. */
	RUNS(NEITHER, execve(self, argv, empty));
	RUNS(NEITHER, execle(self, self, "--reads", off, on, NULL, empty));
	SPAWNS(NEITHER, posix_spawn(&child_, self, NULL, NULL, argv, empty));
	/* Leave the library. */
	RUNS(AS_RULED, execve(self, argv, kept));
	RUNS(AS_RULED, execvpe(self, argv, kept));
	RUNS(AS_RULED, execveat(AT_FDCWD, self, argv, kept, 0));
	RUNS(AS_RULED, fexecve(fd, argv, kept));
	RUNS(AS_RULED, execle(self, self, "--reads", off, on, NULL, kept));
	SPAWNS(AS_RULED, posix_spawn(&child_, self, NULL, NULL, argv, kept));
	SPAWNS(AS_RULED, posix_spawnp(&child_, self, NULL, NULL, argv, kept));
	clearenv();
	RUNS(NEITHER, execv(self, argv));
	CHECK(!putenv(preload));
	RUNS(AS_RULED, execv(self, argv));
	RUNS(AS_RULED, execvp(self, argv));
	RUNS(AS_RULED, execl(self, self, "--reads", off, on, NULL));
	RUNS(AS_RULED, execlp(self, self, "--reads", off, on, NULL));
	snprintf(command, sizeof(command), "exec '%s' --reads '%s' '%s'", self, off, on);
	status_is(AS_RULED, "system", system(command));
	CHECK(variables(environ) == 0);
	clearenv();
	putenv(preload);
	pipe = popen(command, "r");
	CHECK(pipe && variables(environ) == 0);
	status_is(AS_RULED, "popen", pclose(pipe));
	programs_without_arguments(kept);
	programs_with_many_variables();
}

int main(int argc, char **argv, char **envp)
{
	bool reads = argc > 1 && !strcmp(argv[1], "--reads");
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(len > 0);
	if (reads) {
		CHECK(variables(envp) == 0);
		return read_both(argv[2], argv[3]);
	}
	CHECK(getenv("LD_PRELOAD"));
	strncat(preload, getenv("LD_PRELOAD"), sizeof(preload) - 20);
	make_file(off, getenv("TMPDIR"), "off");
	make_file(on, getenv("TMPDIR"), "on");
	atexit(remove_files);
	/* Does what programs do that show their progress in the place of their arguments. */
	for (char **at = envp; *at; at++)
		memset(*at, 'x', strlen(*at));
	memset(argv[0], 'x', strlen(argv[0]));
	clearenv();
	CHECK(read_both(off, on) == AS_RULED);
	programs();
	return 0;
}
