/* SPDX-License-Identifier: GPL-2.0 */
/* move.h - COSY_IOC_ARENA, COSY_IOC_MOVE and COSY_IOC_MOVING. */
#ifndef COSY_MOVE_MOVE_H
#define COSY_MOVE_MOVE_H

#include <linux/types.h>

struct cosy_arena_request;
struct cosy_context;
struct cosy_move;
struct cosy_moving;
struct seq_file;

/*
 * A flag of a loan that only the module itself sets: -ERANGE, with nothing done, unless all of the
 * memory is in one mapping of an arena.
 */
#define COSY_MOVE_WHOLE (1U << 31)

/* Serve the ioctls, as the uapi header documents them. */
long cosy_move_arena(struct cosy_context *context, const struct cosy_arena_request *request);
long cosy_move(struct cosy_context *context, const struct cosy_move *move);
long cosy_moving(struct cosy_moving *moving);

/*
 * Writes the amounts of all users for the counters in debugfs.  -EINTR when the caller is killed.
 */
int cosy_moving_show(struct seq_file *file);

#endif /* COSY_MOVE_MOVE_H */
