// SPDX-License-Identifier: GPL-2.0
/* huge_page.c - see huge_page.h. */
#include <linux/highmem.h>
#include <linux/slab.h>
#include "move/checks.h"
#include "move/huge_page.h"
#include "stats.h"

/* --- Huge pages -------------------------------------------------------------------------- */

/* Does without reclaim: pages of 4 KB will do. */
#define HUGE_FLAGS                                                                                 \
	((GFP_HIGHUSER & ~__GFP_DIRECT_RECLAIM) | __GFP_ACCOUNT | __GFP_NOWARN | __GFP_ZERO)

struct cosy_huge *cosy_huge_alloc(void)
{
	struct cosy_huge *huge;

	if (cosy_page_fails())
		return NULL;
	huge = kzalloc(sizeof(*huge), GFP_KERNEL_ACCOUNT);
	if (!huge)
		return NULL;
	huge->pages = alloc_pages(HUGE_FLAGS, COSY_HUGE_ORDER);
	if (!huge->pages) {
		kfree(huge);
		return NULL;
	}
	/* The first page tells for all: newer kernels take no others back with anything there. */
	set_page_private(huge->pages, (unsigned long)huge);
	atomic_set(&huge->holders, 1);
	cosy_stats_live(COSY_LIVE_HUGE, 1);
	return huge;
}

/* Sums the bytes up, of the same words as `like`: see cosy_page_sum. */
static unsigned long huge_sum(const struct cosy_huge *huge, unsigned long like)
{
	unsigned long k, part = like, sum = 0;

	for (k = 0; k < COSY_HUGE_SLOTS; k++) {
		part = cosy_page_sum(huge->pages + k, part);
		sum = sum * 31 + part;
	}
	return cosy_sum_join(sum, part);
}

/* Complains when a frozen huge page has changed. */
static void huge_check(const struct cosy_huge *huge)
{
	if (unlikely(cosy_pages_checked()) && huge->frozen && huge->sum)
		WARN_ONCE(huge->sum != huge_sum(huge, huge->sum),
			  "cosy: frozen 2 MB have changed\n");
}

void cosy_huge_thaw(struct cosy_huge *huge)
{
	huge_check(huge);
	WRITE_ONCE(huge->frozen, false);
}

void cosy_huge_put(struct cosy_huge *huge)
{
	if (!atomic_dec_and_test(&huge->holders))
		return;
	huge_check(huge);
	set_page_private(huge->pages, 0);
	__free_pages(huge->pages, COSY_HUGE_ORDER);
	kfree(huge);
	cosy_stats_live(COSY_LIVE_HUGE, -1);
}

struct cosy_huge *cosy_huge_loan(struct cosy_huge *huge)
{
	if (!READ_ONCE(huge->frozen)) {
		huge->sum = unlikely(cosy_pages_checked()) ? huge_sum(huge, 0) : 0;
		WRITE_ONCE(huge->frozen, true);
	}
	atomic_inc(&huge->holders);
	return huge;
}

void cosy_huge_split(struct cosy_huge *huge, cosy_slot_t *slots)
{
	struct page *page = huge->pages;
	unsigned long k;

	huge_check(huge);
	split_page(page, COSY_HUGE_ORDER);
	for (k = 0; k < COSY_HUGE_SLOTS; k++) {
		set_page_private(page + k, 0);
		slots[k] = cosy_slot_of(page + k);
	}
	kfree(huge);
	cosy_stats_live(COSY_LIVE_HUGE, -1);
}

/* --- Words ------------------------------------------------------------------------------- */

int cosy_huge_words(struct cosy_arena *arena, gfp_t flags)
{
	unsigned long skew = cosy_huge_skew(arena), all = skew + arena->count;
	unsigned long words = DIV_ROUND_UP(all, COSY_HUGE_SLOTS);

	if (arena->pinnable || arena->count < COSY_HUGE_SLOTS)
		return 0;
	arena->huge = kvcalloc(words, sizeof(*arena->huge), GFP_KERNEL_ACCOUNT | flags);
	if (!arena->huge)
		return -ENOMEM;
	/* Words at the ends may have fewer slots. */
	if (skew)
		arena->huge[0] = COSY_HUGE_PAGES;
	if (all % COSY_HUGE_SLOTS)
		arena->huge[words - 1] = COSY_HUGE_PAGES;
	return 0;
}

bool cosy_piece_next(const struct cosy_arena *arena, unsigned long i, unsigned long count,
		     struct cosy_piece *piece)
{
	unsigned long skew = cosy_huge_skew(arena), at;

	piece->from = piece->to;
	piece->to = count;
	piece->word = NULL;
	if (piece->from >= count)
		return false;
	if (!arena->huge)
		return true;
	at = skew + i + piece->from;
	piece->to = min(count, piece->from + COSY_HUGE_SLOTS - at % COSY_HUGE_SLOTS);
	if (piece->to - piece->from == COSY_HUGE_SLOTS)
		piece->word = &arena->huge[at / COSY_HUGE_SLOTS];
	return true;
}
