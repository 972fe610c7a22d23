/* SPDX-License-Identifier: MIT */
/* step_move.h - the steps of step.c through arenas, and pages that are lent and taken over. */
#ifndef STEP_MOVE_H
#define STEP_MOVE_H

#include "step.h"
#include <cosy/move.h>

#define MOVED (8 * PAGE)

static char *arena_map(int fd, long *ret)
{
	struct cosy_arena_request request = { .size = sizeof(request), .length = MOVED };
	char *memory = NULL;

	*ret = raw_ioctl(fd, COSY_IOC_ARENA, &request);
	if (*ret < 0)
		return NULL;
	memory = mmap(NULL, MOVED, PROT_READ | PROT_WRITE, MAP_SHARED, (int)*ret, 0);
	MUST(memory != MAP_FAILED);
	close((int)*ret);
	return memory;
}

static long move(int fd, unsigned int operation, int pipe, char *memory, unsigned int flags)
{
	struct cosy_move argument = { .size = sizeof(argument),
				      .operation = operation,
				      .address = (uintptr_t)memory,
				      .length = MOVED,
				      .fd = pipe,
				      .flags = flags };

	return raw_ioctl(fd, COSY_IOC_MOVE, &argument);
}

static bool all_are(const char *memory, size_t size, char value)
{
	for (size_t i = 0; i < size; i++)
		if (memory[i] != value)
			return false;
	return true;
}

/* Checks that the rest of a message of `value` is in the pipe, as plain bytes or pages. */
static void check_rest(int pipe, size_t left, char value)
{
	char bytes[PAGE];

	while (left) {
		ssize_t now = read(pipe, bytes, sizeof(bytes));

		MUST(now > 0 && (size_t)now <= left);
		CHECK(all_are(bytes, (size_t)now, value), "%s, point %d: what was lent; %s",
		      step_name, step_point, step_last);
		left -= (size_t)now;
	}
}

static void step_arena(void)
{
	POINTS("ARENA", 50)
	{
		int fd = raw_open();
		char *memory;
		long ret;

		step_arm();
		memory = arena_map(fd, &ret);
		step_disarm();
		JUDGE("ARENA", ret, ret >= 0);
		if (!memory)
			memory = arena_map(fd, &ret);
		CHECK(memory, "point %d: again: %ld", step_point, ret);
		check_zeros(memory, MOVED);
		munmap(memory, MOVED);
		close(fd);
		step_check_nothing_left();
		check_nothing_charged();
	}
}

/* Sends a message of one arena to another, flags as given; then uses both on. */
static void step_move(const char *name, unsigned int loan, unsigned int transfer)
{
	POINTS(name, 200)
	{
		int fd = raw_open(), ends[2];
		char *from, *to;
		long ret[4];

		MUST(!pipe(ends));
		from = arena_map(fd, ret);
		to = arena_map(fd, ret);
		MUST(from && to);
		memset(from, 'a', MOVED);
		memset(to, 'b', MOVED);
		step_arm();
		ret[0] = move(fd, COSY_MOVE_LOAN, ends[1], from, loan);
		if (!(loan & COSY_MOVE_GIVE))
			ret[1] = move(fd, COSY_MOVE_READY, -1, from, COSY_MOVE_WILL_WRITE);
		else
			ret[1] = move(fd, COSY_MOVE_FLUSH, -1, from, 0);
		ret[2] = ret[0] <= 0 ? 0 : move(fd, COSY_MOVE_TRANSFER, ends[0], to, transfer);
		step_disarm();
		JUDGE("LOAN", ret[0], ret[0] > 0);
		JUDGE(loan ? "FLUSH" : "READY", ret[1], !ret[1]);
		JUDGE("TRANSFER", ret[2], ret[2] >= 0);
		if (loan & COSY_MOVE_GIVE)
			CHECK(ret[1] || all_are(from, MOVED, 0), "point %d: given; %s", step_point,
			      step_last);
		memset(from, 'c', MOVED);
		if (ret[2] > 0) {
			CHECK(all_are(to, (size_t)ret[2], 'a'), "point %d: received; %s",
			      step_point, step_last);
			CHECK(all_are(to + ret[2], MOVED - (size_t)ret[2], 'b'),
			      "point %d: after what was received; %s", step_point, step_last);
		}
		if (ret[0] > 0)
			check_rest(ends[0], (size_t)ret[0] - (ret[2] > 0 ? (size_t)ret[2] : 0),
				   'a');
		memset(to, 'd', MOVED);
		CHECK(all_are(from, MOVED, 'c'), "point %d: the sender's; %s", step_point,
		      step_last);
		munmap(from, MOVED);
		munmap(to, MOVED);
		close(fd);
		close(ends[0]);
		close(ends[1]);
		step_check_nothing_left();
	}
}

/* Makes the child copy on write, while some pages are out. */
static void step_fork_arena(void)
{
	POINTS("fork with an arena", 200)
	{
		int fd = raw_open(), ends[2], status;
		long ret;
		char *memory = arena_map(fd, &ret);
		pid_t pid;

		MUST(memory && !pipe(ends));
		memset(memory, 'a', MOVED);
		MUST(move(fd, COSY_MOVE_LOAN, ends[1], memory, 0) > 0);
		memset(memory + PAGE, 'b', PAGE);
		step_arm();
		pid = fork();
		if (!pid) {
			bool same = all_are(memory, PAGE, 'a') &&
				    all_are(memory + PAGE, PAGE, 'b') &&
				    all_are(memory + 2 * PAGE, MOVED - 2 * PAGE, 'a');

			_exit(same ? 0 : 3);
		}
		step_disarm();
		JUDGE("fork", pid < 0 ? -errno : 0, pid > 0);
		if (pid > 0) {
			MUST(waitpid(pid, &status, 0) == pid);
			CHECK(!status, "point %d: the child ended with %#x; %s", step_point, status,
			      step_last);
		}
		munmap(memory, MOVED);
		close(fd);
		close(ends[0]);
		close(ends[1]);
		step_check_nothing_left();
	}
}

#endif /* STEP_MOVE_H */
