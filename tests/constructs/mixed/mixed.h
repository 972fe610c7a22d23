/* SPDX-License-Identifier: MIT */
/*
 * mixed.h - what the random programs of run.py share: types, arithmetic that is always defined, and
 * a main function that runs each program in a process and a folder of its own.
 *
 * A program is a function without arguments.  Everything that it did is printed: its output and its
 * messages, its exit status or signal, and the names, types, sizes and bytes of the files it left.
 */
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 38)
static __attribute__((unused)) size_t strlcpy(char *to, const char *from, size_t size)
{
	size_t length = strlen(from);

	if (size) {
		size_t n = length < size ? length : size - 1;

		memcpy(to, from, n);
		to[n] = 0;
	}
	return length;
}

static __attribute__((unused)) size_t strlcat(char *to, const char *from, size_t size)
{
	size_t length = strnlen(to, size);

	return length + strlcpy(to + length, from, size - length);
}
#endif

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long i64;
typedef unsigned long u64;

#define MAYBE static __attribute__((unused))

/* A record of the programs' arrays, lists and trees. */
struct record {
	i32 key;
	u16 tag;
	u32 low : 5, high : 9;
	i64 value;
	char name[12];
};

struct node {
	struct node *left, *next; /* a list has only next */
	struct record record;
};

typedef i64 visitor(i64 *sum, i64 value, const char *name);

/* How many more calls of its functions the program may make. */
static u32 Fuel = 400;

MAYBE u64 divide_unsigned(u64 a, u64 b)
{
	return b ? a / b : a;
}

MAYBE i64 divide_signed(i64 a, i64 b)
{
	return !b || (b == -1 && a == LONG_MIN) ? a : a / b;
}

MAYBE u64 rest_unsigned(u64 a, u64 b)
{
	return b ? a % b : a;
}

MAYBE i64 rest_signed(i64 a, i64 b)
{
	return !b || b == -1 ? 0 : a % b;
}

MAYBE u64 mix(u64 a, u64 b)
{
	return (a ^ (b << 7) ^ (b >> 9)) * 31 + b;
}

/* Returns a path in the program's folder: this one, unless it may lead out of there. */
MAYBE const char *inside(const char *path)
{
	return *path == '/' || strstr(path, "..") ? "a" : path;
}

/* The sign alone: by how much two texts differ is not specified. */
MAYBE int sign(int a)
{
	return (a > 0) - (a < 0);
}

MAYBE u64 hash_bytes(const void *bytes, size_t size)
{
	const u8 *at = bytes;
	u64 h = 5381;

	while (size--)
		h = h * 33 + *at++;
	return h;
}

static u64 hash_record(const struct record *r)
{
	return mix(mix(mix(r->key, r->tag), r->low * 512 + r->high),
		   mix(r->value, hash_bytes(r->name, 12)));
}

MAYBE void show(const char *name, u64 value)
{
	printf("%s %lx\n", name, value);
}

/* Prints a list or a tree, in order. */
MAYBE void show_nodes(const struct node *node, int depth)
{
	for (; node && depth < 400; node = node->next, depth++) {
		show_nodes(node->left, depth + 1);
		printf("node %d %lx\n", depth, hash_record(&node->record));
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sums of what libcosy counted in all programs. */
static u64 Interpreted, Runs, Kernel_calls, Native;

/* Prints what a program wrote to standard error, without libcosy's statistics. */
static void print_errors(char *bytes)
{
	char *stats = strstr(bytes, "cosy: stats:");
	u64 runs, kernel_calls, calls, native;

	if (stats &&
	    sscanf(stats,
		   "cosy: stats: regions=%*u runs=%lu kernel_calls=%lu fast=%*u interp_calls=%lu native=%lu",
		   &runs, &kernel_calls, &calls, &native) == 4) {
		Runs += runs;
		Kernel_calls += kernel_calls;
		Interpreted += calls;
		Native += native;
	}
	printf("\n%.*s--\n", (int)(stats ? stats - bytes : (i64)strlen(bytes)), bytes);
}

/* Prints what is in a folder, and removes it. */
static void report(const char *path, int depth)
{
	static char bytes[65536];
	char *name[512], at[512];
	int count = 0;
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)) && count < 512)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			name[count++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(name, count, sizeof(*name), by_text);
	for (int i = 0; i < count; i++) {
		snprintf(at, sizeof(at), "%s/%s", path, name[i]);
		if (lstat(at, &st))
			printf("%s is lost\n", name[i]);
		printf("%*s%s %o", depth * 2, "", name[i], st.st_mode);
		if (S_ISDIR(st.st_mode)) {
			putchar('\n');
			report(at, depth + 1);
		} else if (S_ISREG(st.st_mode)) {
			int fd = open(at, O_RDONLY);
			ssize_t n = read(fd, bytes, sizeof(bytes) - 1);

			close(fd);
			bytes[n < 0 ? 0 : n] = 0;
			if (!strcmp(name[i], "errors"))
				print_errors(bytes);
			else
				printf(" %lu %ld %lx\n", st.st_nlink, st.st_size,
				       hash_bytes(bytes, n));
		} else {
			ssize_t n = readlink(at, bytes, sizeof(bytes) - 1);

			printf(" -> %.*s\n", (int)n, bytes);
		}
		if (remove(at))
			printf("%s stays\n", name[i]);
		free(name[i]);
	}
}

