// SPDX-License-Identifier: MIT
/*
 * next.c - see next.h.
 *
 * dlsym(RTLD_NEXT, ...) would find the same, but under the dynamic linker's lock.  A thread's first
 * poll() would wait for another that is in dlopen() or dlclose(), which may be in a constructor
 * and wait for the first; and in a child of _Fork() nobody may be left to release the lock.  So
 * this looks into the symbol tables of the objects between this library and libc.  They were all
 * loaded when the program started and are never unloaded, so it takes no lock, no memory and a
 * few hundred bytes of stack, and may be called anywhere.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaded.h"
#include "next.h"
#include "object.h"

#define LIBC "libc.so.6"

/* Stands for functions that an older libc does not have. */
static long function_missing(void)
{
	errno = ENOSYS;
	return -1;
}

long next_error(long ret)
{
	errno = -ret;
	return -1;
}

/*
 * The first objects after this library, read when they are first searched: a program's first calls
 * search them a dozen times.
 */
enum { KNOWN = 8 };

static struct next_object known[KNOWN];
static bool is_known[KNOWN];

/* Finds libc before the object `map`: LD_PRELOAD may name it too.  Returns false if it is not there. */
static bool libc_read_earlier(const struct link_map *map, struct object *libc)
{
	while ((map = map->l_prev)) {
		object_read(map, libc);
		if (object_is_same(libc->name, LIBC))
			return true;
	}
	return false;
}

/*
 * True if libc stands before this library.  Then the objects after this one may be some that
 * dlopen() has loaded, and dlclose() unloads.
 */
static bool libc_is_earlier(void)
{
	static enum { UNREAD, YES, NO } state;
	const struct link_map *own = loaded_own();
	struct object libc;

	if (state == UNREAD)
		state = own && libc_read_earlier(own, &libc) ? YES : NO;
	return state == YES;
}

const struct next_object *next_object(const struct link_map *map, unsigned int i,
				      struct next_object *room)
{
	if (i < KNOWN && __atomic_load_n(&is_known[i], __ATOMIC_ACQUIRE))
		return &known[i];
	object_read(map, &room->object);
	room->is_libc = object_is_same(room->object.name, LIBC);
	if (i < KNOWN && !libc_is_earlier()) {
		/* Other threads may do the same, and write what is there already. */
		known[i] = *room;
		__atomic_store_n(&is_known[i], true, __ATOMIC_RELEASE);
	}
	return room;
}

/* Looks in the objects after this library, up to libc, which all were there at the start. */
static void *objects_find(const struct link_map *own, const char *name, uint32_t hash)
{
	const struct link_map *map = own->l_next;
	bool is_libc = false;

	for (unsigned int i = 0; map && !is_libc; i++, map = map->l_next) {
		struct next_object room;
		const struct next_object *next = next_object(map, i, &room);
		void *found;

		is_libc = next->is_libc;
		found = object_find_hashed(&next->object, name, hash);
		if (found)
			return found;
	}
	return NULL;
}

static void *libc_find_earlier(const struct link_map *map, const char *name)
{
	struct object libc;

	return libc_read_earlier(map, &libc) ? object_find(&libc, name) : NULL;
}

void *next_find(const char *name)
{
	const struct link_map *map = loaded_own();
	void *found = map ? objects_find(map, name, object_hash(name)) : NULL;

	if (map && !found)
		found = libc_find_earlier(map, name);
	return found ? found : (void *)function_missing;
}

/*
 * Functions that a program, or another library of its, may have in the place of libc's.  The first
 * ones are those that this library makes directly by the kernel's calls (next.h).
 */
static const char moving[][6] = {"open", "read", "close", "lseek", "dup2", "fcntl", "fork"};

#define DIRECT 4
#define MOVING (sizeof(moving) / sizeof(*moving))

/* True if the object has one of the first `count` of them. */
static bool object_interposes(const struct object *object, size_t count)
{
	bool has = false;

	for (size_t i = 0; i < count && !has; i++)
		has = object_find(object, moving[i]) != NULL;
	return has;
}

/* True if an object that stands before this library has one: calls of it do not come here. */
static bool earlier_interposes(const struct link_map *own)
{
	const struct link_map *map = own;
	bool has = false;

	while (!has && (map = map->l_prev)) {
		struct object object;

		object_read(map, &object);
		has = object_interposes(&object, MOVING);
	}
	return has;
}

COLD bool next_is_libc(void)
{
	static enum { UNREAD, YES, NO } state;
	const struct link_map *own, *map;
	struct next_object room;
	bool other = true;

	if (state != UNREAD)
		return state == YES;
	map = own = loaded_own();
	for (unsigned int i = 0; map && (map = map->l_next); i++) {
		const struct next_object *next = next_object(map, i, &room);

		other = !next->is_libc;
		if (!other || object_interposes(&next->object, DIRECT))
			break;
	}
	other = other || earlier_interposes(own);
	state = other ? NO : YES;
	return !other;
}

void *next_variable(const char *name)
{
	const struct link_map *own = loaded_own(), *map = own;
	uint32_t hash = object_hash(name);
	struct object object;
	void *found = NULL;

	/* A program that names the variable has it, and libc uses the program's. */
	while (map && map->l_prev)
		map = map->l_prev;
	for (; map != own && !found; map = map->l_next) {
		object_read(map, &object);
		found = object_find_hashed(&object, name, hash);
	}
	return found || !own ? found : objects_find(own, name, hash);
}

/* True for a function of libc's, and for what next_find returns for one that libc does not have. */
static bool is_libcs(const void *function)
{
	const struct link_map *map = loaded_own();
	struct object object;

	if (function == (void *)function_missing)
		return true;
	while ((map = map->l_next)) {
		object_read(map, &object);
		if (object_is_same(object.name, LIBC))
			return object_spans(&object, function);
	}
	return false;
}

void *next_instead(const char *name, void *found)
{
	const struct link_map *map = loaded_own();
	struct object object;
	void *own;

	if (!map)
		return found;
	object_read(map, &object);
	own = object_find(&object, name);
	/* Where this library's function would call another library's, that one may have asked. */
	return own && is_libcs(found) && is_libcs(next_find(name)) ? own : found;
}

/*
 * AddressSanitizer's library asks for its defaults.  Without this one it ends programs in which it
 * is not the first library.  Calls are made through it (next_is_libc), so it misses nothing.
 */
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
