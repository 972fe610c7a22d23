/* SPDX-License-Identifier: GPL-2.0 */
/* move.h - COSY_IOC_ARENA and COSY_IOC_MOVE. */
#ifndef COSY_MOVE_MOVE_H
#define COSY_MOVE_MOVE_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct cosy_arena_request;
struct cosy_context;
struct cosy_move;
struct cosy_moving;

/* Counts what a user has, or all users if `uid` is NULL, as it is at some moment of the call. */
void cosy_moving_count(const kuid_t *uid, struct cosy_moving *ret);

/* Serve the two ioctls: the uapi header says what each does and returns. */
long cosy_move_arena(struct cosy_context *context, const struct cosy_arena_request *request);
long cosy_move(struct cosy_context *context, const struct cosy_move *move);

#endif /* COSY_MOVE_MOVE_H */
