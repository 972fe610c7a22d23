/* SPDX-License-Identifier: GPL-2.0 */
/* dispatch.h - the kernel's own dispatcher of system calls. */
#ifndef COSY_DISPATCH_H
#define COSY_DISPATCH_H

#include <linux/static_call.h>

struct pt_regs;

/*
 * Makes system call `number` with the arguments in di, si, dx, r10, r8, r9 of `regs`.  It leaves
 * out seccomp, tracing and audit, which are entry code's: call.S leaves the compound when one of
 * them is armed.
 */
long cosy_dispatch_none(const struct pt_regs *regs, unsigned int number);
DECLARE_STATIC_CALL(cosy_dispatch, cosy_dispatch_none);

/*
 * Finds the dispatcher.  -ENOENT or -EOPNOTSUPP, with a line in the log, when compounds cannot run
 * on this kernel or processor; -ENOMEM.
 */
int cosy_dispatch_init(void);

#endif /* COSY_DISPATCH_H */
