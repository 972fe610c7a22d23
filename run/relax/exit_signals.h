/* SPDX-License-Identifier: MIT */
/*
 * exit_signals.h - settles when a signal is about to end the process (relax.h).
 *
 * When something is relaxed for the first time, each signal whose default action ends the process
 * gets a handler, unless the program has given it another meaning.  The handler settles, and lets
 * the default action follow.  exit_signals_sigaction and exit_signals_signal go on telling the
 * program SIG_DFL.
 */
#ifndef COSY_RUN_EXIT_SIGNALS_H
#define COSY_RUN_EXIT_SIGNALS_H

#include <signal.h>

#pragma GCC visibility push(hidden)

/* Prepares, once.  `settle` settles everything. */
void exit_signals_prepare(void (*settle)(void));

/* Make sigaction(2) and signal(2), for signals that this library does not use itself. */
int exit_signals_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
sighandler_t exit_signals_signal(int number, sighandler_t handler);

#pragma GCC visibility pop

#endif /* COSY_RUN_EXIT_SIGNALS_H */
