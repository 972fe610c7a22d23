/* SPDX-License-Identifier: MIT */
/*
 * exit_signals.h - settles when a signal is about to end the process (relax.h).
 *
 * When something is relaxed for the first time, each signal whose default action ends the process
 * gets a handler, unless the program has given it another meaning.  The handler settles, and lets
 * the default action follow.  relax_sigaction and relax_signal go on telling the program SIG_DFL.
 */
#ifndef COSY_RUN_EXIT_SIGNALS_H
#define COSY_RUN_EXIT_SIGNALS_H

#pragma GCC visibility push(hidden)

void exit_signals_prepare(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_EXIT_SIGNALS_H */
