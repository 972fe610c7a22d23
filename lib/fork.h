/* SPDX-License-Identifier: MIT */
/* fork.h - registers what has to be done around fork; once. */
#ifndef COSY_LIB_FORK_H
#define COSY_LIB_FORK_H

void libcosy_fork_register(void);

#endif /* COSY_LIB_FORK_H */
