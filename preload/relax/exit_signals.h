/* SPDX-License-Identifier: MIT */
/*
 * exit_signals.h - settles when a signal is about to end the process (relax.h).
 *
 * Signals whose default action is to end it get a handler, unless the program has given
 * them another meaning, when something is relaxed for the first time.  It settles, and lets the
 * default action follow.  The program goes on believing in
 * SIG_DFL: relax_sigaction and relax_signal.
 */
#ifndef COSY_PRELOAD_EXIT_SIGNALS_H
#define COSY_PRELOAD_EXIT_SIGNALS_H

#pragma GCC visibility push(hidden)

void exit_signals_prepare(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_EXIT_SIGNALS_H */
