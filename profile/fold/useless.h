/* SPDX-License-Identifier: MIT */
/* useless.h - calls that a program could leave out: they change nothing and say nothing new. */
#ifndef COSY_PROFILE_USELESS_H
#define COSY_PROFILE_USELESS_H

#include "fold/files.h"
#include "fold/limits.h"

struct useless {
	uint64_t names[LIMIT_NAMES]; /* hashes of process, call, name and answer */
	/* By thread: its last call, if that was a wait that did not sleep. */
	struct useless_wait {
		uint32_t tid; /* 0: none */
		uint32_t site;
		uint64_t cpu;
	} waits[LIMIT_WAITS];
};

/*
 * Counts the call if it is one; `file` is as it was before the call; its `contents` are kept here.
 */
void useless_count(struct useless *useless, struct profile *profile,
		   const struct fold_process *process, struct open_file *file,
		   const struct event_call *call, enum call_origin origin, uint32_t site);

#endif /* COSY_PROFILE_USELESS_H */
