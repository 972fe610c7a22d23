/* SPDX-License-Identifier: MIT */
/*
 * leases.h - checks for `cosy doctor` whether the kernel grants the leases that `cosy run` needs.
 */
#ifndef COSY_COMMAND_LEASES_H
#define COSY_COMMAND_LEASES_H

#include <stdbool.h>

/* Takes a read lease on a new file of this user's.  Returns the reason of a failure, or NULL. */
const char *leases_refusal(void);

/* True if cosyd answers, which takes leases on files of other users. */
bool leases_have_daemon(void);

#endif /* COSY_COMMAND_LEASES_H */
