/* SPDX-License-Identifier: GPL-2.0 */
/* descriptor.h - the descriptor of a watcher: its words, mapped, and its READs. */
#ifndef COSY_WATCH_DESCRIPTOR_H
#define COSY_WATCH_DESCRIPTOR_H

struct cosy_watch;

/* Serves COSY_IOC_WATCH: returns a descriptor or an error. */
long cosy_watch_open(const struct cosy_watch *request);

#endif /* COSY_WATCH_DESCRIPTOR_H */
