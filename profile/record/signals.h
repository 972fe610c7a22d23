/* SPDX-License-Identifier: MIT */
/* signals.h - signals that end a recording, which the programs that are started must not notice. */
#ifndef COSY_PROFILE_SIGNALS_H
#define COSY_PROFILE_SIGNALS_H

#include <stdbool.h>

/* True for SIGTERM, SIGHUP and SIGQUIT, which ask more of a process than ^C: that it ends. */
bool signal_terminates(int number);

/* Has these, SIGINT and SIGALRM handled. */
void signals_catch(void (*handler)(int));

/*
 * Restores the handling of all signals but SIGALRM, which may still be pending.  If a terminating
 * signal came, ignores further ones: timeout(1) sends it twice, and the report is not written yet.
 */
void signals_release(int came);

/* Has all as they were, in a child that executes something else. */
void signals_restore(void);

#endif /* COSY_PROFILE_SIGNALS_H */
