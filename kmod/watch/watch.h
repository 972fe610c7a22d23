/* SPDX-License-Identifier: GPL-2.0 */
/* watch.h - metadata windows: whether there are any, and why not. */
#ifndef COSY_WATCH_H
#define COSY_WATCH_H

#include <linux/cosy_watch.h>

/* Registers hooks if the parameter `metadata` says so; where it cannot, there are no watchers. */
void cosy_watch_init(void);
void cosy_watch_exit(void);

/* Serves COSY_IOC_WATCH: a descriptor; or -EOPNOTSUPP where there are no watchers, and others. */
long cosy_watch(const struct cosy_watch *request);

#endif /* COSY_WATCH_H */
