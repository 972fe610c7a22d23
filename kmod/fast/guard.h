/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guard.h - guards, and the count of those that failed.  If one fails, the kernel's own call
 * replaces the specialised version: see run/ordinary.h.
 */
#ifndef COSY_GUARD_H
#define COSY_GUARD_H

#include "run/activation.h"

enum cosy_guard {
#define COSY_GUARD(guard, name, relies, breaks) COSY_GUARD_##guard,
#include "guards.def"
#undef COSY_GUARD
	COSY_GUARD_CNT
};

/* No guard: all of them hold. */
#define COSY_GUARDS_HOLD COSY_GUARD_CNT

/* The answer of a specialised version whose guard failed: no result of any call. */
#define COSY_ORDINARY S64_MIN

/* Counts a failed guard.  Returns COSY_ORDINARY, for `return cosy_guard_failed(...)`. */
s64 cosy_guard_failed(struct cosy_activation *run, enum cosy_guard guard);

#endif /* COSY_GUARD_H */
