/* SPDX-License-Identifier: MIT */
/*
 * environment.h - reads the settings of `cosy run` from environment variables.
 *
 * The library looks at them once, when the program starts, and copies them: later they may be gone
 * (clearenv), be written over (by programs that change what ps shows), or be moved by another
 * thread while they are looked for.
 */
#ifndef COSY_RUN_ENVIRONMENT_H
#define COSY_RUN_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum environment_variable {
	ENVIRONMENT_DAEMON, /* 0: no daemon; first: prefer its leases to own ones */
	ENVIRONMENT_EAGER, /* make windows before they are earned; map, metadata: such ones as well */
	ENVIRONMENT_EXPLAIN,  /* where to write, a process, the path of a file: stats.c */
	ENVIRONMENT_POLICY,   /* rules, or nothing: policy.h.  Always set by `cosy run`. */
	ENVIRONMENT_RELAX,    /* kinds, with commas between */
	ENVIRONMENT_SOCKET,   /* the daemon's */
	ENVIRONMENT_STATS,    /* the descriptor that they are printed to, and a process: stats.h */
	ENVIRONMENT_RESTORED, /* the others had been lost: the program sees none of them */
	ENVIRONMENT_VARIABLES
};

/*
 * Reads them when the program starts; `path` is how the program was called.  Need not be called
 * where none of them has a value.  Takes them out of the list if they had been put back: whoever
 * started the program has taken them out as well.
 */
void environment_begin(char *envp[], const char *path);

/*
 * Returns its value when the program started, or NULL; always NULL in programs with their owner's
 * rights.
 */
const char *environment_get(enum environment_variable variable);

/* Returns the program's name when it started, without directories. */
const char *environment_program(void);

/* True if `cosy run` said anything that programs started from here have to know as well. */
bool environment_kept(void);

/*
 * Put back these variables in the environment for another program, where it still preloads this
 * library but has lost them.  The first returns how many pointers the second needs room for, 0 if
 * there is nothing to add; the second returns the environment to start the program with.
 */
size_t environment_room(char *const envp[]);
char *const *environment_complete(char *const envp[], char *room[]);

/*
 * Take the library, but no other that is preloaded, out of an environment.  The first returns how
 * many pointers the third needs room for, besides a last one; the second, how many bytes `list`
 * needs, which is for the value of LD_PRELOAD.  No environment, NULL, stays none.
 */
size_t environment_count(char *const envp[]);
size_t environment_list_room(char *const envp[]);
char *const *environment_without(char *const envp[], char *room[], char *list);

/*
 * The process's own, now; and the first for that, before a call by which libc starts a program.
 * The third takes out again what the second has put back, and returned.
 */
char **environment_now(void);
unsigned int environment_restore(void);
void environment_unrestore(unsigned int added);

/*
 * Surround a call by which libc starts a program with the process's own environment: the first
 * takes the library out of LD_PRELOAD, which stays, if only as an empty value, so that no variable
 * moves that another thread is looking at.  False: it was not there.  They nest.
 */
bool environment_hide(void);
void environment_show(void);
/* To be called in the child of a fork. */
void environment_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_ENVIRONMENT_H */
