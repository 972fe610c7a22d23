// SPDX-License-Identifier: MIT
// Short strings in loops, which need no operation: at every place in a word, of every length up to
// what an operation does, up to the last byte before a page that nobody may read.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE   4096
#define LONG   40 /* longer ones are the operation's */
#define PLACES 9

static char *before_end(void)
{
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + PAGE, PAGE, PROT_NONE))
		_exit(99);
	return at + PAGE;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Every function of one string of that length, `gap` bytes before `end`, or in the buffer. */
static unsigned long look(char *end, long length, long gap, char fill)
{
	char own[PAGE];
	unsigned long sum = 0;

	if (!end)
		end = own + PAGE;
	COSY_START;
	for (long i = 0; i < 3; i++) {
		char *s = end - gap - length - 1;
		const char *at;

		memset(s, fill, length);
		s[length] = 0;
		if (length > i)
			s[length - i - 1] = '.';
		sum = sum * 31 + strlen(s);
		at = strchr(s, '.');
		sum = sum * 31 + (at ? at - s : 77);
		at = strchr(s, 'q');
		sum = sum * 31 + (at != NULL);
		sum = sum * 31 + (strchr(s, 0) - s);
		at = strrchr(s, '.');
		sum = sum * 31 + (at ? at - s : 78);
		at = memchr(s, '.', length + 1 - i % 2);
		sum = sum * 31 + (at ? at - s : 79);
		at = memchr(s, fill, i < length ? i : length);
		sum = sum * 31 + (at ? at - s : 80);
		sum = sum * 31 + (memchr(s, 'q', length + 1) != NULL);
		sum = sum * 31 + !strcmp(s, ".") + 2 * !strcmp(s, "aaaaaaaaaaa.") +
		      4 * !strcmp("", s) + 8 * (strcmp(s, "aa.") < 0) + 16 * !strncmp(s, "aa", 2) +
		      32 * !strncmp(s, "aaaaaaaa", 8);
	}
	sum += getppid() < 0;
	COSY_END;
	return sum;
}

/* Every function of two strings, the one `gap` bytes before `end`, the other before `other`. */
static unsigned long pair(char *end, char *other, long length, long gap, long different)
{
	char own[PAGE];
	unsigned long sum = 0;

	if (!end)
		end = own + PAGE;
	if (!other)
		other = own + PAGE / 2 + gap;
	if (different < 0)
		different = 0;
	COSY_START;
	for (long i = 0; i < 3; i++) {
		char *s = end - gap - length - 1, *t = other - length - 1;

		memset(s, 'x', length);
		s[length] = 0;
		sum = sum * 31 + (strcpy(t, s) - t) + (stpcpy(t, s) - t);
		if (different < length)
			t[different] = (char)(i == 0 ? 'x' : i == 1 ? 'y' : 0x80);
		sum = sum * 31 + (sign(strcmp(s, t)) + 1);
		sum = sum * 31 + !strcmp(s, t);
		sum = sum * 31 + (sign(strncmp(s, t, different + i)) + 1);
		sum = sum * 31 + !strncmp(s, t, length);
		sum = sum * 31 + (sign(memcmp(s, t, length + 1)) + 1);
		sum = sum * 31 + !memcmp(s, t, different);
		sum = sum * 31 + (length < 2 ? 1 : sign(memcmp(s, t, 3)) + 1);
		memset(t, (char)(i + 'a'), different);
		memmove(t + (length > 1), t, length - (length > 1));
		memcpy(s, t, length + 1);
		for (long j = 0; j < length; j++)
			sum = sum * 31 + (unsigned char)s[j];
		t[length ? length - 1 : 0] = 0;
		sum = sum * 31 + strlen(t);
	}
	sum += getppid() < 0;
	COSY_END;
	return sum;
}

int main(void)
{
	char *end = before_end(), *other = before_end();
	unsigned long sum = 0;

	for (long length = 0; length < LONG; length++) {
		for (long gap = 0; gap < PLACES; gap++) {
			sum = sum * 33 + look(end, length, gap, 'a');
			sum = sum * 33 + look(NULL, length, gap, (char)0x80);
			sum = sum * 33 + pair(end, other, length, gap, length / 2);
			sum = sum * 33 + pair(NULL, end, length, gap, length);
			sum = sum * 33 + pair(end, NULL, length, gap, length - 1);
		}
		printf("%ld %lx\n", length, sum);
	}
	return 0;
}
