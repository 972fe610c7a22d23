/* SPDX-License-Identifier: MIT */
/*
 * interpose.h - finds which of libc's functions this process defines once more.
 *
 * A preloaded library (fakeroot, libfaketime, `cosy run`), a library that is linked before
 * libc, or the program itself may define getuid() or read(), and every call of it reaches that
 * definition.  A compound would make the system call in its stead.
 */
#ifndef COSY_LIB_INTERPOSE_H
#define COSY_LIB_INTERPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "process/object.h"

struct libcosy_function {
	const char *name;
	uint32_t hash; /* as DT_GNU_HASH has it */
};

/*
 * Called for a definition before libc's: the function, and the object's path, "" for the program
 * itself.  `checks`: it is a sanitizer's, which checks the arguments and means libc's function.
 */
typedef void libcosy_found(void *arg, unsigned int function, const char *object, bool checks);

uint32_t libcosy_name_hash(const char *name);

/* True if an object has a function of that name to which others may be bound. */
bool libcosy_object_has(const struct libcosy_object *object,
			const struct libcosy_function *function);

/*
 * Calls `found` for each definition of one of `count` functions in an object that the dynamic
 * linker searches before libc.  Returns false when libc is no shared object but part of the
 * program.  Allocates nothing.
 */
bool libcosy_each_interposer(const struct libcosy_function *functions, unsigned int count,
			     libcosy_found *found, void *arg);

#endif /* COSY_LIB_INTERPOSE_H */
