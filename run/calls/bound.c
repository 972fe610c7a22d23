// SPDX-License-Identifier: MIT
/*
 * bound.c - wraps the dynamic linker's calls that find functions for the program, or bind a
 * library's: OWN_CALLS.  A handle, and a library that the program loads, may lead to libc's
 * functions past this library's.
 *
 * The dynamic linker asks where its caller stands, for RTLD_NEXT and RTLD_DEFAULT and to find the
 * files of libraries.  So the wrappers jump to its functions, and leave no frame.
 */
#include <dlfcn.h>

#include "calls/share.h"
#include "file/file.h"
#include "next.h"
#include "relax/relax.h"
#include "vfork.h"

#define USED __attribute__((used, visibility("hidden")))

/* Find by a real handle, which has no caller. */
USED void *bound_dlsym(void *handle, const char *name)
{
	void *found = NEXT(dlsym)(handle, name);

	return found ? next_instead(name, found) : NULL;
}

USED void *bound_dlvsym(void *handle, const char *name, const char *version)
{
	void *found = NEXT(dlvsym)(handle, name, version);

	return found ? next_instead(name, found) : NULL;
}

/* Return the functions to jump to. */
USED void *bound_next_dlsym(void)
{
	return NEXT(dlsym);
}

USED void *bound_next_dlvsym(void)
{
	return NEXT(dlvsym);
}

/* Prepares for a library whose own calls may be bound to libc's functions. */
static void bound_past(void)
{
	if (!vfork_in_child())
		share_forbid(GUARD_OWN_CALLS);
}

USED void *bound_before_dlopen(const char *path, int flags)
{
	(void)path;
	relax_settle();
	if (flags & RTLD_DEEPBIND)
		bound_past();
	return NEXT(dlopen);
}

/* Another namespace has a libc of its own. */
USED void *bound_before_dlmopen(Lmid_t namespace, const char *path, int flags)
{
	(void)path;
	relax_settle();
	if (namespace != LM_ID_BASE || (flags & RTLD_DEEPBIND))
		bound_past();
	return NEXT(dlmopen);
}
