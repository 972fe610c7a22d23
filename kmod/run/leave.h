/* SPDX-License-Identifier: GPL-2.0 */
/* leave.h - the state of a compound that has left, in the user's memory. */
#ifndef COSY_LEAVE_H
#define COSY_LEAVE_H

#include "run/activation.h"

/* Writes the saved state of a leave to the user's struct cosy_state.  0 or -EFAULT. */
int cosy_leave_save(struct cosy_activation *run, void __user *state);

/*
 * Reads registers, spill frame and the software stack's pointers for a resume.  The used steps and
 * time go to `steps` and `ns`.  Nothing in it is trusted.  0 or -EFAULT.
 */
int cosy_leave_restore(struct cosy_activation *run, const void __user *state, u64 *steps, u64 *ns);

#endif /* COSY_LEAVE_H */
