// SPDX-License-Identifier: MIT
/*
 * start.c - begins when a program starts, before the constructors of all other libraries.  Each
 * exec pays for it, so it lies beside pages that the dynamic linker reads in any case, and writes
 * nothing where `cosy run` has said nothing (library.ld).
 */
#include <stdbool.h>
#include <sys/syscall.h>

#include "environment.h"
#include "file/file.h"
#include "loaded.h"
#include "start.h"
#include "stats.h"
#include "syscall.h"

/* True for a variable of `cosy run` or cosyd that has a value. */
static inline bool variable_says(const char *variable)
{
	if (variable[0] != 'C' || variable[1] != 'O' || variable[2] != 'S' || variable[3] != 'Y')
		return false;
	/* COSY_RUN_ or COSYD_: compounds have variables as well. */
	if (variable[4] != 'D' && (variable[4] != '_' || variable[5] != 'R'))
		return false;
	while (*variable && *variable != '=')
		variable++;
	return *variable && variable[1];
}

/* The dynamic linker calls this, as DT_INIT. */
START void library_begin(int argc, char **argv, char **envp)
{
	bool said = false;
	char **end = envp;

	for (; *end; end++)
		said |= variable_says(*end);
	loaded_begin((const ElfW(auxv_t) *)(end + 1));
	if (!said)
		return;
	environment_begin(envp, argc > 0 ? argv[0] : "");
	if (environment_get(ENVIRONMENT_STATS) || environment_get(ENVIRONMENT_EXPLAIN))
		stats_begin(file_count_reads);
}
