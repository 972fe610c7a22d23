// SPDX-License-Identifier: MIT
/*
 * fuzz_fold.c - folds a stream of events and prints what it comes to: the input is events in a
 * short form, with small numbers, so that processes, descriptors and loops meet.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "advise/advise.h"
#include "fold/fold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static uint32_t take(struct input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return *input->data++;
}

/* Mostly small, sometimes at a limit. */
static uint64_t number(struct input *input)
{
	static const uint64_t limits[] = {0x7fffffff, 0xffffffff, 0x100000000, INT64_MAX,
					  UINT64_MAX, 65535,	  65536,       4096};
	uint32_t byte = take(input);

	return byte < 0xf8 ? byte : limits[byte & 7];
}

static void put_path(struct input *input, char *path, size_t *size)
{
	static const char *const paths[] = {"/a",      "/b",	   "",		 "/dev/null",
					    "/proc/1", "pipe:[1]", "socket:[1]", "\x1b[31m<b>"};
	const char *from = paths[take(input) & 7];

	*size = strlen(from) + 1;
	memcpy(path, from, *size);
}

static void put_call(struct input *input, struct event_call *call, size_t *size)
{
	static const uint16_t calls[] = {SYS_read,  SYS_write,	     SYS_openat, SYS_close,
					 SYS_lseek, SYS_newfstatat,  SYS_dup,	 SYS_dup2,
					 SYS_fcntl, SYS_pread64,     SYS_socket, SYS_epoll_wait,
					 SYS_clone, SYS_close_range, SYS_mmap,	 SYS_sendfile};
	uint32_t kind = take(input);
	size_t path = 0;

	call->nr = kind < 0xf0 ? calls[kind & 15] : number(input);
	call->pid = take(input) & 3;
	call->stack = take(input) & 7;
	call->ret = (int8_t)take(input);
	if (kind >= 0xf8)
		call->ret = number(input);
	for (int i = 0; i < 4; i++)
		call->args[i] = number(input);
	call->given = take(input) & 1;
	call->made = take(input) & 1;
	call->cpu = number(input) % (EVENT_MAX_TIME + 1);
	call->user = number(input) % (EVENT_MAX_TIME + 1);
	if (take(input) & 1)
		put_path(input, call->path, &path);
	call->path_size = path;
	*size = sizeof(*call) + path;
}

static void put_stack(struct input *input, struct event_stack *stack, size_t *size)
{
	stack->id = take(input) & 7;
	stack->frames = take(input) & 7;
	for (uint32_t i = 0; i < stack->frames; i++) {
		stack->frame[i].object = take(input) & 3;
		stack->frame[i].function = take(input) & 15;
		stack->frame[i].address = stack->frame[i].function + (take(input) & 3);
	}
	*size = sizeof(*stack) + stack->frames * sizeof(*stack->frame);
}

static void put(struct input *input, struct event *event)
{
	size_t size = sizeof(struct event_end), path = 0;

	event->kind = 1 + take(input) % (EVENT_KINDS - 1);
	/* Most are calls. */
	if (take(input) & 3)
		event->kind = EVENT_CALL;
	event->flags = take(input) & 7;
	event->tid = take(input) & 7;
	event->time = number(input);
	switch (event->kind) {
	case EVENT_CALL:
		put_call(input, (struct event_call *)event, &size);
		break;
	case EVENT_OBJECT: {
		struct event_object *object = (struct event_object *)event;

		object->id = take(input) & 3;
		object->libc = take(input) & 1;
		put_path(input, object->path, &path);
		object->path_size = path;
		size = sizeof(*object) + path;
		break;
	}
	case EVENT_STACK:
		put_stack(input, (struct event_stack *)event, &size);
		break;
	case EVENT_DESCRIPTOR: {
		struct event_descriptor *descriptor = (struct event_descriptor *)event;

		descriptor->pid = take(input) & 3;
		descriptor->fd = number(input);
		descriptor->position = number(input);
		put_path(input, descriptor->path, &path);
		descriptor->path_size = path;
		size = sizeof(*descriptor) + path;
		break;
	}
	case EVENT_EXEC: {
		struct event_exec *exec = (struct event_exec *)event;

		exec->pid = take(input) & 3;
		put_path(input, exec->path, &path);
		exec->path_size = path;
		size = sizeof(*exec) + path;
		break;
	}
	case EVENT_FORK:
		((struct event_fork *)event)->pid = take(input) & 3;
		((struct event_fork *)event)->parent = take(input) & 3;
		break;
	case EVENT_EXIT:
		((struct event_exit *)event)->pid = take(input) & 3;
		break;
	case EVENT_GAP:
		((struct event_gap *)event)->pid = take(input) & 3;
		((struct event_gap *)event)->user = number(input) % (EVENT_MAX_TIME + 1);
		break;
	}
	event->size = (size + 7) & ~7UL;
}

static void show_all(const struct profile *profile)
{
	static struct advice advice;
	char text[64];
	uint64_t calls = 0;

	advise(profile, NULL, &advice);
	for (uint32_t i = 1; i <= profile->n_sites; i++)
		calls += profile->sites[i].all.calls;
	/* No call is counted twice, and none is left out but where that is said. */
	if (calls > profile->sums.calls || calls + profile->forgotten < profile->sums.calls)
		abort();
	calls = 0;
	for (uint32_t i = 1; i <= profile->n_rows; i++)
		if (!profile->rows[i].merged)
			calls += profile->rows[i].sums.calls;
	for (uint32_t i = 1; i <= profile->n_sites; i++)
		calls += profile->sites[i].outside.calls;
	if (calls > profile->sums.calls || calls + profile->forgotten < profile->sums.calls)
		abort();
	for (uint32_t i = 1; i <= profile->n_rows; i++)
		advise_sequence(profile, profile->rows[i].symbol, text, sizeof(text));
	for (uint32_t i = 0; i < profile->n_sessions; i++)
		advise_session(profile, &profile->sessions[i], text, sizeof(text));
	for (uint32_t i = 1; i <= profile->n_edges; i++)
		if (profile->edges[i].held + profile->edges[i].broken >
		    profile->sites[profile->edges[i].to].all.calls)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_header header = {.magic = EVENT_MAGIC, .null_call = 100};
	_Alignas(8) char buffer[EVENT_MAX_SIZE];
	struct input input = {data, size};
	struct fold *fold = fold_create(&header);

	if (!fold)
		return 0;
	while (input.size) {
		struct event *event = (struct event *)buffer;

		memset(buffer, 0, 1024);
		put(&input, event);
		if (event_check(event, event->size))
			abort();
		/* Often again and again, as loops are. */
		for (uint32_t turns = take(&input) & 3; turns-- + 1;)
			fold_take(fold, event);
	}
	show_all(fold_finish(fold));
	fold_destroy(fold);
	return 0;
}
