// SPDX-License-Identifier: MIT
/*
 * start.c - libcosy's work when a program starts and ends, with or without a region.
 *
 * Each function of libc's that is called costs a look-up by the dynamic linker, and each page that
 * is touched a fault, and the mapping of the pages around it.  So this calls nothing but refer.c,
 * which lies beside it (see the list of what each program runs in CMakeLists.txt).
 */
#include "process/filter.h"
#include "process/fork.h"
#include "process/refer.h"
#include "process/start.h"
#include "process/stats.h"

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

__attribute__((constructor(101))) static void library_start(void)
{
	const char *const names[ARMING_NAMES] = {arming_names[0], arming_names[1]};

	if (referred_could_arm(libcosy_any_refers_at_start(names, ARMING_NAMES, &last_object))) {
		libcosy_filter_prepare();
		libcosy_fork_register();
	}
}

/* A process that came to no region has not read the settings, and has nothing to tell. */
__attribute__((destructor)) static void library_end(void)
{
	if (libcosy_settings.stats)
		libcosy_stats_print();
}
