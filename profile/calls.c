// SPDX-License-Identifier: MIT
/* calls.c - see calls.h. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "calls.h"
#include "core.h"

static const struct call_kind kinds[CALLS_MAX] = {
#define COSY_CALL(number, name, arguments, flags) [number] = {#name, arguments, NULL, flags, false},
#define COSY_FAST_CALL(number, name, arguments, flags, views)                                      \
	[number] = {#name, arguments, NULL, flags, true},
#define COSY_DENY(number, name, why) [number] = {#name, "", why, 0, false},
#include "ops.def"
};

const struct call_kind *call_kind(unsigned int nr)
{
	static const struct call_kind unknown = {"unknown call", "", "it is not known", 0, false};

	return nr < CALLS_MAX && kinds[nr].name ? &kinds[nr] : &unknown;
}

/* Returns the first argument that has the letter, from 0; -1: none. */
static int call_argument(unsigned int nr, char letter)
{
	const char *arguments = call_kind(nr)->arguments;
	const char *found = strchr(arguments, letter);

	return found ? (int)(found - arguments) : -1;
}

int call_path(unsigned int nr)
{
	/* No compound may make them, so ops.def has no arguments of theirs. */
	if (nr == SYS_execve)
		return 0;
	if (nr == SYS_execveat)
		return 1;
	return call_argument(nr, 's');
}

int call_descriptor(unsigned int nr)
{
	return call_argument(nr, 'd');
}

static int call_memory_argument(unsigned int nr, char letter)
{
	const char *arguments = call_kind(nr)->arguments;

	for (int i = 0; arguments[i] && arguments[i + 1]; i++)
		if (arguments[i] == letter && (arguments[i + 1] == 'l' || nr == SYS_getdents64))
			return i;
	return -1;
}

int call_given(unsigned int nr)
{
	return call_memory_argument(nr, 'r');
}

int call_made(unsigned int nr)
{
	return call_memory_argument(nr, 'p');
}

bool call_locks(unsigned int nr, uint64_t command)
{
	if (nr != SYS_fcntl)
		return false;
	switch (command) {
	case F_SETLK:
	case F_SETLKW:
	case F_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
	case F_OFD_GETLK:
		return true;
	default:
		return false;
	}
}

bool call_memory(unsigned int nr, const uint64_t args[6])
{
	switch (nr) {
	case SYS_brk:
	case SYS_mremap:
	case SYS_madvise:
	case SYS_mprotect:
		return true;
	case SYS_mmap:
		return args[3] & MAP_ANONYMOUS;
	default:
		return false;
	}
}
