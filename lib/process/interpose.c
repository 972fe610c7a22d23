// SPDX-License-Identifier: MIT
/*
 * interpose.c - see interpose.h.
 *
 * dlsym would hash each name and look it up in every object.  This takes names that were hashed
 * when a program was compiled, and looks only into the hash tables of the few objects before
 * libc, whose Bloom filters say no in some ten instructions.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "process/interpose.h"
#include "process/object.h"

struct search {
	const struct libcosy_function *functions;
	unsigned int count;
	libcosy_found *found;
	void *arg;
	bool libc_seen;
};

uint32_t libcosy_name_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* --- One object --------------------------------------------------------------------- */

static bool object_open(const struct dl_phdr_info *info, struct libcosy_object *ret)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return libcosy_object_open(
				info->dlpi_addr,
				(const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), ret);
	return false;
}

/*
 * True if others may be bound to this symbol.  A function's address in a program is no
 * definition.
 */
static bool symbol_matches(const struct libcosy_object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = (const ElfW(Sym) *)object->symbols + index;
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       !strcmp(object->strings + symbol->st_name, name);
}

static bool gnu_hash_has(const struct libcosy_object *object,
			 const struct libcosy_function *function)
{
	const uint32_t *header = object->gnu_hash, hash = function->hash;
	uint32_t bucket_cnt = header[0], first = header[1], word_cnt = header[2], shift = header[3];
	const uint64_t *words = (const uint64_t *)(header + 4);
	const uint32_t *buckets = (const uint32_t *)(words + word_cnt);
	const uint32_t *chain = buckets + bucket_cnt;
	uint64_t word = words[hash / 64 & (word_cnt - 1)];
	uint32_t index;

	if (!(word >> (hash & 63) & word >> (hash >> shift & 63) & 1))
		return false;
	for (index = buckets[hash % bucket_cnt]; index >= first; index++) {
		uint32_t entry = chain[index - first];

		if ((entry | 1) == (hash | 1) && symbol_matches(object, index, function->name))
			return true;
		if (entry & 1)
			break;
	}
	return false;
}

/* Walks the hash table of before 2006, for the rare object that has no other. */
static bool sysv_hash_has(const struct libcosy_object *object,
			  const struct libcosy_function *function)
{
	uint32_t symbol_cnt = object->sysv_hash[1];

	for (uint32_t index = 1; index < symbol_cnt; index++)
		if (symbol_matches(object, index, function->name))
			return true;
	return false;
}

bool libcosy_object_has(const struct libcosy_object *object,
			const struct libcosy_function *function)
{
	if (object->gnu_hash)
		return gnu_hash_has(object, function);
	return object->sysv_hash && sysv_hash_has(object, function);
}

/* True if a sanitizer defines the function, which it also exports under this name. */
static bool is_interceptor(const struct libcosy_object *object, const char *name)
{
	char text[96];
	struct libcosy_function twin = {.name = text};

	if (snprintf(text, sizeof(text), "__interceptor_%s", name) >= (int)sizeof(text))
		return false;
	twin.hash = libcosy_name_hash(text);
	return libcosy_object_has(object, &twin);
}

/* --- The objects in the order of a look-up --------------------------------------------- */

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	struct libcosy_object object;
	enum libcosy_role role;

	(void)size;
	if (libcosy_object_is_vdso(info->dlpi_name) || !object_open(info, &object))
		return 0;
	role = libcosy_object_role(object.soname);
	if (role != COSY_OBJECT_OTHER) {
		search->libc_seen = role == COSY_OBJECT_LIBC;
		return role == COSY_OBJECT_LIBC;
	}
	for (unsigned int i = 0; i < search->count; i++)
		if (libcosy_object_has(&object, &search->functions[i]))
			search->found(search->arg, i, info->dlpi_name,
				      is_interceptor(&object, search->functions[i].name));
	return 0;
}

bool libcosy_each_interposer(const struct libcosy_function *functions, unsigned int count,
			     libcosy_found *found, void *arg)
{
	struct search search = {
		.functions = functions,
		.count = count,
		.found = found,
		.arg = arg,
	};

	dl_iterate_phdr(search_object, &search);
	return search.libc_seen;
}
