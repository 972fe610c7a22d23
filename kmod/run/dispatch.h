/* SPDX-License-Identifier: GPL-2.0 */
/* dispatch.h - the kernel's own dispatcher of system calls. */
#ifndef COSY_DISPATCH_H
#define COSY_DISPATCH_H

#include <linux/static_call.h>

struct pt_regs;

/*
 * Makes system call `number` with the arguments in di, si, dx, r10, r8, r9 of
 * `regs`.  What entry code does before it (seccomp, tracing, audit) is not done:
 * call.S leaves the compound when there is any of it.
 */
long cosy_dispatch_none(const struct pt_regs *regs, unsigned int number);
DECLARE_STATIC_CALL(cosy_dispatch, cosy_dispatch_none);

/*
 * The address of a function of the kernel's that is not exported, or NULL and a line in the
 * log.  A kprobe knows it.  It is only to be called directly, by way of a static call: the
 * address lies after the ENDBR that an indirect call would need, and an indirect call would
 * be a target for speculation.
 */
void *cosy_unexported(const char *name);
/* The same for a variable, of which there is a symbol only with CONFIG_KALLSYMS_ALL. */
const void *cosy_unexported_data(const char *name);

/* Finds it; -ENOENT with a line in the log when this kernel has none. */
int cosy_dispatch_init(void);

#endif /* COSY_DISPATCH_H */
