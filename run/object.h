/* SPDX-License-Identifier: MIT */
/* object.h - finds symbols of a loaded object in the dynamic linker's tables, without its lock. */
#ifndef COSY_RUN_OBJECT_H
#define COSY_RUN_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The tables that the dynamic section of a loaded object leads to. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const ElfW(Half) * versions;
	const char *strings, *name; /* its DT_SONAME, or "" */
	const uint32_t *hashes;
};

/* Reads l_addr and l_ld of `map`, nothing else. */
void object_read(const struct link_map *map, struct object *object);

/* Returns the hash of a symbol's name. */
uint32_t object_hash(const char *name);

/* As object_find, for a name whose hash is known. */
void *object_find_hashed(const struct object *object, const char *name, uint32_t hash);

/*
 * Finds the address of the object's symbol `name`, in its default version; NULL if it defines none.
 */
void *object_find(const struct object *object, const char *name);

/* True if the address is in this object, a shared library, whose first segment has its headers. */
bool object_spans(const struct object *object, const void *address);

bool object_is_same(const char *name, const char *other);

#pragma GCC visibility pop

#endif /* COSY_RUN_OBJECT_H */
