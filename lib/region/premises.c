// SPDX-License-Identifier: MIT
/*
 * premises.c - see premises.h.
 *
 * A function may be another one than libc's in two ways: an object that is searched before libc
 * exports it (interpose.h), or the linker has bound the region's own object to a definition in
 * that object, hidden from the dynamic linker (-fvisibility=hidden, --wrap, -static).
 */
#include <stdio.h>

#include "process/interpose.h"
#include "region/premises.h"
#include "region/region.h"
#include "region/tier.h"

/* Functions looked up at once: a bit of a word each. */
#define MAX_FUNCTIONS 64u

struct verdict {
	char *why;
	size_t size;
	const struct libcosy_function *functions;
	uint64_t checked; /* functions that only a sanitizer defines once more: no harm */
	bool broken;
};

static void say_whose(struct verdict *verdict, unsigned int function, const char *object)
{
	if (!verdict->broken)
		snprintf(verdict->why, verdict->size, "%s() is %s%s here, not libc's",
			 verdict->functions[function].name,
			 *object ? "that of " : "the program's own", object);
	verdict->broken = true;
}

static void object_found(void *arg, unsigned int function, const char *object, bool checks)
{
	struct verdict *verdict = arg;

	if (checks)
		verdict->checked |= 1ull << function;
	else if (!(verdict->checked >> function & 1))
		say_whose(verdict, function, object);
}

/* --- What the linker has bound ----------------------------------------------------------- */

/*
 * Tells whether this is a jump through the GOT, as bfd, gold, lld and mold write it, with endbr64
 * or not.
 */
static bool is_plt_entry(const uint8_t *code)
{
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		code += 4;
	if (code[0] == 0x41 && code[1] == 0xbb) /* mov $index, %r11d */
		code += 6;
	if (code[0] == 0xf2) /* bnd */
		code++;
	return code[0] == 0xff && code[1] == 0x25;
}

/*
 * Tells whether calls reach a definition in the object itself.  A statically linked program has
 * libc's there, too: the linker takes archives in order, the program's own first, then libcosy.a,
 * then libc.a, so an address tells whose it is, next to that of one in .text (CMakeLists.txt).
 */
static bool is_bound_here(const struct cosy_replaced *call, bool is_static)
{
	uintptr_t address = (uintptr_t)&call->where + (intptr_t)call->where;

	if (!call->where || is_plt_entry((const uint8_t *)address))
		return false;
	return !is_static || address < (uintptr_t)libcosy_tier_earned;
}

static bool functions_are_libcs(const struct cosy_replaced *calls, unsigned int count, char *why,
				size_t size)
{
	struct libcosy_function functions[MAX_FUNCTIONS];
	struct verdict verdict = {.why = why, .size = size, .functions = functions};
	bool is_static;

	for (unsigned int i = 0; i < count; i++) {
		functions[i].name = (const char *)&calls[i].name + calls[i].name;
		functions[i].hash = calls[i].hash;
	}
	is_static = !libcosy_each_interposer(functions, count, object_found, &verdict);
	for (unsigned int i = 0; i < count && !verdict.broken; i++)
		if (!(verdict.checked >> i & 1) && is_bound_here(&calls[i], is_static))
			say_whose(&verdict, i, "");
	return !verdict.broken;
}

bool libcosy_premises_hold(const struct cosy_premises *premises, char *why, size_t size)
{
	for (unsigned int i = 0; i < premises->count; i += MAX_FUNCTIONS) {
		unsigned int count = premises->count - i;

		if (count > MAX_FUNCTIONS)
			count = MAX_FUNCTIONS;
		if (!functions_are_libcs(premises->calls + i, count, why, size))
			return false;
	}
	return true;
}
