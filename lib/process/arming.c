// SPDX-License-Identifier: MIT
/*
 * arming.c - see arming.h.  Runs at each program's start: it calls nothing but refer.c (start.c).
 */
#include "process/arming.h"
#include "process/refer.h"
#include "process/start.h"

/* Has a program that is linked with the archive get start.c, which nothing else refers to. */
__asm__(".globl libcosy_library_start");

static const char arming_names[][8] = {"prctl", "syscall"};
#define ARMING_NAMES (sizeof(arming_names) / sizeof(*arming_names))

static bool referred_could_arm(enum libcosy_referred referred)
{
	if (referred == COSY_REFERRED_UNKNOWN && libcosy_static_arms)
		return libcosy_static_arms();
	return referred != COSY_NOT_REFERRED;
}

/* While it is the last object, none can have armed a filter.  NULL: unknown. */
static const void *last_object LIBCOSY_EARLY_DATA;

bool libcosy_could_arm(uint64_t *seen)
{
	const char *const names[ARMING_NAMES] = {arming_names[0], arming_names[1]};

	/* The dynamic linker's own function costs a look-up, and goes through all relocations. */
	if (libcosy_object_is_last(last_object))
		return false;
	return referred_could_arm(libcosy_any_refers_to(names, ARMING_NAMES, seen));
}

bool libcosy_could_arm_at_start(void)
{
	const char *const names[ARMING_NAMES] = {arming_names[0], arming_names[1]};

	return referred_could_arm(libcosy_any_refers_at_start(names, ARMING_NAMES, &last_object));
}
