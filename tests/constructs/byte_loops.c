// SPDX-License-Identifier: MIT
// Loops over bytes that may take words: searches, comparisons, counts and sums, at every place in a
// word, of every length up to some words, up to the last byte before a page that nobody may read.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE   4096
#define LONG   70
#define PLACES 9

static unsigned char *before_end(void)
{
	char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + 2 * PAGE, PAGE, PROT_NONE))
		_exit(99);
	return (unsigned char *)at + 2 * PAGE;
}

/* All searches in the `length` bytes at s, of which the last is 0. */
__attribute__((noinline)) static unsigned long search(const unsigned char *s, long length, int byte,
						      unsigned char other)
{
	unsigned long sum = 0;

	COSY_START;
	sum += getppid() < 0;
	{
		long at = 0;

		while (at < length && s[at] != '.')
			at++;
		sum = sum * 131 + at;
	}
	{
		long at = 0;

		while (at < length && s[at] != other)
			at++;
		sum = sum * 131 + at;
	}
	{
		unsigned at = 0;

		for (; (long)at < length; at++)
			if (s[at] == byte)
				break;
		sum = sum * 131 + at;
	}
	{
		const unsigned char *end = s;

		while (*end)
			end++;
		sum = sum * 131 + (end - s);
	}
	{
		const unsigned char *end = s;

		while (*end == other)
			end++;
		sum = sum * 131 + (end - s);
	}
	{
		const unsigned char *end = s;

		while (*end != '.' && *end)
			end++;
		sum = sum * 131 + (end - s);
	}
	{
		const signed char *end = (const signed char *)s;

		while (end < (const signed char *)s + length && (*end | 0x20) != -1)
			end++;
		sum = sum * 131 + (end - (const signed char *)s);
	}
	{
		long left = length;

		while (left-- && *s == other)
			s++;
		sum = sum * 131 + left;
	}
	COSY_END;
	return sum;
}

/* All comparisons of the strings at a and b, of which a has `length` bytes. */
__attribute__((noinline)) static unsigned long compare(const unsigned char *a,
						       const unsigned char *b, long length)
{
	unsigned long sum = 0;

	COSY_START;
	sum += getppid() < 0;
	{
		long at = 0;

		while (at < length && a[at] == b[at])
			at++;
		sum = sum * 131 + at;
	}
	{
		const unsigned char *x = a, *y = b;

		while (*x && *x == *y)
			x++, y++;
		sum = sum * 131 + (x - a) + *x;
	}
	{
		const unsigned char *x = a, *y = b;

		while (*x == *y && *y)
			x++, y++;
		sum = sum * 131 + (x - a);
	}
	{
		long at = 0;

		while (at < length && (a[at] ^ 'x') == (b[at] & 0x7f))
			at++;
		sum = sum * 131 + at;
	}
	COSY_END;
	return sum;
}

/* Compares strings of which `b` may have no byte where `a` ends. */
__attribute__((noinline)) static unsigned long prefix(const unsigned char *a,
						      const unsigned char *b)
{
	const unsigned char *x = a, *y = b;

	COSY_START;
	while (*x && *x == *y)
		x++, y++;
	y -= getppid() < 0;
	COSY_END;
	return (y - b) * 256 + *x;
}

/* All counts and sums of the `length` bytes at s. */
__attribute__((noinline)) static unsigned long add_up(const unsigned char *s, long length, int byte,
						      unsigned char other, unsigned start)
{
	unsigned long sum = start, bytes = 0, lines = 0;
	unsigned not_lines = start, same = 0;
	unsigned short small = start;
	int few = 0;

	COSY_START;
	sum += getppid() < 0;
	for (long i = 0; i < length; i++)
		bytes += s[i];
	for (long i = 0; i < length; i++)
		lines += s[i] == '.';
	for (unsigned i = 0; i < length; i++)
		not_lines += s[i] != other;
	for (long i = 0; i < length; i++)
		small += s[i];
	for (long i = 0; i < length; i++)
		same += s[i] == byte;
	for (long i = length - 1; i >= 0; i--)
		few += s[i];
	for (long i = 0; i < length; i++) {
		bytes += s[i] ^ 0x55;
		lines += (s[i] & 0xf0) == 0x60;
	}
	for (long i = 0; i < length; i += 2)
		few += s[i];
	COSY_END;
	return ((((sum * 131 + bytes) * 131 + lines) * 131 + not_lines) * 131 + small) * 131 +
	       same * 7 + few;
}

/* The same in arrays of the function's own, whose sizes are known. */
__attribute__((noinline)) static unsigned long own(long seed, long different)
{
	unsigned char a[100], b[100];
	unsigned long sum = 0;

	for (int i = 0; i < 100; i++)
		a[i] = b[i] = (i + seed) * 37 >> 2;
	b[different] ^= 0x80;
	COSY_START;
	for (int round = 0; round < 2; round++) {
		int at = 0;

		sum += getppid() < 0;
		while (at < 100 && a[at] == b[at])
			at++;
		sum = sum * 131 + at;
		for (at = 3; at < 100 && b[at] != 77; at++)
			;
		sum = sum * 131 + at;
		for (at = 0; at < 100; at++)
			sum += a[at];
		for (at = 1; at < 98; at++)
			sum += b[at] == 77;
		b[different] ^= 0x80;
	}
	COSY_END;
	return sum;
}

static void fill(unsigned char *s, long length, long different, unsigned char fill)
{
	memset(s, fill, length);
	if (length)
		s[length - 1] = 0;
	if (different < length - 1)
		s[different] = '.';
}

int main(void)
{
	unsigned char *end = before_end(), *other = before_end();
	unsigned long sum = 0;

	for (long length = 1; length < LONG; length++) {
		for (long gap = 0; gap < PLACES; gap++) {
			long different = (length * 7 + gap * 5) % (length + 3);
			/* The strings end at the end, or go over into the next page. */
			unsigned char *s = gap < PLACES / 2 ? end - length - gap % 2
							    : end - PAGE - length / 2 - gap;
			unsigned char *t =
				gap % 3 ? other - length - gap % 2 : other - PAGE - length + gap;

			fill(s, length, different, gap % 2 ? 'a' : 0xff);
			sum = sum * 33 +
			      search(s, length, gap % 4 ? '.' : 0x12e, gap % 2 ? 'a' : 0xff);
			sum = sum * 33 +
			      add_up(s, length, gap % 4 ? '.' : -210, s[0], length * 977);
			memcpy(t, s, length);
			sum = sum * 33 + compare(s, t, length);
			if (different < length)
				t[different] = gap % 2 ? 0 : 0x80;
			sum = sum * 33 + compare(s, t, length);
			sum = sum * 33 + compare(t, s, length);
			memcpy(other - length + 1, s, length - 1);
			sum = sum * 33 + prefix(s, other - length + 1);
			for (long i = 0; i < length; i++)
				s[i] = i * different * 13 >> 3;
			sum = sum * 33 + add_up(s, length, s[length / 2], 0x60, -1);
		}
		printf("%ld %lx\n", length, sum);
	}
	for (long i = 0; i < 100; i++)
		printf("own %ld %lx\n", i, own(i * 3, i));
	return 0;
}
