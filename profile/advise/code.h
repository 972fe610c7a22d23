/* SPDX-License-Identifier: MIT */
/*
 * code.h - decodes a program's code around a call, without symbols and debug information:
 * whether the function is a loop around the call, and whether it knows whom it calls.
 */
#ifndef COSY_PROFILE_CODE_H
#define COSY_PROFILE_CODE_H

#include <stdbool.h>

#include "advise/loop.h"

struct codes; /* files that were looked into */

struct codes *codes_create(void);
void codes_destroy(struct codes *codes);

/* A loop_code's `look`, whose context is the codes. */
enum code_call code_look(void *codes, const char *path, uint64_t function, uint64_t address);

/* Addresses in a file. */
struct code_range {
	uint64_t from, to;
};

/* True if the call is in a loop that stays within these ranges of the function. */
bool code_loops_within(struct codes *codes, const char *path, uint64_t function, uint64_t address,
		       const struct code_range *ranges, unsigned int n);

#endif /* COSY_PROFILE_CODE_H */
