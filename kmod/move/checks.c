// SPDX-License-Identifier: GPL-2.0
/* checks.c - see checks.h. */
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/module.h>
#include "move/arena.h"
#include "move/checks.h"

bool cosy_check_moved;
module_param_named(check_moved, cosy_check_moved, bool, 0600);
MODULE_PARM_DESC(check_moved,
		 "whether to compute checksums of lent pages, and complain when one changes");

static uint check_words = 1;
module_param(check_words, uint, 0600);
MODULE_PARM_DESC(check_words, "of how many words of a page such a checksum has one: 1, 2, 4 to 64");

uint cosy_fail_moved;
module_param_named(fail_moved, cosy_fail_moved, uint, 0600);
MODULE_PARM_DESC(fail_moved,
		 "for tests: refuse one of so many pages, as for lack of memory; 0 for none");

/* Any odd number: a word is multiplied by another power of it in each place. */
#define SUM_FACTOR 0x9e3779b97f4a7c15UL

/* Returns how many words to go on for the next one of a sum, as a power of two. */
static unsigned long sum_order(unsigned long like)
{
	uint words = READ_ONCE(check_words);

	if (like)
		return (like & COSY_SUM_WORDS) - 1;
	return words ? min_t(unsigned long, ilog2(words), COSY_SUM_WORDS - 1) : 0;
}

/*
 * Multiplies and adds in four lanes, so that the tests can afford it for each page: a change of
 * one word always changes the sum of its lane.
 */
unsigned long cosy_page_sum(const struct page *page, unsigned long like)
{
	const unsigned long *word = kmap_local_page((struct page *)page);
	unsigned long order = sum_order(like), step = 1UL << order;
	unsigned long a = 1, b = 2, c = 3, d = 4, i;

	for (i = 0; i < PAGE_SIZE / sizeof(*word); i += 4 * step) {
		a = (a ^ word[i]) * SUM_FACTOR;
		b = (b ^ word[i + step]) * SUM_FACTOR;
		c = (c ^ word[i + 2 * step]) * SUM_FACTOR;
		d = (d ^ word[i + 3 * step]) * SUM_FACTOR;
	}
	kunmap_local(word);
	a = ((a * SUM_FACTOR ^ b) * SUM_FACTOR ^ c) * SUM_FACTOR ^ d;
	return cosy_sum_join(a, order + 1);
}

void cosy_page_check(const struct page *page)
{
	unsigned long sum = *cosy_page_sum_of(page);

	if (unlikely(cosy_pages_checked()) && sum)
		WARN_ONCE(sum != cosy_page_sum(page, sum), "cosy: a frozen page has changed\n");
}

bool cosy_page_fails_now(void)
{
	static atomic_t asked;
	uint fail = READ_ONCE(cosy_fail_moved);

	return fail && (uint)atomic_inc_return(&asked) % fail == 0;
}
