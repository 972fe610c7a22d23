// SPDX-License-Identifier: MIT
// A program's own variadic functions format their arguments by vsnprintf: each call has its own ones.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char last[64], all[4096];
static size_t used;
static int verbose;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(last, sizeof(last), format, arguments);
	va_end(arguments);
	if (verbose)
		fprintf(stderr, "%s\n", last);
	used += (size_t)snprintf(all + used, sizeof(all) - used, "[%s]", last);
}

/* It goes through its arguments twice, and returns a number. */
static int measure(char *to, const char *format, ...)
{
	va_list arguments, again;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length > 20)
		return -length;
	va_start(again, format);
	length += 100 * vsprintf(to, format, again);
	va_end(again);
	return length;
}

/* A number in the middle, which is no part of the text. */
static int numbered(int level, char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int n = level;

	if (level > 2)
		return n;
	va_start(arguments, format);
	n += vsnprintf(to, size, format, arguments);
	va_end(arguments);
	return n;
}

static long walk(int depth)
{
	char text[24] = "";
	struct stat st;
	long sum = 0;

	if (stat(depth & 1 ? "/no/such/file" : "/", &st) < 0)
		note("%d: %s: %s", depth, "/no/such/file", strerror(errno));
	sum += measure(text, "%s%c%-3d|%08lx", "ab", 'c', depth, 0xfffffl * depth);
	sum += 3 *
	       numbered(depth % 4, text, sizeof(text), "<%.*s %u>", 3, "abcdef", (unsigned)depth);
	note("%s", text);
	return depth > 5 ? sum : sum + walk(depth + 1);
}

int main(void)
{
	char text[24];
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 5; i++) {
		sum += getpid() > 0;
		note("%d", i);
		sum += measure(text, "%s/%d", "path", i * 1000) +
		       numbered(i, text, sizeof(text), "none");
	}
	sum += walk(0);
	COSY_END;
	printf("%ld %zu %s\n%s\n", sum, used, text, all);
	return 0;
}