static void make_file(const char *path, const char *text, int copies)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	while (copies--)
		if (write(fd, text, strlen(text)) < 0)
			_exit(120);
	close(fd);
}

/* Makes the files that every program begins with. */
static void make_files(int number)
{
	char name[32];

	mkdir("sub", 0755);
	mkdir("sub/deep", 0700);
	mkdir("empty", 0755);
	make_file("a", "alpha beta, gamma;\n42 -17 0x1f 077\n", 1 + number % 40);
	make_file("bb", "", 0);
	make_file("sub/c", "line one\nline two\n", 1 + number % 7);
	make_file("sub/deep/d", "k=v\n", 3);
	for (int i = 0; i < number % 13; i++) {
		snprintf(name, sizeof(name), "sub/deep/f%d", i);
		make_file(name, name, i);
	}
	/* Nothing changes this one. */
	mkdir("fixed", 0755);
	for (int i = 0; i < number % 50; i++) {
		snprintf(name, sizeof(name), "fixed/%.*s%d", number % 17, "a-rather-long-name", i);
		make_file(name, "", 0);
	}
	if (symlink("a", "link") || symlink("missing", "dangling") || symlink("loop", "loop") ||
	    symlink("sub", "way"))
		_exit(120);
}

static void run_program(i64 (*program)(void), int number, const char *folder)
{
	char inner[512];
	int status = 0, fd;
	pid_t child;

	snprintf(inner, sizeof(inner), "%s/p", folder);
	if (mkdir(folder, 0755) || mkdir(inner, 0755)) {
		printf("cannot make %s\n", folder);
		return;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		umask(022);
		if (chdir(inner))
			_exit(120);
		make_files(number);
		fd = open("errors", O_WRONLY | O_CREAT | O_APPEND, 0644);
		dup2(fd, 2);
		close(fd);
		alarm(100);
		exit(program() & 63);
	}
	waitpid(child, &status, 0);
	printf("status %x\n", status);
	report(folder, 1);
	rmdir(folder);
}

/* Runs all programs of a unit, or those with the numbers given, below a folder. */
static int run_programs(i64 (*const *programs)(void), int count, int first, int argc, char **argv)
{
	static const struct rlimit none;
	char folder[512];

	setrlimit(RLIMIT_CORE, &none);
	program_invocation_name = program_invocation_short_name = "mixed";
	for (int i = 0; argc > 1 && i < count; i++) {
		for (int j = 2; j < argc; j++)
			if (atoi(argv[j]) == first + i)
				goto run;
		if (argc > 2)
			continue;
run:
		printf("== %d\n", first + i);
		snprintf(folder, sizeof(folder), "%s/%d", argv[1], first + i);
		run_program(programs[i], first + i, folder);
	}
	fprintf(stderr, "mixed: runs=%lu kernel_calls=%lu interp_calls=%lu native=%lu\n", Runs,
		Kernel_calls, Interpreted, Native);
	return 0;
}
