// SPDX-License-Identifier: MIT
/* record.c - see record.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/say.h"
#include "record/event.h"
#include "record/record.h"
#include "record/tell.h"

bool record_ended(pid_t pid)
{
	char name[64], line[256];
	const char *state = NULL;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	file = fopen(name, "re");
	/* The process's name is in brackets and may have some itself. */
	if (file && fgets(line, sizeof(line), file))
		state = strrchr(line, ')');
	if (file)
		fclose(file);
	return !state || !strncmp(state, ") Z", 3) || !strncmp(state, ") X", 3);
}

int record_attach(const struct record_options *options, int (*attach)(void *context, pid_t pid),
		  void *context)
{
	unsigned int attached = 0;

	for (unsigned int i = 0; i < options->n_pids; i++) {
		int error = attach(context, options->pids[i]);

		if (error == -ESRCH)
			say("cosy profile: process %d has ended, and is not recorded",
			    (int)options->pids[i]);
		else if (error) {
			say("cosy profile: process %d: %s%s", (int)options->pids[i],
			    strerror(-error),
			    error == -EPERM ? ": no debugger may have it either" : "");
			return error;
		} else {
			attached++;
		}
	}
	return options->n_pids && !attached ? -ESRCH : 0;
}

#define ROUNDS	       8
#define TURNS	       1000
#define RECORDED_TURNS 125
#define BLOCK_TURNS    20

static void null_call(int fd)
{
	(void)fd;
	syscall(SYS_getppid);
}

static void usual_memory(void)
{
	static volatile char memory[2048];

	for (size_t i = 0; i < sizeof(memory); i += 32)
		memory[i]++;
}

static void usual_memory_only(int fd)
{
	(void)fd;
	usual_memory();
}

void record_usual_call(int fd)
{
	char byte;

	usual_memory();
	if (pread(fd, &byte, 1, 0) < 0)
		abort();
}

/* Returns the ns of one call: the minimum of a few trials, because other programs run as well. */
static uint32_t time_of(void (*run)(int), int fd, int turns)
{
	uint64_t least = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		struct timespec from, to;
		uint64_t took;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		for (int i = 0; i < turns; i++)
			run(fd);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		took = (to.tv_sec - from.tv_sec) * 1000000000ULL + to.tv_nsec - from.tv_nsec;
		if (took < least)
			least = took;
	}
	return least / turns;
}

uint32_t record_null_call(void)
{
	return time_of(null_call, -1, TURNS);
}

struct record_usual record_usual(int fd)
{
	struct record_usual ret = {.all = time_of(record_usual_call, fd, TURNS)};
	uint32_t memory = time_of(usual_memory_only, fd, TURNS);

	ret.call = ret.all > memory ? ret.all - memory : 0;
	return ret;
}

static char block[2][EVENT_BLOCK];

static void block_read(int fd)
{
	if (pread(fd, block[0], EVENT_BLOCK, 0) < 0)
		abort();
}

static void byte_read(int fd)
{
	if (pread(fd, block[0], 1, 0) < 0)
		abort();
}

static void block_copy(int fd)
{
	(void)fd;
	memcpy(block[1], block[0], EVENT_BLOCK);
	/* Prevents the compiler from dropping the reads. */
	__asm__ volatile("" : : "r"(block[1]) : "memory");
}

struct record_blocks record_blocks(int fd)
{
	uint32_t block = time_of(block_read, fd, BLOCK_TURNS),
		 byte = time_of(byte_read, fd, BLOCK_TURNS);

	return (struct record_blocks){.read = block > byte ? block - byte : 0,
				      .copy = time_of(block_copy, fd, BLOCK_TURNS)};
}

uint32_t record_usual_again(int fd)
{
	return time_of(record_usual_call, fd, RECORDED_TURNS);
}

#define SECOND 1000000000ULL

void record_progress(struct record_progress *progress, uint64_t calls, uint64_t lost, uint64_t cpu)
{
	uint64_t now = clock_now();

	if (!progress->began)
		progress->began = progress->told = now;
	if (now - progress->told < SECOND || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr,
		"\rcosy profile: %.0f calls/s, %lu in all, %lu lost, %.0f %% of a processor for "
		"itself \033[K",
		(calls - progress->calls) * 1e9 / (now - progress->told), calls, lost,
		100.0 * cpu / (now - progress->began));
	progress->told = now;
	progress->calls = calls;
}

void record_progress_end(struct record_progress *progress)
{
	if (progress->began != progress->told)
		fputs("\r\033[K", stderr);
}
