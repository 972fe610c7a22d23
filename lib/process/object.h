/* SPDX-License-Identifier: MIT */
/* object.h - an object of this process as the dynamic linker knows it: its tables, its owner. */
#ifndef COSY_LIB_OBJECT_H
#define COSY_LIB_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of an object, from its dynamic section; NULL or 0 where that names none. */
struct libcosy_object {
	const void *symbols;	      /* ElfW(Sym)s */
	const char *strings, *soname; /* soname: "" if there is none */
	const uint32_t *gnu_hash, *sysv_hash;
	/* ElfW(Rela)s: of calls, and the others that have a symbol. */
	const void *calls, *data;
	size_t call_cnt, data_cnt;
};

/*
 * Makes one pass over the dynamic section of an object loaded at base, ElfW(Dyn)s or NULL.  False
 * where names cannot be looked up.
 */
bool libcosy_object_open(uintptr_t base, const void *dynamic, struct libcosy_object *ret);

/* Returns the name by which others need such an object, "" if it has none. */
const char *libcosy_object_soname(uintptr_t base, const void *dynamic);

static inline bool libcosy_begins(const char *text, const char *with)
{
	while (*with && *text == *with)
		text++, with++;
	return !*with;
}

/* Needs no look-up by the dynamic linker, as the first call of strcmp would. */
static inline bool libcosy_is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

enum libcosy_role { COSY_OBJECT_OTHER, COSY_OBJECT_PART_OF_LIBC, COSY_OBJECT_LIBC };

/* True if it is libc, or a part of it: before glibc 2.34 parts had some of the wrappers. */
static inline enum libcosy_role libcosy_object_role(const char *soname)
{
	if (!libcosy_begins(soname, "lib"))
		return libcosy_begins(soname, "ld-linux") ? COSY_OBJECT_PART_OF_LIBC
							  : COSY_OBJECT_OTHER;
	soname += 3;
	if (libcosy_begins(soname, "c.so") || libcosy_begins(soname, "c.musl"))
		return COSY_OBJECT_LIBC;
	if (libcosy_begins(soname, "pthread.so") || libcosy_begins(soname, "rt.so") ||
	    libcosy_begins(soname, "dl.so"))
		return COSY_OBJECT_PART_OF_LIBC;
	return COSY_OBJECT_OTHER;
}

/*
 * Tells the vDSO, which is listed; but nothing is bound to it by name, and its addresses are not
 * the linker's.
 */
static inline bool libcosy_object_is_vdso(const char *path)
{
	return libcosy_begins(path, "linux-vdso");
}

#endif /* COSY_LIB_OBJECT_H */
