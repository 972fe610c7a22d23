// SPDX-License-Identifier: MIT
/* guards.c - see guards.h. */
#include "file/guards.h"

/* Arrays of characters, not of pointers: nothing to relocate when a program starts. */
#define NAME_MAX_LEN 20
#define WHAT_MAX_LEN 120

static const char names[GUARDS][NAME_MAX_LEN] = {
#define GUARD(name, what, breaks, then) #name,
#include "file/guards.def"
#undef GUARD
};

static const char whats[GUARDS][WHAT_MAX_LEN] = {
#define GUARD(name, what, breaks, then) what,
#include "file/guards.def"
#undef GUARD
};

const char *guard_name(enum guard guard)
{
	return names[guard];
}

const char *guard_what(enum guard guard)
{
	return whats[guard];
}
