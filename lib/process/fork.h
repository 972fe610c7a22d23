/* SPDX-License-Identifier: MIT */
/* fork.h - registers, once, the handlers around fork. */
#ifndef COSY_LIB_FORK_H
#define COSY_LIB_FORK_H

/* Registers them at its first call.  Not async-signal-safe. */
void libcosy_fork_register(void);

#endif /* COSY_LIB_FORK_H */
