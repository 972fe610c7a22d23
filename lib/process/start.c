// SPDX-License-Identifier: MIT
/*
 * start.c - libcosy's work when a program starts and ends, with or without a region.
 *
 * Each function of libc's that is called costs a look-up by the dynamic linker, and each page that
 * is touched a fault, and the mapping of the pages around it.  So this calls nothing but arming.c
 * and refer.c, which lie beside it (see the list of what each program runs in CMakeLists.txt).
 */
#include "process/arming.h"
#include "process/context.h"
#include "process/filter.h"
#include "process/fork.h"
#include "process/stats.h"

void libcosy_library_start(void);

/* Named, so that the archive's arming.c can ask for this file. */
__attribute__((constructor(101))) void libcosy_library_start(void)
{
	if (libcosy_could_arm_at_start()) {
		libcosy_filter_prepare();
		libcosy_fork_register();
	}
}

/* A process that came to no region has not read the settings, and has nothing to tell. */
__attribute__((destructor)) static void library_end(void)
{
	if (libcosy_settings.stats) {
		libcosy_context_count();
		libcosy_stats_print();
	}
}
