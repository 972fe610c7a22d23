/* SPDX-License-Identifier: MIT */
/* stream.h - events as a test wants them, straight into a fold. */
#ifndef COSY_PROFILE_STREAM_H
#define COSY_PROFILE_STREAM_H

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "fold/fold.h"
#include "record/event.h"

struct stream {
	struct fold *fold;
	uint64_t time;
	uint32_t pid, tid, stack;
	uint8_t flags;
	uint32_t given, made;
	uint32_t cpu, took; /* ns; 0: 500, and as cpu */
	uint32_t user;	    /* 0: 100 */
};

static inline struct stream stream_begin(void)
{
	struct event_header header = {.magic = EVENT_MAGIC,
				      .version = EVENT_VERSION,
				      .size = sizeof(header),
				      .backend = EVENT_BACKEND_PTRACE,
				      .gap_cost = 100,
				      .null_call = 150};
	struct stream stream = {
		.fold = fold_create(&header), .pid = 10, .tid = 10, .flags = EVENT_CPU};

	return stream;
}

static inline void stream_call_path(struct stream *stream, unsigned int nr, const char *path,
				    int64_t ret, uint64_t a, uint64_t b, uint64_t c)
{
	_Alignas(8) char buffer[sizeof(struct event_call) + EVENT_MAX_PATH] = {0};
	struct event_call *call = (struct event_call *)buffer;

	call->event.kind = EVENT_CALL;
	call->event.flags = stream->flags;
	call->event.tid = stream->tid;
	call->event.time = stream->time += 1000;
	call->pid = stream->pid;
	call->nr = nr;
	call->stack = stream->stack;
	call->given = stream->given;
	call->made = stream->made;
	call->cpu = stream->cpu ? stream->cpu : 500;
	call->took = stream->took ? stream->took : call->cpu;
	call->user = stream->user ? stream->user : 100;
	call->ret = ret;
	call->args[0] = a;
	call->args[1] = b;
	call->args[2] = c;
	if (path) {
		strcpy(call->path, path);
		call->path_size = strlen(path) + 1;
	}
	call->event.size = (sizeof(*call) + call->path_size + 7) & ~7UL;
	fold_take(stream->fold, &call->event);
}

static inline void stream_call(struct stream *stream, unsigned int nr, int64_t ret, uint64_t a,
			       uint64_t b, uint64_t c)
{
	stream_call_path(stream, nr, NULL, ret, a, b, c);
}

static inline void stream_open(struct stream *stream, const char *path, int flags, int fd)
{
	stream_call_path(stream, SYS_openat, path, fd, AT_FDCWD, 0x1000, flags);
}

/* Calls come from these frames from now on, the innermost first, at most three. */
static inline void stream_stack(struct stream *stream, uint32_t id, uint32_t frames,
				const struct event_frame *frame)
{
	_Alignas(8) char buffer[sizeof(struct event_stack) + 3 * sizeof(*frame)] = {0};
	struct event_stack *told = (struct event_stack *)buffer;

	told->event.kind = EVENT_STACK;
	told->event.size = sizeof(*told) + frames * sizeof(*frame);
	told->id = stream->stack = id;
	told->frames = frames;
	memcpy(told->frame, frame, frames * sizeof(*frame));
	fold_take(stream->fold, &told->event);
}

/*
 * Calls come from `address` in a function at `function` from now on, called from 0x9000 in main's.
 */
static inline void stream_place(struct stream *stream, uint32_t id, uint64_t function,
				uint64_t address)
{
	struct event_object objects[2] = {
		{.event = {.kind = EVENT_OBJECT, .size = sizeof(struct event_object)},
		 .id = 1,
		 .libc = 1,
		 .syscall = 0x700},
		{.event = {.kind = EVENT_OBJECT, .size = sizeof(struct event_object)}, .id = 2}};

	fold_take(stream->fold, &objects[0].event);
	fold_take(stream->fold, &objects[1].event);
	stream_stack(stream, id, 3,
		     (struct event_frame[]){{.object = 1, .address = 0x110, .function = 0x100},
					    {.object = 2, .address = address, .function = function},
					    {.object = 2, .address = 0x9100, .function = 0x9000}});
}

#endif /* COSY_PROFILE_STREAM_H */
