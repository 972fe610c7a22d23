// SPDX-License-Identifier: MIT
/*
 * shells_test.c OTHER - checks that the shells that libc starts are left alone, as are other
 * programs.  Run with --alone; OTHER is a library that is preloaded besides, or nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "check.h"

#define COUNT "grep -c libcosy-run /proc/$$/maps"

static const char *other;

/* Checks what is said of a shell: how many mappings of the library it has, and LD_PRELOAD. */
static void is_alone(const char *said)
{
	char want[100];

	snprintf(want, sizeof(want), "0:%s", other);
	if (!strncmp(said, want, strlen(want)))
		return;
	fprintf(stderr, "'%s', not '%s'\n", said, want);
	exit(1);
}

static void shells(void)
{
	char said[200] = "";
	FILE *shell = popen("echo $(" COUNT "):$LD_PRELOAD", "r");
	wordexp_t words;

	CHECK(shell && fgets(said, sizeof(said), shell));
	pclose(shell);
	is_alone(said);
	CHECK(!wordexp("$(echo $(" COUNT "):$LD_PRELOAD)", &words, 0) && words.we_wordc == 1);
	is_alone(words.we_wordv[0]);
	wordfree(&words);
	CHECK(system("test $(" COUNT ") = 0") == 0);
}

/* The program's own environment is as it was. */
static void environment_is(const char *preloaded)
{
	CHECK(getenv("LD_PRELOAD") && !strcmp(getenv("LD_PRELOAD"), preloaded));
	CHECK(getenv("HOME") && getenv("PATH"));
}

static char *counts[] = {"sh", "-c", "test $(" COUNT ") = 0", NULL};

/* The library is not told that there is no environment at all. */
static void no_environment_stays_none(void)
{
	char *const *volatile none = NULL;
	int fd = open("/bin/sh", O_PATH | O_CLOEXEC), status;
	pid_t child = fork();

	if (!child)
		_exit(fexecve(fd, counts, none) == -1 && errno == EINVAL ? 7 : 1);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	CHECK(!posix_spawn(&child, "/bin/sh", NULL, NULL, counts, none));
	CHECK(waitpid(child, &status, 0) == child && !status);
	close(fd);
}

enum { MANY = 12000, STARTS = 4 };

extern char **environ;
static char *many[MANY + 1000];

/* Starts shells with so many variables that the stack of a small thread has no room for a list. */
static void *start_with_many(void *unused)
{
	for (int i = 0; i < STARTS; i++) {
		pid_t child;
		int status;

		CHECK(!posix_spawn(&child, "/bin/sh", NULL, NULL, counts, many));
		CHECK(waitpid(child, &status, 0) == child && !status);
		child = vfork();
		if (!child) {
			execve("/no/such/shell", counts, many);
			execve("/bin/sh", counts, many);
			_exit(1);
		}
		CHECK(waitpid(child, &status, 0) == child && !status);
	}
	return unused;
}

/* Returns the pages of addresses that the process has taken. */
static long pages(void)
{
	char text[100] = "";
	int fd = open("/proc/self/statm", O_RDONLY);

	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atol(text);
}

/* A child of a vfork cannot give back what it took, since its exec is the last that it does. */
static void small_stacks_are_enough(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int count = 0;
	long before = 0;

	for (; environ[count]; count++)
		many[count] = environ[count];
	for (int i = 0; i < MANY; i++)
		many[count + i] = "AAAAAAAA=B";
	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstacksize(&attributes, 32768));
	for (int i = 0; i < 3; i++) {
		CHECK(!pthread_create(&thread, &attributes, start_with_many, NULL));
		CHECK(!pthread_join(thread, NULL));
		CHECK(!before || pages() == before);
		before = pages();
	}
}

static void *run_shells(void *unused)
{
	for (int i = 0; i < 5; i++)
		shells();
	return unused;
}

int main(int argc, char **argv)
{
	static char preloaded[1000];
	pthread_t threads[2];

	other = argc > 1 ? argv[1] : "";
	CHECK(getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "libcosy-run"));
	strcpy(preloaded, getenv("LD_PRELOAD"));
	shells();
	environment_is(preloaded);
	no_environment_stays_none();
	small_stacks_are_enough();
	/* The last of several that overlap puts it back. */
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, run_shells, NULL));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
	environment_is(preloaded);
	CHECK(!unsetenv("LD_PRELOAD"));
	CHECK(system("test $(" COUNT ") = 0") == 0);
	CHECK(!getenv("LD_PRELOAD"));
	return 0;
}
