// SPDX-License-Identifier: MIT
/* The functions of words.h, each in a region together with the read of a page. */
#include <cosy/cosy.h>

#include "words.h"

/* Defines a function that adds up what is found at each `word` of the page. */
#define LOOP(name, found)                                                                          \
	__attribute__((noinline)) static long name(int file, long n)                               \
	{                                                                                          \
		char text[PAGE] = {0};                                                             \
		long sum = 0;                                                                      \
                                                                                                   \
		COSY_START;                                                                        \
		for (long i = 0; i < n; i++) {                                                     \
			if (pread(file, text, PAGE, PAGE_OF(i)) < PAGE)                            \
				break;                                                             \
			for (char *word = text; word < text + PAGE; word += WORD)                  \
				sum += (found);                                                    \
		}                                                                                  \
		COSY_END;                                                                          \
		memcpy(words_left, text, PAGE);                                                    \
		return sum;                                                                        \
	}

LOOP(nothing, *word)
LOOP(length, strlen(word))
LOOP(compared, !strcmp(word, word + COPY))
LOOP(copied, *(char *)memcpy(word + COPY, word, word[LETTERS + 1]))
