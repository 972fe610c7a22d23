// SPDX-License-Identifier: MIT
/*
 * stack_test.c alone|threads [FILE] - checks that calls on descriptors need less than 2 KB of
 * stack, the first as well as the later ones, since coroutines and signal handlers may have small
 * stacks.  It makes each on a stack that was painted, in a process with one thread or with two.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "check.h"
#include "raw.h"

#define STACK	  32768
#define PAINT	  0xee
#define ROOM	  2048
#define LEN	  200000
#define MANY	  80
#define PREAD_LEN 300

static unsigned char stack[STACK] __attribute__((aligned(64)));
static ucontext_t here, there;
static char path[PATH_MAX];
static char buffer[PREAD_LEN];
static size_t most;
static int fd = -1;

/* The call to be made on the other stack, its result and its argument. */
static long (*call)(void);
static long result, count;

static void on_stack(void)
{
	result = call();
}

static size_t used_by(long (*what)(void))
{
	size_t left = 0;

	memset(stack, PAINT, sizeof(stack));
	call = what;
	CHECK(!getcontext(&there));
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, on_stack, 0);
	CHECK(!swapcontext(&here, &there));
	while (left < sizeof(stack) && stack[left] == PAINT)
		left++;
	return sizeof(stack) - left;
}

static long nothing(void)
{
	return 0;
}

static void check(const char *name, long (*what)(void), long want)
{
	size_t base = used_by(nothing), used = used_by(what) - base;

	if (result != want) {
		fprintf(stderr, "%s: %ld, not %ld\n", name, result, want);
		exit(1);
	}
	if (used > most)
		most = used;
	if (used > ROOM) {
		fprintf(stderr, "%s number %ld takes %zu bytes of stack\n", name, count, used);
		exit(1);
	}
}

static long call_open(void)
{
	fd = open(path, O_RDONLY);
	return fd >= 0;
}

static long call_openat(void)
{
	fd = openat(AT_FDCWD, path, O_RDONLY);
	return fd >= 0;
}

static long call_close(void)
{
	return close(fd);
}

static long call_read(void)
{
	return read(fd, buffer, count % 5 ? 1 : 32);
}

static long call_pread(void)
{
	return pread(fd, buffer, PREAD_LEN, count * 7919 % (LEN - PREAD_LEN));
}

static long call_seek(void)
{
	return lseek(fd, count * 4099 % LEN, SEEK_SET);
}

static long call_end(void)
{
	return lseek(fd, 0, SEEK_END);
}

static long call_bad_read(void)
{
	return read(-1, buffer, 1);
}

static long call_writer(void)
{
	return close(open(path, O_WRONLY | O_NONBLOCK));
}

static void *help(void *unused)
{
	pause();
	return unused;
}

static void make_file(const char *name)
{
	static char bytes[LEN];
	const char *dir = getenv("TMPDIR");
	int writer;

	if (name)
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%s/cosy-run-stack.%d", dir ? dir : "/tmp", getpid());
	writer = RAW(open, path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	CHECK(writer >= 0 && RAW(write, writer, bytes, LEN) == LEN);
	RAW(close, writer);
}

static void remove_file(void)
{
	unlink(path);
}

int main(int argc, char **argv)
{
	pthread_t helper;

	make_file(argc > 2 ? argv[2] : NULL);
	atexit(remove_file);
	if (argc > 1 && !strcmp(argv[1], "threads"))
		CHECK(!pthread_create(&helper, NULL, help, NULL));
	check("read of -1", call_bad_read, -1);
	check("open", call_open, 1);
	for (count = 1; count <= MANY; count++)
		check("read", call_read, count % 5 ? 1 : 32);
	/* Take its windows away; reads earn them again. */
	check("open for writing", call_writer, 0);
	for (; count <= 2 * MANY; count++)
		check("read", call_read, count % 5 ? 1 : 32);
	check("close", call_close, 0);
	check("openat", call_openat, 1);
	for (count = 1; count <= MANY; count++)
		check("lseek", call_seek, count * 4099 % LEN);
	check("lseek to the end", call_end, LEN);
	for (count = 1; count <= 3 * MANY; count++)
		check("pread", call_pread, PREAD_LEN);
	check("close", call_close, 0);
	printf("%zu bytes of stack at most\n", most);
	return 0;
}
