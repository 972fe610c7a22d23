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

#include "interpose.h"

/* The part of an object's dynamic section that a look-up needs. */
struct symbol_table {
	const ElfW(Sym) * symbols;
	const char *strings, *soname;
	const uint32_t *gnu_hash, *sysv_hash;
};

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

/* The dynamic linker makes addresses absolute where it can write them; the others are relative. */
static const void *dynamic_address(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	if (!value)
		return NULL;
	return (const void *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

/* Returns an object's dynamic section, or NULL. */
static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static bool symbol_table_open(const struct dl_phdr_info *info, struct symbol_table *ret)
{
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	ElfW(Addr) value[16] = {0}, gnu_hash = 0;

	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		if ((uint64_t)dynamic->d_tag < 16)
			value[dynamic->d_tag] = dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == DT_GNU_HASH)
			gnu_hash = dynamic->d_un.d_ptr;
		if (gnu_hash && value[DT_SONAME] && value[DT_STRTAB] && value[DT_SYMTAB])
			break;
	}
	ret->symbols = dynamic_address(info, value[DT_SYMTAB]);
	ret->strings = dynamic_address(info, value[DT_STRTAB]);
	ret->gnu_hash = dynamic_address(info, gnu_hash);
	ret->sysv_hash = dynamic_address(info, value[DT_HASH]);
	if (!ret->symbols || !ret->strings)
		return false;
	ret->soname = value[DT_SONAME] ? ret->strings + value[DT_SONAME] : "";
	return true;
}

/*
 * Tells whether others may be bound to this symbol.  A function's address in a program is no
 * definition.
 */
static bool symbol_matches(const struct symbol_table *table, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &table->symbols[index];
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       !strcmp(table->strings + symbol->st_name, name);
}

static bool gnu_hash_has(const struct symbol_table *table, const struct libcosy_function *function)
{
	const uint32_t *header = table->gnu_hash, hash = function->hash;
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

		if ((entry | 1) == (hash | 1) && symbol_matches(table, index, function->name))
			return true;
		if (entry & 1)
			break;
	}
	return false;
}

/* Walks the hash table of before 2006, for the rare object that has no other. */
static bool sysv_hash_has(const struct symbol_table *table, const struct libcosy_function *function)
{
	uint32_t symbol_cnt = table->sysv_hash[1];

	for (uint32_t index = 1; index < symbol_cnt; index++)
		if (symbol_matches(table, index, function->name))
			return true;
	return false;
}

static bool symbol_table_has(const struct symbol_table *table,
			     const struct libcosy_function *function)
{
	if (table->gnu_hash)
		return gnu_hash_has(table, function);
	return table->sysv_hash && sysv_hash_has(table, function);
}

/* Tells whether a sanitizer defines the function, which it also exports under this name. */
static bool is_interceptor(const struct symbol_table *table, const char *name)
{
	char text[96];
	struct libcosy_function twin = {.name = text};

	if (snprintf(text, sizeof(text), "__interceptor_%s", name) >= (int)sizeof(text))
		return false;
	twin.hash = libcosy_name_hash(text);
	return symbol_table_has(table, &twin);
}

/* --- The objects in the order of a look-up --------------------------------------------- */

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with)
		text++, with++;
	return !*with;
}

enum role { OTHER, PART_OF_LIBC, LIBC };

/* Tells libc and its parts from other objects: before glibc 2.34 some wrappers were in parts. */
static enum role role_of(const char *soname)
{
	if (!begins(soname, "lib"))
		return begins(soname, "ld-linux") ? PART_OF_LIBC : OTHER;
	soname += 3;
	if (begins(soname, "c.so") || begins(soname, "c.musl"))
		return LIBC;
	if (begins(soname, "pthread.so") || begins(soname, "rt.so") || begins(soname, "dl.so"))
		return PART_OF_LIBC;
	return OTHER;
}

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	struct symbol_table table;
	enum role role;

	(void)size;
	/* The vDSO is listed, but nothing is bound to it by name. */
	if (begins(info->dlpi_name, "linux-vdso") || !symbol_table_open(info, &table))
		return 0;
	role = role_of(table.soname);
	if (role != OTHER) {
		search->libc_seen = role == LIBC;
		return role == LIBC;
	}
	for (unsigned int i = 0; i < search->count; i++)
		if (symbol_table_has(&table, &search->functions[i]))
			search->found(search->arg, i, info->dlpi_name,
				      is_interceptor(&table, search->functions[i].name));
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

