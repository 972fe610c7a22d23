// SPDX-License-Identifier: MIT
// snprintf and sprintf of constant formats.
// expect: compiled
#include <cosy/cosy.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char all[40][80];
static int lengths[40], count;

static void keep(const char *text, int length)
{
	snprintf(all[count], sizeof(all[0]), "%s", text);
	lengths[count++] = length;
}

static void numbers(long n)
{
	char text[80];
	int length;

	length = sprintf(text, "%d %i %u", (int)n, (int)-n, (unsigned)n);
	keep(text, length);
	length = sprintf(text, "[%5d|%-5d|%05d|%+d|% d]", (int)n, (int)n, (int)n, (int)n, (int)n);
	keep(text, length);
	length = sprintf(text, "%x %X %#x %#o %o", (int)n, (int)n, (int)n, (int)n, (int)n);
	keep(text, length);
	length = sprintf(text, "%ld %lu %llx %zu", n << 40, n << 50, (long long)~n, (size_t)n);
	keep(text, length);
	length = sprintf(text, "%hhd %hhu %hd %hu", (int)n * 77, (int)n * 77, (int)n * 7777,
			 (int)n * 7777);
	keep(text, length);
	length = sprintf(text, "[%.5d|%8.3d|%-8.3d|%.0d]", (int)n, (int)n, (int)n, (int)(n - n));
	keep(text, length);
	length = sprintf(text, "%*d|%-*d|%.*d", (int)n, 1, (int)n, 2, (int)n, 3);
	keep(text, length);
	length = sprintf(text, "%ld %ld", LONG_MIN + n - n, LONG_MAX);
	keep(text, length);
	length = sprintf(text, "%p %p", NULL, (void *)(n + 0x1234));
	keep(text, length);
}

static void strings(const char *dir, const char *name)
{
	char text[80], few[8];
	int length;

	length = snprintf(text, sizeof(text), "%s/%s", dir, name);
	keep(text, length);
	length = snprintf(few, sizeof(few), "%s/%s", dir, name);
	keep(few, length);
	length = snprintf(few, 1, "%s", name);
	keep(few, length);
	length = snprintf(NULL, 0, "%s/%s", dir, name);
	keep("", length);
	length = snprintf(text, sizeof(text), "%.3s|%.*s|%10s|%-10s|", dir, 2, name, name, name);
	keep(text, length);
	length = snprintf(text, sizeof(text), "%c%c%3c%-3c|100%%", 'a', 'b', 'c', 'd');
	keep(text, length);
	length = snprintf(text, sizeof(text), "a text of more than three words, then %s", name);
	keep(text, length);
	length = snprintf(text, sizeof(text), "no conversion");
	keep(text, length);
	length = snprintf(text, sizeof(text), "%s", "");
	keep(text, length);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 5 ? argv[1] : "some/directory";
	long r = 0;

	COSY_START;
	numbers(argc + 10);
	strings(dir, dir + 5);
	r = getpid() > 0;
	COSY_END;
	for (int i = 0; i < count; i++)
		printf("%d '%s'\n", lengths[i], all[i]);
	printf("%ld\n", r);
	return 0;
}
