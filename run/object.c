// SPDX-License-Identifier: MIT
/* object.c - see object.h. */
#include <elf.h>
#include <stddef.h>

#include "object.h"

/* Marks an older version, for programs that were linked when it was new. */
#define VERSION_HIDDEN 0x8000

bool object_is_same(const char *name, const char *other)
{
	while (*name && *name == *other)
		name++, other++;
	return *name == *other;
}

/* The linker has made most of these offsets addresses, but not the vDSO's. */
static const void *object_address(ElfW(Addr) base, ElfW(Addr) value)
{
	return (const void *)(value < base ? value + base : value);
}

void object_read(const struct link_map *map, struct object *object)
{
	ElfW(Xword) name = 0;

	*object = (struct object){.base = map->l_addr};
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		const void *table = object_address(map->l_addr, entry->d_un.d_ptr);

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

uint32_t object_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* True if symbol `index` is defined here under this name, in its default version. */
static bool object_has(const struct object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || type == STT_TLS)
		return false;
	if (object->versions && (object->versions[index] & VERSION_HIDDEN))
		return false;
	return object_is_same(object->strings + symbol->st_name, name);
}

/* Follows the layout of the GNU hash table: numbers, a Bloom filter, buckets, chains. */
void *object_find_hashed(const struct object *object, const char *name, uint32_t hash)
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

void *object_find(const struct object *object, const char *name)
{
	return object_find_hashed(object, name, object_hash(name));
}

bool object_spans(const struct object *object, const void *address)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->base;
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(object->base + header->e_phoff);
	bool spans = false;

	for (int i = 0; i < header->e_phnum && !spans; i++)
		spans = segments[i].p_type == PT_LOAD &&
			(ElfW(Addr))address - object->base - segments[i].p_vaddr <
				segments[i].p_memsz;
	return spans;
}
