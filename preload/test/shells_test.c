// SPDX-License-Identifier: MIT
/*
 * shells_test.c OTHER - checks that the shells that libc starts are left alone, as are other
 * programs.  Run with --alone; OTHER is a library that is preloaded besides, or nothing.
 */
#include <pthread.h>
#include <string.h>
#include <wordexp.h>

#include "check.h"

#define COUNT "grep -c libcosy-re /proc/$$/maps"

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
	CHECK(getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "libcosy-re"));
	strcpy(preloaded, getenv("LD_PRELOAD"));
	shells();
	environment_is(preloaded);
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
