// SPDX-License-Identifier: MIT
/*
 * refer.c - see refer.h.
 *
 * Searches relocations: each reference of an object has one.  The symbol table would not do,
 * because its length is unknown: hash tables leave out undefined symbols.
 */
#include <elf.h>
#include <link.h>

#include "process/object.h"
#include "process/refer.h"

struct reference {
	const char *const *names;
	unsigned int count;
	uint64_t letters; /* a bit for letters_hash of each name */
	uint64_t seen, loaded;
	bool found, libc_seen;
};

/* Hashes the first two letters of a name that is not empty to the number of a bit. */
static unsigned int letters_hash(const char *name)
{
	return ((unsigned char)name[0] * 8u + (unsigned char)name[1]) & 63;
}

static bool is_named(const struct reference *reference, const ElfW(Sym) * symbol, const char *name)
{
	if (symbol->st_shndx != SHN_UNDEF)
		return false;
	for (unsigned int i = 0; i < reference->count; i++)
		if (libcosy_is_same(name, reference->names[i]))
			return true;
	return false;
}

/* Compares single letters first, which mostly differ: each program does this when it starts. */
static bool relocations_name(const struct libcosy_object *object, const ElfW(Rela) * relocation,
			     size_t count, const struct reference *reference)
{
	const uint64_t letters = reference->letters;
	const ElfW(Sym) *symbols = object->symbols;

	for (const ElfW(Rela) *end = relocation + count; relocation != end; relocation++) {
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(relocation->r_info)];
		const char *name = object->strings + symbol->st_name;

		if (*name && letters >> letters_hash(name) & 1 && is_named(reference, symbol, name))
			return true;
	}
	return false;
}

static bool object_refers(ElfW(Addr) base, const ElfW(Dyn) * dynamic,
			  const struct reference *reference)
{
	struct libcosy_object object;

	if (!libcosy_object_open(base, dynamic, &object))
		return false;
	return relocations_name(&object, object.calls, object.call_cnt, reference) ||
	       relocations_name(&object, object.data, object.data_cnt, reference);
}

/* References of libc itself say nothing of the program. */
static bool refers_outside_libc(ElfW(Addr) base, const ElfW(Dyn) * dynamic,
				struct reference *reference)
{
	enum libcosy_role role = libcosy_object_role(libcosy_object_soname(base, dynamic));

	reference->libc_seen |= role == COSY_OBJECT_LIBC;
	return role == COSY_OBJECT_OTHER && object_refers(base, dynamic, reference);
}

__attribute__((cold)) static int find_reference(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct reference *reference = arg;

	(void)size;
	reference->loaded = info->dlpi_adds;
	if (reference->loaded == reference->seen)
		return 1;
	if (libcosy_object_is_vdso(info->dlpi_name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !dynamic; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	reference->found = refers_outside_libc(info->dlpi_addr, dynamic, reference);
	return reference->found;
}

static struct reference reference_to(const char *const *names, unsigned int count)
{
	struct reference ret = {.names = names, .count = count};

	for (unsigned int i = 0; i < count; i++)
		ret.letters |= UINT64_C(1) << letters_hash(names[i]);
	return ret;
}

__attribute__((cold)) enum libcosy_referred libcosy_any_refers_to(const char *const *names,
								  unsigned int count,
								  uint64_t *seen)
{
	struct reference reference = reference_to(names, count);

	reference.seen = *seen;
	dl_iterate_phdr(find_reference, &reference);
	/* Here either every object was looked at, or, since none is new, not even the first. */
	if (!reference.found && !reference.libc_seen && reference.loaded != *seen)
		return COSY_REFERRED_UNKNOWN;
	if (reference.found)
		return COSY_REFERRED;
	*seen = reference.loaded;
	return COSY_NOT_REFERRED;
}

/* --- At the start ------------------------------------------------------------------------ */

/* The program's dynamic section leads debuggers to the list of objects; a library's does not. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

static const struct link_map *objects_listed(void)
{
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr)
			return ((const struct r_debug *)entry->d_un.d_ptr)->r_map;
	return NULL;
}

enum libcosy_referred libcosy_any_refers_at_start(const char *const *names, unsigned int count,
						  const void **last)
{
	struct reference reference = reference_to(names, count);
	const struct link_map *object = objects_listed();
	uint64_t seen = 0;

	*last = NULL;
	if (!object)
		return libcosy_any_refers_to(names, count, &seen);
	/* The first is the program itself. */
	if (object_refers(object->l_addr, object->l_ld, &reference))
		return COSY_REFERRED;
	while (object->l_next) {
		object = object->l_next;
		if (!libcosy_object_is_vdso(object->l_name) &&
		    refers_outside_libc(object->l_addr, object->l_ld, &reference))
			return COSY_REFERRED;
	}
	if (!reference.libc_seen)
		return COSY_REFERRED_UNKNOWN;
	*last = object;
	return COSY_NOT_REFERRED;
}

/* Objects that were there at the start are never unloaded, and others are added after them. */
bool libcosy_object_is_last(const void *last)
{
	const struct link_map *object = last;

	return object && !__atomic_load_n(&object->l_next, __ATOMIC_ACQUIRE);
}
