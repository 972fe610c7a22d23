/* SPDX-License-Identifier: MIT */
/* tell.h - emits the events that all back ends make alike. */
#ifndef COSY_PROFILE_TELL_H
#define COSY_PROFILE_TELL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/record.h"

uint64_t clock_now(void);

/* Fills kind, size, tid, and the time if it has none yet; then hands it over. */
void event_tell(const struct record_sink *sink, struct event *event, unsigned int kind, size_t size,
		pid_t tid);

/* Emits the ns that a thread computed after its last call, if any. */
void tell_gap(const struct record_sink *sink, pid_t pid, pid_t tid, uint64_t time, uint64_t user);

/* Emits an exec; `path` NULL: the path that /proc reports. */
void tell_exec(const struct record_sink *sink, pid_t pid, pid_t tid, uint64_t time,
	       const char *path);

/* Emits the descriptors that are already open. */
void tell_descriptors(const struct record_sink *sink, pid_t pid, pid_t tid);

#endif /* COSY_PROFILE_TELL_H */
