/* SPDX-License-Identifier: MIT */
/* signals.h - signals that end a recording, which the programs that are started must not notice. */
#ifndef COSY_PROFILE_SIGNALS_H
#define COSY_PROFILE_SIGNALS_H

/* Has SIGINT, SIGTERM and SIGALRM handled. */
void signals_catch(void (*handler)(int));

/* Has SIGINT and SIGTERM as they were again.  A SIGALRM may still be under way. */
void signals_release(void);

/* Has all three as they were, in a child that executes something else. */
void signals_restore(void);

#endif /* COSY_PROFILE_SIGNALS_H */
