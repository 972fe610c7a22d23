/* SPDX-License-Identifier: MIT */
/*
 * Regions whose calls no specialised version can make: they are given up after some RUNs, and those
 * whose calls are made by one are not.  Results are those of the calls throughout.
 */
#include "again.h"
#include "guards.h"
#include <sys/wait.h>

#define ENTRIES 3000

/* A link on the way is followed by the kernel's own call. */
static const char linked[] = "link/x";

/* Asks for attributes by two names, 0 if both are there. */
static long ask(const char *one, const char *two)
{
	struct stat st[2];
	long failed = 0;

	COSY_START;
	failed += stat(one, &st[0]);
	failed += stat(two, &st[1]);
	COSY_END;
	return failed || st[0].st_ino != st[1].st_ino;
}

/* Does the same; each region has a balance of its own. */
static long ask_again(const char *one, const char *two)
{
	struct stat st[2];
	long failed = 0;

	COSY_START;
	failed += stat(one, &st[0]);
	failed += stat(two, &st[1]);
	COSY_END;
	return failed || st[0].st_ino != st[1].st_ino;
}

/*
 * Asks for attributes `n` times, and writes to a stream every `each` times: the region is left for
 * that and entered again.
 */
static long ask_and_tell(const char *name, int n, int each, FILE *stream)
{
	long failed = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		struct stat st;

		failed += stat(name, &st);
		if (i % each == 0)
			failed += fputc('x', stream) != 'x';
	}
	COSY_END;
	return failed;
}

/* Does the same, with a balance of its own. */
static long ask_and_tell_seldom(const char *name, int n, int each, FILE *stream)
{
	long failed = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		struct stat st;

		failed += stat(name, &st);
		if (i % each == 0)
			failed += fputc('x', stream) != 'x';
	}
	COSY_END;
	return failed;
}

/*
 * Puts a hundred names together and asks for them: by way of the link but for one, so that the
 * strings cost more than the crossings save.
 */
static long ask_spelled(const char *name)
{
	static const char *const directories[] = { "link", "." };
	long failed = 0;

	COSY_START;
	for (int i = 0; i < 100; i++) {
		const char *directory = directories[i == 50];
		size_t length = strlen(directory), more = strlen(name) + 1;
		char path[64];
		struct stat st;

		if (length + more < sizeof(path)) {
			memcpy(path, directory, length);
			path[length] = '/';
			memcpy(path + length + 1, name, more);
			failed += stat(path, &st) != 0;
		}
	}
	COSY_END;
	return failed;
}

static unsigned long long calls_spelled(void)
{
	struct cosy_stats before = counts();
	long failed = 0;

	for (int i = 0; i < ENTRIES / 10; i++)
		failed += ask_spelled("x");
	CHECK(!failed, "%ld failed", failed);
	return counts().calls - before.calls;
}

static unsigned long long calls_told(long (*region)(const char *, int, int, FILE *), int each)
{
	FILE *stream = fopen("told", "w");
	struct cosy_stats before = counts();
	struct stat st;

	MUST(stream);
	CHECK(!region("x", ENTRIES, each, stream), "a call failed, each %d", each);
	MUST(!fclose(stream) && !stat("told", &st));
	CHECK(st.st_size == (ENTRIES + each - 1) / each, "%lld told, each %d",
	      (long long)st.st_size, each);
	return counts().calls - before.calls;
}

static unsigned long long calls_of(long (*region)(const char *, const char *), const char *name)
{
	struct cosy_stats before = counts();
	long failed = 0;

	for (int i = 0; i < ENTRIES; i++)
		failed += region(name, name);
	CHECK(!failed, "%s: %ld failed", name, failed);
	return counts().calls - before.calls;
}

static void with_tiers(void)
{
	unsigned long long calls;

	/* By way of a link is no name that the module knows. */
	calls = calls_of(ask, linked);
	CHECK(calls > 40 && calls < 2 * ENTRIES - 1000, "%llu calls by a path in the kernel",
	      calls);
	calls = calls_of(ask, linked);
	CHECK(!calls, "%llu calls by a path in the kernel, given up", calls);
	/* The module knows these. */
	calls = calls_of(ask_again, "x");
	CHECK(calls > 2 * ENTRIES - 100, "%llu calls by a name in the kernel", calls);
	calls = calls_of(ask_again, "./x");
	CHECK(calls == 2 * ENTRIES, "%llu calls by ./x in the kernel", calls);
	calls = calls_spelled();
	CHECK(calls > 40 && calls < 10 * ENTRIES / 2, "%llu calls by names put together", calls);
	/* It is left for a stream after each call, and after a hundred. */
	calls = calls_told(ask_and_tell, 1);
	CHECK(calls > 40 && calls < ENTRIES - 1000, "%llu calls, left after each", calls);
	calls = calls_told(ask_and_tell, 1);
	CHECK(!calls, "%llu calls, given up", calls);
	calls = calls_told(ask_and_tell_seldom, 100);
	CHECK(calls > ENTRIES - 100, "%llu calls, left after a hundred", calls);
}

int main(int argc, char **argv)
{
	const char *tier = getenv("COSY_TIER");
	int fd;

	(void)argc;
	if (!kernel_expected())
		SKIP("no region runs in the kernel here");
	MUST((fd = open("x", O_CREAT | O_WRONLY, 0644)) >= 0 && !close(fd));
	MUST(!symlink(".", "link") || errno == EEXIST);
	if (tier && !strcmp(tier, "1")) {
		with_tiers();
		return check_end();
	}
	/* Who wants every region in the kernel is not contradicted. */
	CHECK(calls_of(ask, linked) == 2 * ENTRIES, "given up in spite of COSY_TIER=always");
	run_again(argv);
	unlink("x");
	unlink("link");
	return check_end();
}
