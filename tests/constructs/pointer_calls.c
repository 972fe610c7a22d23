// SPDX-License-Identifier: MIT
// Calls by pointer: tables by index, structures of functions, visitors, libc's functions, and pointers that
// are not known here.
// expect: compiled
// expect with -fexceptions: native: may throw
#include <cosy/cosy.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef long (*step)(long, long);

static long add(long a, long b)
{
	return a + b + (getpid() > 0);
}
static long sub(long a, long b)
{
	return a - b;
}
static long mul(long a, long b)
{
	return a * b % 1000003;
}
static long last(long a, long b)
{
	(void)a;
	return b;
}

static const step steps[] = {add, sub, mul, last};

static long by_index(const char *program)
{
	long value = 1;

	COSY_START;
	for (int i = 0; program[i]; i++)
		value = steps[program[i] - '0'](value, i);
	COSY_END;
	return value;
}

/* A structure of functions, chosen at run time, with state. */
struct source;
struct methods {
	const char *name;
	int (*open)(struct source *s, const char *path);
	long (*next)(struct source *s);
	void (*close)(struct source *s);
};
struct source {
	const struct methods *methods;
	int fd;
	long left;
};

static int count_open(struct source *s, const char *path)
{
	s->left = (long)strlen(path);
	return 0;
}
static long count_next(struct source *s)
{
	return s->left--;
}
static void count_close(struct source *s)
{
	s->left = -1;
}
static const struct methods counting = {"counting", count_open, count_next, count_close};

static int file_open(struct source *s, const char *path)
{
	struct stat st;

	s->left = stat(path, &st) == 0 ? 3 : 0;
	s->fd = s->left ? 1 : -1;
	return s->fd < 0 ? -1 : 0;
}
static long file_next(struct source *s)
{
	return s->left-- > 0 ? 10 : 0;
}
static void file_close(struct source *s)
{
	s->fd = -1;
}
static const struct methods of_file = {"file", file_open, file_next, file_close};

static long drain(struct source *s, const char *path)
{
	long sum = 0, n;

	if (s->methods->open(s, path) < 0)
		return -1;
	while ((n = s->methods->next(s)) > 0)
		sum += n;
	s->methods->close(s);
	return sum;
}

static long by_method(int which)
{
	struct source s = {0};
	long sum = 0;

	s.methods = which ? &counting : &of_file;
	COSY_START;
	sum = drain(&s, "/");
	sum += 100 * drain(&s, "/nothing/of/that/name");
	COSY_END;
	return sum + s.left;
}

/* A visitor that a recursive function is given. */
typedef int visitor(const char *name, int depth, void *arg);

struct tree {
	const char *name;
	struct tree *child[3];
};

static int count_names(const char *name, int depth, void *arg)
{
	(void)name;
	*(long *)arg += depth;
	return 0;
}
static int longest_name(const char *name, int depth, void *arg)
{
	long length = (long)strlen(name);

	(void)depth;
	if (length > *(long *)arg)
		*(long *)arg = length;
	return length == 7;
}

static int visit(const struct tree *t, visitor *v, int depth, void *arg)
{
	int stop = v(t->name, depth, arg);

	for (int i = 0; i < 3 && !stop; i++)
		if (t->child[i])
			stop = visit(t->child[i], v, depth + 1, arg);
	return stop;
}

static struct tree leaf = {"leaf", {0}}, seventh = {"seventh", {0}}, other = {"a long name", {0}};
static struct tree branch = {"branch", {&leaf, &seventh, &other}};
static struct tree root = {"root", {&leaf, &branch, &other}};

static long by_visitor(visitor *given)
{
	long depth = 0, length = 0, own = 0;

	COSY_START;
	visit(&root, count_names, 1, &depth);
	visit(&root, longest_name, 1, &length);
	visit(&root, given, 1, &own);
	depth += getpid() > 0;
	COSY_END;
	return depth * 10000 + length * 100 + own;
}

/* libc's own, by a variable of the file. */
static int (*look)(const char *, struct stat *) = lstat;

static long by_libc(int follows)
{
	struct stat st;
	long sum = 0;

	if (follows)
		look = stat;
	COSY_START;
	for (int i = 0; i < 5; i++)
		sum += look(i % 2 ? "/" : "/nothing/here", &st) == 0 ? st.st_nlink > 0 : -10;
	COSY_END;
	return sum;
}

/* Functions of which nothing is known here: the compound leaves for them. */
static long by_unknown(size_t (*length)(const char *), long (*number)(const char *, char **, int),
		       step often)
{
	char *end = NULL;
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 4; i++) {
		sum += (long)length("four") + number("0x1f rest", &end, 16) + (end ? *end : 0);
		sum += often(i, 2) + (getpid() > 0);
	}
	COSY_END;
	return sum;
}

static long sixth(long a, long b)
{
	volatile long sum = a;

	return sum + b;
}

int main(int argc, char **argv)
{
	/* Nothing but the run knows these. */
	size_t (*volatile length)(const char *) = strlen;
	long (*volatile number)(const char *, char **, int) = strtol;
	step volatile often = argc > 5 ? last : sixth;
	visitor *volatile given = argc > 5 ? count_names : longest_name;

	(void)argv;
	printf("%ld %ld\n", by_index("0123210"), by_index("2223330001"));
	printf("%ld %ld\n", by_method(0), by_method(1));
	printf("%ld\n", by_visitor(given));
	printf("%ld %ld\n", by_libc(0), by_libc(1));
	printf("%ld\n", by_unknown(length, number, often));
	return 0;
}
