/* SPDX-License-Identifier: MIT */
/*
 * budget.h - bounds what a program can lose by tables.
 *
 * A *budget* counts what served calls have saved, less what READs and failed attempts have cost.  When
 * it is spent, nothing is tried for a number of calls, the *rest*, which doubles each time.  So a
 * program whose calls no table can serve loses a constant, and less and less later.
 */
#ifndef COSY_RUN_BUDGET_H
#define COSY_RUN_BUDGET_H

#include "likely.h"

/* In units of a 48th of what a served call saves, about 2,000 instructions. */
enum {
	BUDGET_SERVED = 48,
	BUDGET_MISS = 8,   /* a call that was tried in vain */
	BUDGET_READ = 96,  /* a READ, */
	BUDGET_ENTRY = 16, /* and each of its entries */
	BUDGET_START = 32 * BUDGET_SERVED,
	BUDGET_AGAIN = 40 * BUDGET_SERVED, /* after a rest: READs of two parts of a directory */
	BUDGET_PAYS = 64 * BUDGET_SERVED,  /* more than both: calls have saved it */
	BUDGET_MAX = 512 * BUDGET_SERVED,
	REST_MIN = 64, /* calls */
	REST_MAX = 8192,
};

struct budget {
	int left;
	unsigned int rest;   /* calls that are left of it */
	unsigned int length; /* of the next one */
};

static inline void budget_begin(struct budget *budget)
{
	budget->left = BUDGET_START;
	budget->length = REST_MIN;
}

static inline void budget_gain(struct budget *budget, unsigned int served)
{
	unsigned int most = (BUDGET_MAX - budget->left) / BUDGET_SERVED;

	budget->left += BUDGET_SERVED * (int)(served < most ? served : most);
	/* It pays again. */
	if (budget->left > BUDGET_PAYS)
		budget->length = REST_MIN;
}

/* Returns how many entries a READ may have that the budget pays for, but at least so many. */
static inline unsigned int budget_affords(const struct budget *budget, unsigned int least)
{
	int left = (budget->left - BUDGET_READ) / BUDGET_ENTRY;

	return left > (int)least ? (unsigned int)left : least;
}

/* To be called when the budget is spent. */
static inline void budget_rest(struct budget *budget)
{
	budget->left = BUDGET_AGAIN;
	budget->rest = budget->length;
	if (budget->length < REST_MAX)
		budget->length *= 2;
}

/* Counts a call.  True: it is not to be tried. */
static inline bool budget_rests(struct budget *budget)
{
	if (likely(!budget->rest))
		return false;
	budget->rest--;
	return true;
}

#endif /* COSY_RUN_BUDGET_H */
