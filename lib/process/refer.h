/* SPDX-License-Identifier: MIT */
/* refer.h - checks whether an object of this process refers to one of libc's functions. */
#ifndef COSY_LIB_REFER_H
#define COSY_LIB_REFER_H

#include <stdbool.h>
#include <stdint.h>

enum libcosy_referred {
	COSY_NOT_REFERRED,
	COSY_REFERRED,
	COSY_REFERRED_UNKNOWN, /* libc is part of the program */
};

/*
 * True if an object refers to one of `count` functions without defining it.  *seen, 0 at
 * first, remembers how many objects had been loaded when none did, so that nothing is looked at
 * again until there are more.  Allocates nothing and makes no system call.
 */
enum libcosy_referred libcosy_any_refers_to(const char *const *names, unsigned int count,
					    uint64_t *seen);

/*
 * Does the same while a constructor of the program's runs, when no other thread can load an object:
 * calls nothing of libc's, which the dynamic linker would have to look up in each process.  *last,
 * NULL if unknown: the last object when none refers to a function.
 */
enum libcosy_referred libcosy_any_refers_at_start(const char *const *names, unsigned int count,
						  const void **last);

/*
 * Returns whether no object has been loaded after `last`, as libcosy_any_refers_at_start sets it.
 */
bool libcosy_object_is_last(const void *last);

#endif /* COSY_LIB_REFER_H */
