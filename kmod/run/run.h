/* SPDX-License-Identifier: GPL-2.0 */
/* run.h - one RUN of a compound. */
#ifndef COSY_RUN_H
#define COSY_RUN_H

#include <linux/types.h>

struct cosy_context;
struct file;

/*
 * Serves COSY_IOC_RUN on `file`, which is a context's.  Takes its own reference to the file,
 * hence to context and module, so that a compound may close it.
 */
long cosy_run_ioctl(struct file *file, struct cosy_context *context, void __user *argument);

#endif /* COSY_RUN_H */
