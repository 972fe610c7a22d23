/* SPDX-License-Identifier: MIT */
/*
 * environment.h - what `cosy run` tells this library, in environment variables.
 *
 * They are looked at once, when the program starts, and what they say is copied: later they may be
 * gone (clearenv), be written over (by programs that change what ps shows), or be moved by another
 * thread while they are looked for.
 */
#ifndef COSY_PRELOAD_ENVIRONMENT_H
#define COSY_PRELOAD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum environment_variable {
	ENVIRONMENT_DAEMON,  /* 0: no daemon; first: its leases rather than one's own */
	ENVIRONMENT_EAGER,   /* windows at once, whether they have paid or not; map: mapped ones */
	ENVIRONMENT_EXPLAIN, /* the path of a file */
	ENVIRONMENT_POLICY,  /* rules, or nothing: policy.h.  Always set by `cosy run`. */
	ENVIRONMENT_RELAX,   /* kinds, with commas between */
	ENVIRONMENT_SOCKET,  /* the daemon's */
	ENVIRONMENT_STATS,   /* the descriptor that they are printed to */
	ENVIRONMENT_VARIABLES
};

/*
 * When the program starts, if any of them has a value; `path` is what the program was called.  If
 * this is not called, none has.
 */
void environment_begin(char *const envp[], const char *path);

/* Its value when the program started, or NULL; never for programs with their owner's rights. */
const char *environment_get(enum environment_variable variable);

/* The program's name when it started, without directories. */
const char *environment_program(void);

/* Did `cosy run` say anything that programs that are started have to know as well? */
bool environment_kept(void);

/*
 * An environment for another program that still has this library preloaded, but not what goes with
 * it, gets that again.  The first says how many pointers the other has to have room for, 0 if
 * there is nothing to add; that returns the environment to start the program with.
 */
size_t environment_room(char *const envp[]);
char *const *environment_complete(char *const envp[], char *room[]);

/*
 * The same environment without the library, but with what else is preloaded.  The first says how
 * many pointers the second has to have room for; `list` is room for the value of LD_PRELOAD.
 */
size_t environment_count(char *const envp[]);
size_t environment_list_room(char *const envp[]);
char *const *environment_without(char *const envp[], char *room[], char *list);

/* The process's own, now; and the same for that. */
char **environment_now(void);
void environment_restore(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_ENVIRONMENT_H */
