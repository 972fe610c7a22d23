/* SPDX-License-Identifier: MIT */
/*
 * loop.h - which function is the loop around the calls of a row.
 *
 * The innermost function that all its calls come from need not be it: it may make one call each
 * time that it is called itself, from a loop in its caller.  A region has to hold that loop and all
 * functions between, so the compiler must see whom they call.  An interpreter's loop it cannot
 * hold.
 */
#ifndef COSY_PROFILE_LOOP_H
#define COSY_PROFILE_LOOP_H

#include "fold/profile.h"

/* The kind of a call, from the code of the function that makes it. */
enum code_call {
	CODE_UNKNOWN,
	CODE_ONCE,    /* it is made at most once each time that the function is called */
	CODE_LOOP,    /* it is in a loop of the function */
	CODE_POINTER, /* whom it calls is a matter of a pointer */
};

/* Decodes a file's code: the function at one address, and its call that returns to another. */
struct loop_code {
	enum code_call (*look)(void *context, const char *path, uint64_t function,
			       uint64_t address);
	void *context;
};

enum loop_found {
	LOOP_UNKNOWN,
	LOOP_FURTHER, /* it is in a caller; loop_find does not return it */
	LOOP_HERE,    /* the frame returned is in it */
	LOOP_POINTER, /* one of the calls on the way is made by a pointer */
	LOOP_OUTSIDE, /* it is in another file than some of the calls; the frame returned is in it */
	LOOP_LIBC,    /* the C library or the dynamic linker makes a call of it for itself */
	LOOP_NOWHERE, /* it is not known where a call of it comes from */
	LOOP_APART,   /* that is known of all, and no function has them all */
	LOOP_BEYOND,  /* it is in a caller beyond the recorded part of the stack */
};

/*
 * Finds the loop of a row; `code` NULL: nothing is known.  *frame: the frame in the loop, or NULL.
 * *site: of LOOP_OUTSIDE, a call that the other file makes; else 0.
 */
enum loop_found loop_find(const struct profile *profile, const struct profile_row *row,
			  const struct loop_code *code, const struct event_frame **frame,
			  uint32_t *site);

#endif /* COSY_PROFILE_LOOP_H */
