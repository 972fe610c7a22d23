/* SPDX-License-Identifier: MIT */
/* move.h - helps the programs that move pages. */
#ifndef MOVE_H
#define MOVE_H

#include "check.h"
#include "sockets.h"
#include <cosy/move.h>
#include <sys/resource.h>

#define PAGE 4096UL

/* True if memory of cosy_move_alloc is an arena's. */
HELPER bool moves(void)
{
	return kernel_expected();
}

HELPER char *move_alloc(size_t pages)
{
	char *memory = cosy_move_alloc(pages * PAGE, 0);

	MUST(memory);
	return memory;
}

HELPER bool move_is_zero(const char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (memory[i])
			return false;
	return true;
}

/* Reads a byte that may not be there: for in_child(). */
HELPER void move_touch(void *memory)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	_exit(*(volatile char *)memory);
}

/* Leaves no room for more memory of the process's own, or leaves it again. */
HELPER void move_room(bool room)
{
	struct rlimit limit;

	MUST(!getrlimit(RLIMIT_DATA, &limit));
	limit.rlim_cur = room ? limit.rlim_max : PAGE;
	MUST(!setrlimit(RLIMIT_DATA, &limit));
}

/* Sets a parameter of the module, where one may be set. */
HELPER bool move_parameter(const char *name, const char *value)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/cosy/parameters/%s", name);
	return file_write(path, value);
}

/* Switches the module's own checks of what moves on; false: they are already, or cannot be. */
HELPER bool move_check(void)
{
	int fd = open("/sys/module/cosy/parameters/check_moved", O_RDONLY);
	char was = 0;

	if (fd < 0)
		return false;
	MUST(read(fd, &was, 1) == 1);
	close(fd);
	return was != 'Y' && move_parameter("check_moved", "Y");
}

/* Does as part_main, with the module's own checks of what moves switched on where they can be. */
HELPER int move_main(const struct part *parts, size_t count, int argc, char **argv)
{
	bool checked = move_check();
	int status = part_main(parts, count, argc, argv);

	if (checked)
		move_parameter("check_moved", "N");
	return status;
}

/* Returns a word of a message, which tells the message and its place. */
HELPER uint64_t move_word(uint64_t message, uint64_t i)
{
	uint64_t x = message * 0x9e3779b97f4a7c15u + i * 0xd1b54a32d192ed03u;

	x ^= x >> 29;
	return x * 0xbf58476d1ce4e5b9u | 1;
}

HELPER void move_fill(void *memory, size_t bytes, uint64_t message)
{
	uint64_t *word = memory;

	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = move_word(message, i);
}

/* Returns the first word that is not the message's, or -1. */
HELPER long move_differs(const void *memory, size_t bytes, uint64_t message)
{
	const uint64_t *word = memory;

	for (size_t i = 0; i < bytes / 8; i++)
		if (word[i] != move_word(message, i))
			return (long)i;
	return -1;
}

/* Two ends: what is written to `to` comes out of `from`. */
struct pair {
	int from, to;
};

HELPER struct pair tcp_new(void)
{
	int ends[2];

	tcp_pair(ends);
	return (struct pair){ .from = ends[1], .to = ends[0] };
}

HELPER void pair_close(struct pair p)
{
	close(p.from);
	close(p.to);
}

HELPER void read_all(int fd, void *to, size_t count)
{
	for (size_t done = 0; done < count;) {
		ssize_t now = read(fd, (char *)to + done, count - done);

		MUST(now > 0);
		done += (size_t)now;
	}
}

HELPER void transfer_all(int fd, void *to, size_t count, int flags)
{
	for (size_t done = 0; done < count;) {
		ssize_t now = cosy_transfer(fd, (char *)to + done, count - done, flags);

		MUST(now > 0);
		done += (size_t)now;
	}
}

#endif /* MOVE_H */
