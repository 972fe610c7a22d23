// SPDX-License-Identifier: MIT
/*
 * next.c - see next.h.
 *
 * dlsym(RTLD_NEXT, ...) would find the same, but under the dynamic linker's lock.  A thread that
 * needs it for its first poll() waits for whoever is in dlopen() or dlclose(), who may be in a
 * constructor and wait for that thread; and in a child of _Fork() the lock may belong to nobody.
 * So this looks into the symbol tables of the objects between this library and libc.  They were
 * all loaded when the program started and are never unloaded, so it takes no lock, no memory, few
 * hundred bytes of stack, and may be called anywhere.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "next.h"

#define LIBC "libc.so.6"

/* Hidden versions are older ones, for programs that were linked when they were new. */
#define VERSION_HIDDEN 0x8000

/* What the dynamic section of a loaded object leads to. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const ElfW(Half) * versions;
	const char *strings, *name;
	const uint32_t *hashes;
};

/* Called by its address, which is looked up when the program starts, not on the caller's stack. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((noplt));

static bool is(const char *name, const char *other)
{
	while (*name && *name == *other)
		name++, other++;
	return *name == *other;
}

/* The linker has made most of these addresses of offsets, but not the vDSO's. */
static const void *address(ElfW(Addr) base, ElfW(Addr) value)
{
	return (const void *)(value < base ? value + base : value);
}

static void object_read(const struct link_map *map, struct object *object)
{
	ElfW(Xword) name = 0;

	*object = (struct object){.base = map->l_addr};
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		const void *table = address(map->l_addr, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			object->symbols = table;
			break;
		case DT_STRTAB:
			object->strings = table;
			break;
		case DT_GNU_HASH:
			object->hashes = table;
			break;
		case DT_VERSYM:
			object->versions = table;
			break;
		case DT_SONAME:
			name = entry->d_un.d_val;
			break;
		}
	}
	object->name = object->strings && name ? object->strings + name : "";
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* Is symbol `index` defined here under this name, in its default version? */
static bool object_has(const struct object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || type == STT_TLS)
		return false;
	if (object->versions && (object->versions[index] & VERSION_HIDDEN))
		return false;
	return is(object->strings + symbol->st_name, name);
}

/* As the GNU hash table is laid out: numbers, a Bloom filter, buckets, chains. */
static void *object_find(const struct object *object, const char *name, uint32_t hash)
{
	enum { BITS = 8 * sizeof(ElfW(Addr)) };
	const uint32_t *table = object->hashes;
	const ElfW(Addr) * filter;
	const uint32_t *buckets, *chains;
	ElfW(Addr) word, found;
	uint32_t index;

	if (!table || !object->symbols || !object->strings || !table[0])
		return NULL;
	filter = (const ElfW(Addr) *)(table + 4);
	buckets = (const uint32_t *)(filter + table[2]);
	chains = buckets + table[0];
	word = filter[hash / BITS % table[2]];
	if (!(word >> hash % BITS & word >> (hash >> table[3]) % BITS & 1))
		return NULL;
	index = buckets[hash % table[0]];
	if (index < table[1])
		return NULL;
	for (;; index++) {
		uint32_t link = chains[index - table[1]];

		if ((link | 1) == (hash | 1) && object_has(object, index, name))
			break;
		if (link & 1)
			return NULL;
	}
	found = object->base + object->symbols[index].st_value;
	if (ELF64_ST_TYPE(object->symbols[index].st_info) == STT_GNU_IFUNC)
		found = ((ElfW(Addr)(*)(void))found)();
	return (void *)found;
}

/* What an older libc has not got. */
static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

long next_error(long ret)
{
	errno = -ret;
	return -1;
}

static const struct link_map *own_map(void)
{
	struct dl_find_object self;

	return _dl_find_object((void *)next_find, &self) ? NULL : self.dlfo_link_map;
}

/* Of `map` and those behind it, up to libc: all that were there from the beginning, as far as it matters. */
static void *find_from(const struct link_map *map, const char *name)
{
	uint32_t hash = hash_of(name);
	bool is_libc = false;

	for (; map && !is_libc; map = map->l_next) {
		struct object object;
		void *found;

		object_read(map, &object);
		is_libc = is(object.name, LIBC);
		found = object_find(&object, name, hash);
		if (found)
			return found;
	}
	return NULL;
}

void *next_find(const char *name)
{
	const struct link_map *map = own_map();
	void *found = map ? find_from(map->l_next, name) : NULL;

	return found ? found : (void *)missing;
}

/* Has the object one of these functions? */
static bool object_interposes(const struct object *object)
{
	static const char names[][6] = {"open", "read", "close"};
	bool has = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !has; i++)
		has = object_find(object, names[i], hash_of(names[i])) != NULL;
	return has;
}

COLD bool next_is_libc(void)
{
	static enum { UNREAD, YES, NO } state;
	const struct link_map *map;
	struct object object;
	bool other = true;

	if (state != UNREAD)
		return state == YES;
	for (map = own_map(); map && map->l_next; map = map->l_next) {
		object_read(map->l_next, &object);
		other = !is(object.name, LIBC);
		if (!other || object_interposes(&object))
			break;
	}
	state = other ? NO : YES;
	return !other;
}

void *next_variable(const char *name)
{
	const struct link_map *map = own_map();

	/* A program that names the variable has it, and libc uses the program's. */
	while (map && map->l_prev)
		map = map->l_prev;
	return find_from(map, name);
}

/*
 * AddressSanitizer's library asks for its defaults.  Without this one it ends programs in which it
 * is not the first library.  Calls are made through it (next_is_libc), so it misses nothing.
 */
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
