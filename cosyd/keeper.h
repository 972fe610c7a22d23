/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - runs the daemon's process that has the leases.
 *
 * The keeper does nothing that could wait for anybody: it opens and reads no file, closes none
 * for the last time, and knows no clients.  The front gives it files that the front itself has
 * opened, and takes and drops references for its clients; nobody else has the other end of the
 * keeper's socket.
 */
#ifndef COSYD_KEEPER_H
#define COSYD_KEEPER_H

#include <stdint.h>

#include "slots.h"

enum keeper_op {
	KEEPER_TAKE, /* takes a reference; sent with a descriptor that no client shares */
	KEEPER_DROP, /* drops one; the answer to the last carries the descriptor, to be closed */
};

/* A request to the keeper, which answers with a struct cosyd_reply. */
struct keeper_request {
	uint64_t dev, ino; /* of the file, for TAKE */
	uint32_t op, slot;
};

/* Serves `socket` until it is closed or a signal ends the process.  Returns the exit status. */
int keeper_run(int socket, struct cosyd_memory *memory, const struct slots_options *options);

#endif /* COSYD_KEEPER_H */
