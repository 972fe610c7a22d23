/* SPDX-License-Identifier: MIT */
/* program.h - finds the file of a program to be started, and checks whether it takes a library. */
#ifndef COSY_COMMAND_PROGRAM_H
#define COSY_COMMAND_PROGRAM_H

#include <stdbool.h>

/* Finds the file that execvp would run; `ret` has PATH_MAX bytes.  False: there is none. */
bool program_find(const char *name, char *ret);

/*
 * Returns why the dynamic linker would not preload a library of glibc's into the program: words
 * that follow a file's name in a sentence.  NULL: it would, or the program cannot be run at all.
 * Writes that file's name to `refused`, which has PATH_MAX bytes: the program's or a script's
 * interpreter's.
 */
const char *program_refusal(const char *path, char *refused);

/* Runs the file as execvp would.  Returns only if that fails, with errno set. */
void program_exec(const char *path, char **arguments);

#endif /* COSY_COMMAND_PROGRAM_H */
