// SPDX-License-Identifier: MIT
/* event.c - see event.h. */
#include <string.h>

#include "record/event.h"

/* The place of an event's path, and the length that it claims. */
struct path_place {
	size_t at, size;
};

static bool path_place(const struct event *event, struct path_place *ret)
{
	switch (event->kind) {
	case EVENT_CALL:
		ret->at = offsetof(struct event_call, path);
		ret->size = ((const struct event_call *)event)->path_size;
		return true;
	case EVENT_OBJECT:
		ret->at = offsetof(struct event_object, path);
		ret->size = ((const struct event_object *)event)->path_size;
		return true;
	case EVENT_DESCRIPTOR:
		ret->at = offsetof(struct event_descriptor, path);
		ret->size = ((const struct event_descriptor *)event)->path_size;
		return true;
	case EVENT_EXEC:
		ret->at = offsetof(struct event_exec, path);
		ret->size = ((const struct event_exec *)event)->path_size;
		return true;
	default:
		return false;
	}
}

static size_t event_least(unsigned int kind)
{
	static const size_t least[EVENT_KINDS] = {
		[EVENT_CALL] = sizeof(struct event_call),
		[EVENT_OBJECT] = sizeof(struct event_object),
		[EVENT_STACK] = sizeof(struct event_stack),
		[EVENT_DESCRIPTOR] = sizeof(struct event_descriptor),
		[EVENT_FORK] = sizeof(struct event_fork),
		[EVENT_EXEC] = sizeof(struct event_exec),
		[EVENT_EXIT] = sizeof(struct event_exit),
		[EVENT_LOST] = sizeof(struct event_lost),
		[EVENT_END] = sizeof(struct event_end),
		[EVENT_GAP] = sizeof(struct event_gap),
	};

	return kind < EVENT_KINDS ? least[kind] : 0;
}

const char *event_check(const struct event *event, size_t size)
{
	struct path_place path;
	size_t least;

	if (size < sizeof(*event) || event->size > size)
		return "an event is cut off";
	least = event_least(event->kind);
	if (!least)
		return "an event is of a kind that this version does not know";
	if (event->size < least || event->size > EVENT_MAX_SIZE || event->size % 8)
		return "an event has a size that its kind cannot have";
	if (event->kind == EVENT_CALL) {
		const struct event_call *call = (const struct event_call *)event;

		if (call->took > EVENT_MAX_TIME || call->cpu > EVENT_MAX_TIME ||
		    call->user > EVENT_MAX_TIME)
			return "a call takes longer than can be";
	}
	if (event->kind == EVENT_GAP && ((const struct event_gap *)event)->user > EVENT_MAX_TIME)
		return "a thread computes longer than can be";
	if (path_place(event, &path)) {
		if (path.size > EVENT_MAX_PATH || path.at + path.size > event->size)
			return "a path is longer than its event";
		if (path.size && ((const char *)event)[path.at + path.size - 1])
			return "a path does not end";
	}
	if (event->kind == EVENT_STACK) {
		const struct event_stack *stack = (const struct event_stack *)event;

		if (stack->frames > EVENT_MAX_FRAMES ||
		    sizeof(*stack) + stack->frames * sizeof(*stack->frame) > event->size)
			return "a stack is longer than its event";
	}
	return NULL;
}

const char *event_path(const struct event *event)
{
	struct path_place path;

	return path_place(event, &path) && path.size ? (const char *)event + path.at : NULL;
}

bool event_file_begin(FILE *file, const struct event_header *header)
{
	return fwrite(header, sizeof(*header), 1, file) == 1;
}

bool event_file_add(FILE *file, const struct event *event)
{
	return fwrite(event, event->size, 1, file) == 1;
}

int event_file_header(FILE *file, struct event_header *header, const char **why)
{
	if (fread(header, sizeof(*header), 1, file) != 1 ||
	    memcmp(header->magic, EVENT_MAGIC, sizeof(header->magic))) {
		*why = "it is no recording of cosy profile's";
		return -1;
	}
	if (header->version != EVENT_VERSION || header->size != sizeof(*header)) {
		*why = "it was recorded by another version of cosy profile";
		return -1;
	}
	return 1;
}

int event_file_next(FILE *file, struct event *buffer, const char **why)
{
	size_t had = fread(buffer, 1, sizeof(*buffer), file);

	if (!had) {
		if (!ferror(file))
			return 0;
		*why = "it cannot be read";
		return -1;
	}
	if (had == sizeof(*buffer) && buffer->size > had && buffer->size <= EVENT_MAX_SIZE)
		had += fread(buffer + 1, 1, buffer->size - had, file);
	*why = event_check(buffer, had);
	return *why ? -1 : 1;
}
