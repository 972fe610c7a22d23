// SPDX-License-Identifier: MIT
/*
 * start.c - what is done when a program starts, before the constructors of all other libraries.
 * Each exec pays for it, so it is laid beside what the dynamic linker reads in any case, and where
 * `cosy run` has said nothing it writes nothing (library.ld).
 */
#include <stdbool.h>

#include "environment.h"
#include "loaded.h"
#include "start.h"
#include "stats.h"

/* A variable of `cosy run` with a value. */
static inline bool says(const char *variable)
{
	if (variable[0] != 'C' || variable[1] != 'O' || variable[2] != 'S' || variable[3] != 'Y')
		return false;
	while (*variable && *variable != '=')
		variable++;
	return *variable && variable[1];
}

/* Called by the dynamic linker, as DT_INIT. */
START void library_begin(int argc, char **argv, char **envp)
{
	bool said = false;
	char **end = envp;

	for (; *end; end++)
		said |= says(*end);
	loaded_begin((const ElfW(auxv_t) *)(end + 1));
	if (!said)
		return;
	environment_begin(envp, argc > 0 ? argv[0] : "");
	if (environment_get(ENVIRONMENT_STATS))
		stats_begin();
}
