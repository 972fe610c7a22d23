// SPDX-License-Identifier: MIT
/* elf.c - see elf.h.  Checks every number that the file names against its size. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf.h"

bool cosy_elf_is(const void *file, size_t size)
{
	return size >= EI_NIDENT && !memcmp(file, ELFMAG, SELFMAG);
}

static bool inside(size_t size, uint64_t offset, uint64_t len)
{
	return offset <= size && len <= size - offset;
}

/* Headers need not be aligned in a file. */
static void section_get(const char *file, const Elf64_Ehdr *header, uint64_t index, Elf64_Shdr *ret)
{
	memcpy(ret, file + header->e_shoff + index * sizeof(*ret), sizeof(*ret));
}

static int header_get(const char *file, size_t size, Elf64_Ehdr *ret, const char **why)
{
	if (size < sizeof(*ret)) {
		*why = "the ELF header is cut off";
		return -EINVAL;
	}
	memcpy(ret, file, sizeof(*ret));
	if (ret->e_ident[EI_CLASS] != ELFCLASS64 || ret->e_ident[EI_DATA] != ELFDATA2LSB) {
		*why = "it is not a 64-bit little-endian ELF file";
		return -EINVAL;
	}
	if (ret->e_shoff && ret->e_shentsize != sizeof(Elf64_Shdr)) {
		*why = "its section headers have another size";
		return -EINVAL;
	}
	return 0;
}

/* Reads the counts from section 0 where they do not fit the header. */
static int counts_get(const char *file, size_t size, const Elf64_Ehdr *header, uint64_t *sections,
		      uint64_t *names, const char **why)
{
	Elf64_Shdr first;

	*sections = header->e_shnum;
	*names = header->e_shstrndx;
	if (!inside(size, header->e_shoff, sizeof(first))) {
		*why = "its section headers lie outside the file";
		return -EINVAL;
	}
	section_get(file, header, 0, &first);
	if (!*sections)
		*sections = first.sh_size;
	if (*names == SHN_XINDEX)
		*names = first.sh_link;
	if (*sections > size / sizeof(first) ||
	    !inside(size, header->e_shoff, *sections * sizeof(first))) {
		*why = "its section headers lie outside the file";
		return -EINVAL;
	}
	if (*names >= *sections) {
		*why = "it has no section names";
		return -EINVAL;
	}
	return 0;
}

static bool has_name(const char *names, uint64_t names_size, uint64_t at, const char *name)
{
	size_t len = strlen(name) + 1;

	return at < names_size && names_size - at >= len && !memcmp(names + at, name, len);
}

int cosy_elf_find(const void *data, size_t size, const char *name, struct cosy_section *ret,
		  const char **why)
{
	const char *file = data;
	uint64_t sections, names_index;
	Elf64_Shdr names, section;
	Elf64_Ehdr header;
	int err;

	err = header_get(file, size, &header, why);
	if (err)
		return err;
	if (!header.e_shoff)
		return -ENOENT;
	err = counts_get(file, size, &header, &sections, &names_index, why);
	if (err)
		return err;
	section_get(file, &header, names_index, &names);
	if (names.sh_type == SHT_NOBITS || !inside(size, names.sh_offset, names.sh_size)) {
		*why = "its section names lie outside the file";
		return -EINVAL;
	}
	for (uint64_t i = 1; i < sections; i++) {
		section_get(file, &header, i, &section);
		if (!has_name(file + names.sh_offset, names.sh_size, section.sh_name, name))
			continue;
		if (section.sh_type == SHT_NOBITS ||
		    !inside(size, section.sh_offset, section.sh_size)) {
			*why = "the section lies outside the file";
			return -EINVAL;
		}
		ret->offset = section.sh_offset;
		ret->size = section.sh_size;
		return 0;
	}
	return -ENOENT;
}
