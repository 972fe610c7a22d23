// SPDX-License-Identifier: MIT
/* tell.c - see tell.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/tell.h"

uint64_t clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

void event_tell(const struct record_sink *sink, struct event *event, unsigned int kind, size_t size,
		pid_t tid)
{
	event->kind = kind;
	event->size = (size + 7) & ~7UL;
	event->tid = tid;
	if (!event->time)
		event->time = clock_now();
	sink->take(sink->context, event);
}

void tell_gap(const struct record_sink *sink, pid_t pid, pid_t tid, uint64_t time, uint64_t user)
{
	struct event_gap gap = {.event.time = time, .pid = pid, .user = user};

	if (user)
		event_tell(sink, &gap.event, EVENT_GAP, sizeof(gap), tid);
}

void tell_exec(const struct record_sink *sink, pid_t pid, pid_t tid, uint64_t time,
	       const char *path)
{
	_Alignas(8) char buffer[sizeof(struct event_exec) + EVENT_MAX_PATH] = {0};
	struct event_exec *exec = (struct event_exec *)buffer;
	char name[64];
	ssize_t len;

	if (path) {
		len = strnlen(path, EVENT_MAX_PATH - 1);
		memcpy(exec->path, path, len);
	} else {
		snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
		len = readlink(name, exec->path, EVENT_MAX_PATH - 1);
	}
	exec->event.time = time;
	exec->pid = pid;
	exec->path_size = len > 0 ? len + 1 : 0;
	event_tell(sink, &exec->event, EVENT_EXEC, sizeof(*exec) + exec->path_size, tid);
}

void tell_descriptors(const struct record_sink *sink, pid_t pid, pid_t tid)
{
	_Alignas(8) char buffer[sizeof(struct event_descriptor) + EVENT_MAX_PATH];
	struct event_descriptor *told = (struct event_descriptor *)buffer;
	char name[320], line[256];
	struct dirent *entry;
	DIR *directory;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	directory = opendir(name);
	while (directory && (entry = readdir(directory))) {
		FILE *file;
		ssize_t len;

		if (entry->d_name[0] == '.')
			continue;
		memset(buffer, 0, sizeof(buffer));
		told->position = -1;
		told->pid = pid;
		told->fd = atoi(entry->d_name);
		snprintf(name, sizeof(name), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		len = readlink(name, told->path, EVENT_MAX_PATH - 1);
		told->path_size = len > 0 ? len + 1 : 0;
		snprintf(name, sizeof(name), "/proc/%d/fdinfo/%s", (int)pid, entry->d_name);
		file = fopen(name, "re");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "pos: %ld", &told->position) != 1)
				sscanf(line, "flags: %o", &told->open_flags);
		if (file)
			fclose(file);
		event_tell(sink, &told->event, EVENT_DESCRIPTOR, sizeof(*told) + told->path_size,
			   tid);
	}
	if (directory)
		closedir(directory);
}
