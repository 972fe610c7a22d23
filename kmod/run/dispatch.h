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
 * Finds a function of the kernel's that is not exported, by a kprobe.  NULL, and a line in the
 * log, when there is none.  It is to be called by a static call only, which is direct: the
 * address lies after the ENDBR that an indirect call would need, and an indirect call would be a
 * target for speculation.
 */
void *cosy_unexported(const char *name);
/* Finds a variable.  NULL when it has no symbol, as without CONFIG_KALLSYMS_ALL. */
const void *cosy_unexported_data(const char *name);

/*
 * Finds the dispatcher.  -ENOENT or -EOPNOTSUPP, with a line in the log, when compounds cannot run
 * on this kernel or processor; -ENOMEM.
 */
int cosy_dispatch_init(void);

#endif /* COSY_DISPATCH_H */
