/* SPDX-License-Identifier: GPL-2.0 */
/* checks.h - what tests have the module check of moved pages, and make it fail. */
#ifndef COSY_MOVE_CHECKS_H
#define COSY_MOVE_CHECKS_H

#include <linux/compiler.h>
#include <linux/mm_types.h>

/* Module parameters; by cosy_pages_checked and cosy_page_fails. */
extern bool cosy_check_moved;
extern unsigned int cosy_fail_moved;

/*
 * Returns the place of a page's sum, in its list head: that is free until the page is, and no
 * other user looks at it.
 */
static inline unsigned long *cosy_page_sum_of(const struct page *page)
{
	return (unsigned long *)&page->lru.prev;
}

/* Bits of a sum that say of which words it is: the first of each 2^n, as n + 1. */
#define COSY_SUM_WORDS 7UL

/*
 * Returns a sum of a page's bytes, which is never 0: of the same words as the sum `like`, or of
 * those that check_words asks for.
 */
unsigned long cosy_page_sum(const struct page *page, unsigned long like);

/* Returns a sum that says of which words it is, as another does. */
static inline unsigned long cosy_sum_join(unsigned long sum, unsigned long like)
{
	return (sum & ~COSY_SUM_WORDS) | (like & COSY_SUM_WORDS);
}

/* Returns whether sums are to be compared. */
static inline bool cosy_pages_checked(void)
{
	return READ_ONCE(cosy_check_moved);
}

/* Slow path of cosy_page_fails. */
bool cosy_page_fails_now(void);

/* True when a test wants an allocation to fail. */
static inline bool cosy_page_fails(void)
{
	return unlikely(READ_ONCE(cosy_fail_moved)) && cosy_page_fails_now();
}

#endif /* COSY_MOVE_CHECKS_H */
