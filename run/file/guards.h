/* SPDX-License-Identifier: MIT */
/* guards.h - gives the guards of guards.def numbers and texts. */
#ifndef COSY_RUN_GUARDS_H
#define COSY_RUN_GUARDS_H

enum guard {
#define GUARD(name, what, breaks, then) GUARD_##name,
#include "file/guards.def"
#undef GUARD
	GUARDS
};

#pragma GCC visibility push(hidden)

/* Returns a guard's name, such as "NO_FP_SHARE". */
const char *guard_name(enum guard guard);
/* Returns, in a few words, what is relied on. */
const char *guard_what(enum guard guard);

#pragma GCC visibility pop

#endif /* COSY_RUN_GUARDS_H */