/* --- References ---------------------------------------------------------------------------- */

struct reference {
	const char *const *names;
	unsigned int count;
	uint64_t letters; /* letter_bit of the names */
	uint64_t seen, loaded;
	bool found, libc_seen;
};

/* Hashes a name's first two letters to a bit; no name is empty. */
static uint64_t letter_bit(const char *name)
{
	return UINT64_C(1) << ((name[0] * 7 + name[1]) & 63);
}

/* Compares letters first, in which nearly all names differ, since each program that starts does this. */
static bool is_named(const struct reference *reference, const char *name)
{
	if (!(reference->letters & letter_bit(name)))
		return false;
	for (unsigned int i = 0; i < reference->count; i++)
		if (!strcmp(name, reference->names[i]))
			return true;
	return false;
}

static bool relocations_name(const struct symbol_table *table, const ElfW(Rela) * relocation,
			     size_t count, const struct reference *reference)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t index = ELF64_R_SYM(relocation[i].r_info);
		const ElfW(Sym) *symbol = &table->symbols[index];

		if (index && symbol->st_shndx == SHN_UNDEF &&
		    is_named(reference, table->strings + symbol->st_name))
			return true;
	}
	return false;
}

/*
 * Looks through relocations: all that an object refers to has one.  The symbol table would not
 * do, since nothing tells its length: hash tables leave out symbols that are not defined.
 */
static bool refers_to(const struct dl_phdr_info *info, struct reference *reference)
{
	ElfW(Addr) value[DT_JMPREL + 1] = {0}, relative_cnt = 0;
	const ElfW(Rela) * relocations;
	struct symbol_table table;
	enum role role;

	if (!symbol_table_open(info, &table))
		return false;
	role = role_of(table.soname);
	reference->libc_seen |= role == LIBC;
	/* References of libc itself say nothing of the program. */
	if (role != OTHER)
		return false;
	for (const ElfW(Dyn) *dynamic = dynamic_of(info); dynamic->d_tag != DT_NULL; dynamic++) {
		if ((uint64_t)dynamic->d_tag <= DT_JMPREL)
			value[dynamic->d_tag] = dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == DT_RELACOUNT)
			relative_cnt = dynamic->d_un.d_val;
	}
	relocations = dynamic_address(info, value[DT_JMPREL]);
	if (relocations && relocations_name(&table, relocations,
					    value[DT_PLTRELSZ] / sizeof(*relocations), reference))
		return true;
	relocations = dynamic_address(info, value[DT_RELA]);
	/* Relocations without a symbol come first. */
	return relocations &&
	       relocations_name(&table, relocations + relative_cnt,
				value[DT_RELASZ] / sizeof(*relocations) - relative_cnt, reference);
}

static int find_reference(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct reference *reference = arg;

	(void)size;
	reference->loaded = info->dlpi_adds;
	if (reference->loaded == reference->seen)
		return 1;
	/* The vDSO is listed, but its addresses are not the dynamic linker's. */
	if (!begins(info->dlpi_name, "linux-vdso"))
		reference->found = refers_to(info, reference);
	return reference->found;
}

enum libcosy_referred libcosy_any_refers_to(const char *const *names, unsigned int count,
					    uint64_t *seen)
{
	struct reference reference = {.names = names, .count = count, .seen = *seen};

	for (unsigned int i = 0; i < count; i++)
		reference.letters |= letter_bit(names[i]);
	dl_iterate_phdr(find_reference, &reference);
	/* Here either every object was looked at, or, since none is new, not even the first. */
	if (!reference.found && !reference.libc_seen && reference.loaded != *seen)
		return COSY_REFERRED_UNKNOWN;
	if (reference.found)
		return COSY_REFERRED;
	*seen = reference.loaded;
	return COSY_NOT_REFERRED;
}
