/* SPDX-License-Identifier: MIT */
/*
 * next.h - the C library's own functions, which this library's stand before.  They are looked up
 * when they are first called, by next_find and not by the dynamic linker: its lazy binding saves
 * all vector registers on the caller's stack, which may be a small one.
 */
#ifndef COSY_RUN_NEXT_H
#define COSY_RUN_NEXT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "likely.h"
#include "object.h"
#include "syscall.h"

#pragma GCC visibility push(hidden)

/*
 * Finds the function of this name that would be called if this library were not there; one that
 * fails with ENOSYS if there is none.  Takes no lock: it may be called in any thread, signal
 * handler or child.
 */
void *next_find(const char *name);

/* An object that the dynamic linker has loaded after this library. */
struct next_object {
	struct object object;
	bool is_libc;
};

/*
 * Returns what is known of `map`, the object number `i` after this library, from 0 on.  It is read once
 * and kept, or is in `room`.
 */
const struct next_object *next_object(const struct link_map *map, unsigned int i,
				      struct next_object *room);

/* Finds a variable of libc's, wherever the program has it; NULL if there is none. */
void *next_variable(const char *name);

/*
 * True if the functions that open, read, move and close files are this library's to the program,
 * and libc's to this library: neither the program nor another library has its own.
 */
COLD bool next_is_libc(void);

/*
 * Returns this library's function in the place of `found`, which the dynamic linker has found by
 * `name`, if that is libc's function and this library wraps it; or else `found`.
 */
COLD void *next_instead(const char *name, void *found);

/* Sets errno from a raw call's result; returns -1. */
COLD long next_error(long ret);

#pragma GCC visibility pop

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next_;                                                    \
		__typeof__(&name) found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);              \
                                                                                                   \
		if (unlikely(!found_)) {                                                           \
			found_ = (__typeof__(&name))next_find(#name);                              \
			__atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                        \
		}                                                                                  \
		found_;                                                                            \
	})

/* Gives a function of this file another name, which libc has but its headers have not. */
#define OTHER_NAME(name, function)                                                                 \
	__asm__(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #function)

/* Turns a raw call's result into libc's -1 and errno. */
static inline long next_result(long ret)
{
	return unlikely(ret < 0 && ret >= -4095) ? next_error(ret) : ret;
}

#endif /* COSY_RUN_NEXT_H */
