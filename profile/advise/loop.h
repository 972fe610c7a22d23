/* SPDX-License-Identifier: MIT */
/*
 * loop.h - finds the function with the loop around the calls of a row.
 *
 * That need not be the innermost function that all of the calls come from: such a function may make
 * one call each time that a loop in its caller calls it.  A region has to hold that loop and all
 * functions between, so the compiler must know which functions they call.  An interpreter calls
 * through pointers, so no region can hold its loop.
 */
#ifndef COSY_PROFILE_LOOP_H
#define COSY_PROFILE_LOOP_H

#include "fold/profile.h"

/* The kind of a call, from the code of the function that makes it. */
enum code_call {
	CODE_UNKNOWN,
	CODE_ONCE,    /* it is made at most once each time that the function is called */
	CODE_LOOP,    /* it is in a loop of the function */
	CODE_POINTER, /* it is made through a pointer */
};

/* Decodes a file's code: the function at one address, and its call that returns to another. */
struct loop_code {
	enum code_call (*look)(void *context, const char *path, uint64_t function,
			       uint64_t address);
	void *context;
};

enum loop_found {
	LOOP_UNKNOWN,
	LOOP_FURTHER, /* it is in a caller; loop_find does not return this */
	LOOP_HERE,    /* the frame returned is in it */
	LOOP_POINTER, /* one of the calls on the way is made through a pointer */
	LOOP_OUTSIDE, /* it is in another file than some of the calls; the frame returned is in it */
	LOOP_LIBC,    /* the C library or the dynamic linker itself makes one of its calls */
	LOOP_NOWHERE, /* the place of one of its calls is unknown */
	LOOP_APART,   /* the places of all calls are known; no function contains them all */
	LOOP_BEYOND,  /* it is in a caller beyond the recorded part of the stack */
};

/*
 * Finds the loop of a row.  Without `code` (NULL) it is LOOP_UNKNOWN.  *frame is the frame in the
 * loop, or NULL.  *site is a call that makes it LOOP_OUTSIDE; else 0.
 */
enum loop_found loop_find(const struct profile *profile, const struct profile_row *row,
			  const struct loop_code *code, const struct event_frame **frame,
			  uint32_t *site);

#endif /* COSY_PROFILE_LOOP_H */
