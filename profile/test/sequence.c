// SPDX-License-Identifier: MIT
/*
 * sequence.c - prints what each thread of a recording did, such that two recordings of one program
 * can be compared: no times, addresses or numbers of processes, and the threads sorted.  sequence
 * FILE [callers]
 *
 * With `callers`, which function called the one that made the call, too.
 *
 * Left out is what depends on who was quicker: waiting for a lock, memory for threads' stacks, and
 * calls that a signal has begin again; and the end of a clone whose new thread may execute a
 * program and so end the one that made it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "record/event.h"

#define MAX_THREADS 1024

static bool callers;

/* One for each time that a number is used. */
struct sequence {
	uint32_t tid;
	bool ended;
	char *text;
	size_t size;
	FILE *to;
};

static struct sequence sequences[MAX_THREADS];
static unsigned int n_sequences;
static struct event_stack *stacks[1 << 16];
static char *objects[1 << 10];

static struct sequence *sequence_of(uint32_t tid)
{
	for (unsigned int i = 0; i < n_sequences; i++)
		if (sequences[i].tid == tid && !sequences[i].ended)
			return &sequences[i];
	if (n_sequences == MAX_THREADS)
		abort();
	sequences[n_sequences].tid = tid;
	sequences[n_sequences].to =
		open_memstream(&sequences[n_sequences].text, &sequences[n_sequences].size);
	return &sequences[n_sequences++];
}

static bool call_races(const struct event_call *call)
{
	return (call->ret <= -512 && call->ret >= -516) || call->nr == SYS_futex ||
	       call->nr == SYS_rt_sigprocmask || call->nr == SYS_clone3 ||
	       call->nr == SYS_sched_yield || call->nr == SYS_mprotect ||
	       call_memory(call->nr, call->args);
}

/* The function outside libc that makes the call, if one is known. */
static void print_place(FILE *to, uint32_t number)
{
	const struct event_stack *stack = number < 1 << 16 ? stacks[number] : NULL;

	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		const struct event_frame *frame = &stack->frame[i];
		const char *path = frame->object < 1 << 10 ? objects[frame->object] : NULL;

		if (!path || strstr(path, "libc.so") || strstr(path, "ld-linux"))
			continue;
		path = strrchr(path, '/');
		fprintf(to, " at %s+%lx", path ? path + 1 : "", frame->function);
		if (callers && i + 1 < stack->frames)
			fprintf(to, " from %lx", frame[1].function);
		return;
	}
}

/*
 * pthread_create makes these from frames that are larger than what the kernel's back ends take of a
 * stack; and the program itself is executed from `cosy profile`.
 */
static bool call_deep(uint16_t nr)
{
	return nr == SYS_rt_sigaction || nr == SYS_getrandom || nr == SYS_execve;
}

static void print_call(const struct event_call *call)
{
	FILE *to = sequence_of(call->event.tid)->to;

	if (call_races(call))
		return;
	fprintf(to, "%s", call_kind(call->nr)->name);
	if (call->ret < 0 || (call_descriptor(call->nr) >= 0 && call->ret < 1 << 20))
		fprintf(to, " = %ld", call->ret);
	if (call_descriptor(call->nr) >= 0)
		fprintf(to, " on %ld", (long)(int)call->args[call_descriptor(call->nr)]);
	if (call->path_size > 1)
		fprintf(to, " '%s'", call->path);
	if (call_given(call->nr) >= 0)
		fprintf(to, " given %x", call->given);
	if (call_made(call->nr) >= 0 && call_descriptor(call->nr) >= 3)
		fprintf(to, " made %x", call->made);
	if (!call_deep(call->nr))
		print_place(to, call->stack);
	fputc('\n', to);
}

static void take(const struct event *event)
{
	const struct event_object *object = (const void *)event;
	const struct event_stack *stack = (const void *)event;
	const struct event_fork *fork = (const void *)event;
	const struct event_exit *exit = (const void *)event;
	struct sequence *sequence;

	switch (event->kind) {
	case EVENT_CALL:
		print_call((const struct event_call *)event);
		break;
	case EVENT_OBJECT:
		if (object->id < 1 << 10)
			objects[object->id] = strdup(object->path);
		break;
	case EVENT_STACK:
		if (stack->id < 1 << 16) {
			stacks[stack->id] = malloc(event->size);
			memcpy(stacks[stack->id], event, event->size);
		}
		break;
	case EVENT_FORK:
		fprintf(sequence_of(event->tid)->to, "born %s flags %u\n",
			fork->parent ? "of one that is watched" : "before", event->flags);
		break;
	case EVENT_EXEC:
		fprintf(sequence_of(event->tid)->to, "runs %s\n", event_path(event));
		break;
	case EVENT_EXIT:
		sequence = sequence_of(event->tid);
		fprintf(sequence->to, "ends%s\n", exit->last ? ", the last" : "");
		sequence->ended = true;
		break;
	case EVENT_LOST:
		puts("lost");
		break;
	}
}

static int sequence_compare(const void *one, const void *other)
{
	return strcmp(((const struct sequence *)one)->text, ((const struct sequence *)other)->text);
}

int main(int argc, char **argv)
{
	_Alignas(8) char buffer[EVENT_MAX_SIZE];
	struct event_header header;
	const char *why = NULL;
	FILE *file = argc >= 2 ? fopen(argv[1], "re") : NULL;
	int got = file ? event_file_header(file, &header, &why) : -1;

	callers = argc == 3;
	while (got > 0 && (got = event_file_next(file, (struct event *)buffer, &why)) > 0)
		take((const struct event *)buffer);
	if (got < 0) {
		fprintf(stderr, "sequence: %s\n", why ? why : "no recording");
		return 1;
	}
	for (unsigned int i = 0; i < n_sequences; i++)
		fclose(sequences[i].to);
	qsort(sequences, n_sequences, sizeof(*sequences), sequence_compare);
	for (unsigned int i = 0; i < n_sequences; i++)
		printf("thread\n%s", sequences[i].text);
	return 0;
}
