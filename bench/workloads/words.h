/* SPDX-License-Identifier: MIT */
/*
 * words.h - libc's functions on short strings, by function=: an operation reads a page of words
 * and calls the function once for each.  Nobody but the program knows how long a word is.
 */
#ifndef WORDS_H
#define WORDS_H

#include "bench.h"
#include "compare.h"

#define PAGE	4096
#define WORDS	(PAGE / WORD)
#define WORD	32 /* bytes from one word to the next */
#define LETTERS 12 /* of a word; then NUL, and how many bytes that are */
#define COPY	16 /* where in them the same word stands again */

#define PAGES	   16
#define PAGE_OF(i) ((i) % PAGES * PAGE)

/* Does n operations.  Returns the answer; words_left gets what is in memory then. */
typedef long words_loop(int file, long n);

static words_loop nothing, length, compared, copied;

static char words_left[PAGE];

static int fd;
static words_loop *loop;

static char letter(long page, int word, int i)
{
	return 'a' + (page % PAGES + word + i) % 26;
}

static void page_make(char *text, long page)
{
	memset(text, 0, PAGE);
	for (int at = 0; at < PAGE; at += COPY) {
		for (int i = 0; i < LETTERS; i++)
			text[at + i] = letter(page, at / WORD, i);
		text[at + LETTERS + 1] = LETTERS + 1;
	}
}

void bench_prepare(void)
{
	static const struct {
		const char *name;
		words_loop *loop;
	} loops[] = {
		{"none", nothing},
		{"strlen", length},
		{"strcmp", compared},
		{"memcpy", copied},
	};
	const char *name = bench_text("function", "strlen");
	char text[PAGE];

	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		if (!strcmp(loops[i].name, name))
			loop = loops[i].loop;
	}
	if (!loop)
		bench_fail("function");
	fd = BENCH_TRY(open("words", O_RDWR | O_CREAT | O_TRUNC, 0644));
	for (int page = 0; page < PAGES; page++) {
		page_make(text, page);
		if (BENCH_TRY(write(fd, text, PAGE)) != PAGE)
			bench_fail("words");
	}
}

long bench_work(long n)
{
	return loop(fd, n);
}

/* Adds up what n operations should find. */
static long expected(long n)
{
	long sum = 0;

	for (long page = 0; page < n; page++)
		for (int word = 0; word < WORDS; word++) {
			if (loop == length)
				sum += LETTERS;
			else
				sum += loop == compared ? 1 : letter(page, word, 0);
		}
	return sum;
}

/* Compares each number of operations, which shows its last page. */
void bench_check(long n, long answer)
{
	char text[PAGE];

	compare_number("what was found", 0, answer, expected(n));
	for (long pages = 1; pages <= 2 * PAGES + 2; pages++) {
		bench_again(pages);
		page_make(text, pages - 1);
		compare_bytes("words", PAGE_OF(pages - 1), words_left, text, PAGE);
	}
}

#endif /* WORDS_H */
