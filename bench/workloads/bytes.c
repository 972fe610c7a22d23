// SPDX-License-Identifier: MIT
/* The loops of bytes.h, each in a region together with the read of the page. */
#include <cosy/cosy.h>

#include "bytes.h"

/* Defines a function that does `body` with each page, which is in `text`. */
#define LOOP(name, declarations, body, result)                                                     \
	__attribute__((noinline)) static long name(int file, long n)                               \
	{                                                                                          \
		unsigned char text[PAGE + 8] = {0};                                                \
		long sum = 0;                                                                      \
		declarations;                                                                      \
                                                                                                   \
		COSY_START;                                                                        \
		for (long i = 0; i < n; i++) {                                                     \
			if (pread(file, text, PAGE, PAGE_OF(i)) < PAGE)                            \
				break;                                                             \
			body                                                                       \
		}                                                                                  \
		COSY_END;                                                                          \
		memcpy(bytes_left, text, PAGE);                                                    \
		result;                                                                            \
		return sum;                                                                        \
	}

LOOP(
	words_sum, , {
		const uint64_t *words = (const void *)text;

		for (int at = 0; at < PAGE / 8; at++)
			sum += words[at];
	}, )

LOOP(
	bytes_sum, , {
		for (int at = 0; at < PAGE; at++)
			sum += text[at];
	}, )

LOOP(
	lines_count, , {
		for (int at = 0; at < PAGE; at++)
			sum += text[at] == '\n';
	}, )

LOOP(
	byte_find, , {
		int at = 0;

		while (at < PAGE && text[at] != '~')
			at++;
		sum += at;
	}, )

LOOP(
	string_length, , {
		const unsigned char *end = text;

		while (*end)
			end++;
		sum += end - text;
	}, )

LOOP(
	fnv_hash, , {
		uint32_t hash = 2166136261u;

		for (int at = 0; at < PAGE; at++)
			hash = (hash ^ text[at]) * 16777619u;
		sum += hash;
	}, )

LOOP(
	case_change, , {
		for (int at = 0; at < PAGE; at++) {
			if (text[at] >= 'a' && text[at] <= 'z')
				text[at] ^= 32;
			else if (text[at] >= 'A' && text[at] <= 'Z')
				text[at] |= 32;
		}
		sum += text[7];
	}, )

LOOP(
	words_count, , {
		int in = 0;

		for (int at = 0; at < PAGE; at++) {
			int space = text[at] == ' ' || text[at] == '\n' || text[at] == '\t';

			sum += in && space;
			in = !space;
		}
	}, )

LOOP(
	bytes_count, uint32_t counts[256] = {0},
	{
		for (int at = 0; at < PAGE; at++)
			counts[text[at]]++;
	},
	for (int byte = 0; byte < 256; byte++) sum += (long)byte * counts[byte])

LOOP(
	bytes_compare, unsigned char other[PAGE], {
		int at = 0;

		if (pread(file, other, PAGE, PAGE_OF(i)) < PAGE)
			break;
		while (at < PAGE && text[at] == other[at])
			at++;
		sum += at;
	}, )
