/* SPDX-License-Identifier: MIT */
/* guards.h - counts how often guards of specialised calls failed. */
#ifndef GUARDS_H
#define GUARDS_H

#include "check.h"

enum guard {
#define COSY_GUARD(guard, name, relies, breaks) GUARD_##guard,
#include "../../../core/guards.def"
#undef COSY_GUARD
};

/* Checks that at least `min_fast` calls were specialised since `then`. */
#define CHECK_FAST(then, min_fast)                                                                 \
	do {                                                                                       \
		struct cosy_stats now_ = counts();                                                 \
		if (!kernel_expected())                                                            \
			break;                                                                     \
		CHECK(now_.fast - (then).fast >= (uint64_t)(min_fast),                             \
		      "%llu specialised calls, at least %llu wanted",                              \
		      (unsigned long long)(now_.fast - (then).fast),                               \
		      (unsigned long long)(min_fast));                                             \
	} while (0)

/* Checks that the guard did not fail since `then`. */
#define CHECK_NO_GUARD(then, guard)                                                                \
	do {                                                                                       \
		struct cosy_stats now_ = counts();                                                 \
		CHECK(now_.guard_failed[GUARD_##guard] == (then).guard_failed[GUARD_##guard],      \
		      "guard " #guard " failed");                                                  \
	} while (0)

/* Checks that the guard failed at least once since `then`. */
#define CHECK_GUARD(then, guard)                                                                   \
	do {                                                                                       \
		struct cosy_stats now_ = counts();                                                 \
		if (!kernel_expected())                                                            \
			break;                                                                     \
		CHECK(now_.guard_failed[GUARD_##guard] > (then).guard_failed[GUARD_##guard],       \
		      "guard " #guard " did not fail");                                            \
	} while (0)

/* Lets a jiffy pass, so that the next RUN's first read fails the guard FRESH. */
HELPER void stale_file_systems(void)
{
	usleep(10000);
}

#endif /* GUARDS_H */
