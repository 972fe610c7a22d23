/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - the process of the daemon that has the leases.
 *
 * It does nothing that could wait for anybody: no file is opened, read or closed for the
 * last time here, and no client is known here.  The front gives it files that it has opened
 * itself, and clients' counts of them; it is the only other end of the keeper's socket.
 */
#ifndef COSYD_KEEPER_H
#define COSYD_KEEPER_H

#include <stdint.h>

#include "slots.h"

enum keeper_op {
	KEEPER_TAKE, /* with a descriptor of nobody else's: one reference more */
	KEEPER_DROP, /* one less; the answer to the last has the descriptor, to be closed */
};

/* Answered by a struct cosyd_reply. */
struct keeper_request {
	uint64_t dev, ino; /* of the file: TAKE */
	uint32_t op, slot;
};

/* Serves `socket` until it is closed or a signal ends it.  The exit status. */
int keeper_run(int socket, struct cosyd_memory *memory, const struct slots_options *options);

#endif /* COSYD_KEEPER_H */
