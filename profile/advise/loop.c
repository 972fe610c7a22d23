// SPDX-License-Identifier: MIT
/* loop.c - see loop.h. */
#include "advise/loop.h"

/* Levels of nested loops that are searched. */
#define MAX_NESTED 4

struct loop_search {
	const struct profile *profile;
	const struct loop_code *code;
	const struct event_frame *common; /* the innermost frame of all calls; NULL: unknown */
	uint32_t site;			  /* the call that calls_held examined last */
};

/*
 * Returns how a frame's function makes its call.  LOOP_HERE: in a loop; LOOP_FURTHER: at most once.
 * LOOP_OUTSIDE: the function is not in the file `object`, unless that is 0.
 */
static enum loop_found frame_loop(const struct loop_search *search, const struct event_frame *at,
				  uint32_t object)
{
	const struct profile *profile = search->profile;

	if (!at->object || at->object > profile->n_objects || !at->function ||
	    profile->objects[at->object].libc)
		return LOOP_UNKNOWN;
	if (object && at->object != object)
		return LOOP_OUTSIDE;
	switch (search->code->look(search->code->context, profile->objects[at->object].path,
				   at->function, at->address)) {
	case CODE_ONCE:
		return LOOP_FURTHER;
	case CODE_LOOP:
		return LOOP_HERE;
	case CODE_POINTER:
		return LOOP_POINTER;
	default:
		return LOOP_UNKNOWN;
	}
}

/*
 * Checks whether a region can hold a call and its callers, from the innermost frame to the common
 * one.  If there is no common one, stops at the first loop.
 */
static enum loop_found call_held(const struct loop_search *search, const struct stack *stack)
{
	const struct event_frame *common = search->common;
	enum loop_found found = LOOP_FURTHER;
	uint32_t object = 0;

	for (uint32_t i = stack->user; i < stack->len && found == LOOP_FURTHER; i++) {
		const struct event_frame *at = &search->profile->frames[stack->first + i];

		found = frame_loop(search, at, object);
		object = at->object;
		if (common && at->object == common->object && at->function == common->function)
			break;
		if (common && found == LOOP_HERE)
			found = LOOP_FURTHER;
	}
	return found;
}

/*
 * Returns LOOP_POINTER or LOOP_OUTSIDE if no region can hold some call of the loop `number` and its
 * callers.  The call is then search->site.
 */
static enum loop_found calls_held(struct loop_search *search, uint32_t number, unsigned int depth)
{
	const struct profile *profile = search->profile;
	const struct symbol *symbol = &profile->symbols[number];

	if (symbol->site > profile->n_sites)
		return LOOP_UNKNOWN;
	if (symbol->site) {
		search->site = symbol->site;
		return call_held(search, &profile->stacks[profile->sites[symbol->site].stack]);
	}
	for (uint32_t i = 0; depth && i < symbol->len; i++) {
		enum loop_found found =
			calls_held(search, profile->bodies[symbol->body + i], depth - 1);

		if (found == LOOP_POINTER || found == LOOP_OUTSIDE)
			return found;
	}
	return LOOP_UNKNOWN;
}

/*
 * Returns why no function contains all calls of a loop: LOOP_LIBC or LOOP_NOWHERE for the first
 * call whose place is unknown, else LOOP_APART.
 */
static enum loop_found calls_apart(const struct profile *profile, uint32_t number,
				   unsigned int depth)
{
	const struct symbol *symbol = &profile->symbols[number];

	if (symbol->site > profile->n_sites)
		return LOOP_NOWHERE;
	if (symbol->site)
		return profile->sites[symbol->site].libc    ? LOOP_LIBC
		       : profile->sites[symbol->site].stack ? LOOP_APART
							    : LOOP_NOWHERE;
	for (uint32_t i = 0; depth && i < symbol->len; i++) {
		enum loop_found found =
			calls_apart(profile, profile->bodies[symbol->body + i], depth - 1);

		if (found != LOOP_APART)
			return found;
	}
	return LOOP_APART;
}

/*
 * Finds the loop, from the innermost frame of all calls (`skip`) outward, and sets *frame if it is
 * LOOP_HERE.  All functions on the way have to be in the file `object`; 0: in any.
 */
static enum loop_found common_loop(const struct loop_search *search, const struct stack *stack,
				   uint32_t skip, uint32_t object, const struct event_frame **frame)
{
	enum loop_found found = LOOP_UNKNOWN;

	for (uint32_t i = skip; i < stack->len; i++) {
		const struct event_frame *at = &search->profile->frames[stack->first + i];

		found = frame_loop(search, at, object);
		if (found == LOOP_HERE)
			*frame = at;
		if (found != LOOP_FURTHER)
			return found;
	}
	return found == LOOP_FURTHER ? LOOP_BEYOND : LOOP_UNKNOWN;
}

enum loop_found loop_find(const struct profile *profile, const struct profile_row *row,
			  const struct loop_code *code, const struct event_frame **frame,
			  uint32_t *site)
{
	const struct symbol *symbol = &profile->symbols[row->symbol];
	const struct stack *stack = &profile->stacks[symbol->stack];
	struct loop_search search = {profile, code, NULL, 0};
	enum loop_found found;

	*frame = NULL;
	*site = 0;
	if (!code)
		return LOOP_UNKNOWN;
	if (symbol->stack && symbol->skip < stack->len)
		search.common = &profile->frames[stack->first + symbol->skip];
	found = calls_held(&search, row->symbol, MAX_NESTED);
	if (found == LOOP_POINTER)
		return found;
	if (found != LOOP_OUTSIDE) {
		if (!search.common)
			return calls_apart(profile, row->symbol, MAX_NESTED);
		/* Functions inside the common frame do not contain all of the calls. */
		found = common_loop(&search, stack, symbol->skip, search.common->object, frame);
	}
	if (found == LOOP_OUTSIDE) {
		*site = search.site;
		if (search.common)
			common_loop(&search, stack, symbol->skip, 0, frame);
	}
	return found;
}
