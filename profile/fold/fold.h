/* SPDX-License-Identifier: MIT */
/*
 * fold.h - makes a profile from events while they arrive.  No I/O; its memory does not grow with
 * the number of calls.  Every field of an event may be hostile; event_check has passed it.
 */
#ifndef COSY_PROFILE_FOLD_H
#define COSY_PROFILE_FOLD_H

#include "fold/profile.h"

struct fold;

/* Makes an empty fold.  NULL: there is no memory for it. */
struct fold *fold_create(const struct event_header *header);

/* Takes an event: a record_sink's function. */
void fold_take(void *fold, const struct event *event);

/* Ends the fold and returns its profile, which lives as long as the fold. */
const struct profile *fold_finish(struct fold *fold);

void fold_destroy(struct fold *fold);

#endif /* COSY_PROFILE_FOLD_H */
