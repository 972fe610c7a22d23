// SPDX-License-Identifier: MIT
/*
 * observed.c - see observed.h.
 */
#include <stdlib.h>

#include "record/observed.h"

struct observed_thread **thread_place(struct observed *observed, pid_t tid)
{
	struct observed_thread **at = &observed->threads[tid % OBSERVED_BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

struct observed_process **process_place(struct observed *observed, pid_t pid)
{
	struct observed_process **at = &observed->processes[pid % OBSERVED_BUCKETS];

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

void process_forget_libraries(struct observed_process *process)
{
	for (unsigned int fd = 0; fd < MAX_LIBRARIES; fd++) {
		free(process->libraries[fd]);
		process->libraries[fd] = NULL;
	}
}

static void process_destroy(struct observed_process **at)
{
	struct observed_process *process = *at;

	*at = process->next;
	process_forget_libraries(process);
	space_destroy(process->space);
	free(process);
}

static struct observed_process *process_get(struct observed *observed, pid_t pid)
{
	struct observed_process **at = process_place(observed, pid);

	if (*at)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return NULL;
	(*at)->pid = pid;
	(*at)->space = space_create(observed->objects, pid);
	if (!(*at)->space) {
		free(*at);
		*at = NULL;
	}
	return *at;
}

struct observed_thread *thread_add(struct observed *observed, pid_t tid)
{
	struct observed_thread **at = thread_place(observed, tid);

	*at = calloc(1, observed->thread_size);
	if (!*at)
		return NULL;
	(*at)->tid = tid;
	observed->n_threads++;
	return *at;
}

bool thread_join(struct observed *observed, struct observed_thread *thread, pid_t pid)
{
	struct observed_process *process = process_get(observed, pid);

	if (!process)
		return false;
	thread->process = process;
	process->threads++;
	return true;
}

struct observed_thread *thread_create(struct observed *observed, pid_t pid, pid_t tid)
{
	struct observed_thread **at = thread_place(observed, tid);

	if (*at)
		return *at;
	if (thread_add(observed, tid) && !thread_join(observed, *at, pid))
		thread_destroy(observed, at);
	return *at;
}

void thread_destroy(struct observed *observed, struct observed_thread **at)
{
	struct observed_thread *thread = *at;

	*at = thread->next;
	observed->n_threads--;
	if (observed->thread_end)
		observed->thread_end(thread);
	if (thread->process && !--thread->process->threads)
		process_destroy(process_place(observed, thread->process->pid));
	free(thread);
}

void observed_drop(struct observed *observed)
{
	for (unsigned int i = 0; i < OBSERVED_BUCKETS; i++)
		while (observed->threads[i])
			thread_destroy(observed, &observed->threads[i]);
}
