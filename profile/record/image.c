// SPDX-License-Identifier: MIT
/* image.c - see image.h.  Every number in a file may be hostile. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/image.h"

#define MAX_FILE	(1ULL << 40)
#define MAX_PARTS	(256ULL << 20)
#define MAX_NAMES_PARTS (1ULL << 30)
#define MAX_HEADERS	0xff00 /* segments or sections: more than that are counted elsewhere */
#define BLOCK		65536

struct image {
	int from, to;
	enum image_parts parts;
	uint64_t size; /* of the file */
	uint64_t left; /* bytes that may still be copied */
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
};

static bool block_empty(const char *block, size_t size)
{
	return !*block && !memcmp(block, block + 1, size - 1);
}

/* Copies these bytes as far as the file goes.  Empty blocks stay holes, which take no memory. */
static int range_copy(struct image *image, uint64_t offset, uint64_t size)
{
	static char block[BLOCK];

	if (offset >= image->size)
		return 0;
	if (size > image->size - offset)
		size = image->size - offset;
	if (size > image->left)
		return -EFBIG;
	image->left -= size;
	while (size) {
		ssize_t had = pread(image->from, block, size < BLOCK ? size : BLOCK, offset);

		if (had < 0)
			return -errno;
		/* It has become shorter. */
		if (!had)
			return 0;
		if (!block_empty(block, had) && pwrite(image->to, block, had, offset) != had)
			return -ENOMEM;
		offset += had;
		size -= had;
	}
	return 0;
}

/* Returns a table of headers, read from the copy, for the caller to free; or NULL. */
static void *table_copy(struct image *image, uint64_t offset, size_t n, size_t size, int *error)
{
	void *table = calloc(n, size);

	*error = table ? range_copy(image, offset, n * size) : -ENOMEM;
	if (!*error && pread(image->to, table, n * size, offset) != (ssize_t)(n * size))
		*error = -EINVAL;
	if (!*error)
		return table;
	free(table);
	return NULL;
}

static int headers_copy(struct image *image)
{
	const Elf64_Ehdr *header = &image->header;
	int error = range_copy(image, 0, sizeof(*header));

	if (error)
		return error;
	if (pread(image->to, &image->header, sizeof(*header), 0) != sizeof(*header) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_phnum >= MAX_HEADERS ||
	    header->e_shnum >= MAX_HEADERS || (header->e_shoff && !header->e_shnum) ||
	    (header->e_phnum && header->e_phentsize != sizeof(Elf64_Phdr)) ||
	    (header->e_shnum && header->e_shentsize != sizeof(Elf64_Shdr)) ||
	    header->e_shstrndx > header->e_shnum)
		return -EINVAL;
	if (header->e_phnum)
		image->segments = table_copy(image, header->e_phoff, header->e_phnum,
					     sizeof(Elf64_Phdr), &error);
	if (!error && header->e_shnum)
		image->sections = table_copy(image, header->e_shoff, header->e_shnum,
					     sizeof(Elf64_Shdr), &error);
	return error;
}

/* True if one segment contains the first byte of the other. */
static bool segment_has(const Elf64_Phdr *segment, const Elf64_Phdr *other)
{
	return segment->p_offset <= other->p_offset &&
	       other->p_offset - segment->p_offset < segment->p_filesz;
}

/* True if the segment contains the table of .eh_frame_hdr, and so that section as well. */
static bool segment_has_frames(const struct image *image, const Elf64_Phdr *segment)
{
	for (unsigned int i = 0; i < image->header.e_phnum; i++)
		if (image->segments[i].p_type == PT_GNU_EH_FRAME &&
		    segment_has(segment, &image->segments[i]))
			return true;
	return false;
}

static bool segment_wanted(const struct image *image, const Elf64_Phdr *segment)
{
	switch (segment->p_type) {
	case PT_INTERP:
	case PT_NOTE:
	case PT_DYNAMIC:
	case PT_GNU_EH_FRAME:
		return true;
	case PT_LOAD:
		if (image->parts == IMAGE_CODE)
			return segment->p_flags & PF_X;
		/* Without sections nothing else says where .eh_frame is. */
		return image->parts == IMAGE_FRAMES && !image->sections &&
		       segment_has_frames(image, segment);
	default:
		return false;
	}
}

/* True if a section is .eh_frame or .eh_frame_hdr, once the names are copied. */
static bool section_has_frames(const struct image *image, const Elf64_Shdr *section)
{
	static const char name[] = ".eh_frame";
	char its[sizeof(name) - 1];
	uint64_t at = image->sections[image->header.e_shstrndx].sh_offset;

	return at < image->size &&
	       pread(image->to, its, sizeof(its), at + section->sh_name) == sizeof(its) &&
	       !memcmp(its, name, sizeof(its));
}

static bool section_wanted(const struct image *image, const Elf64_Shdr *section)
{
	bool in_memory = section->sh_flags & SHF_ALLOC;

	if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL)
		return false;
	if (image->parts == IMAGE_CODE)
		return false;
	if (section->sh_type == SHT_PROGBITS && in_memory)
		return section_has_frames(image, section);
	if (image->parts == IMAGE_NAMES)
		return true;
	return in_memory && (section->sh_type == SHT_DYNSYM || section->sh_type == SHT_STRTAB ||
			     section->sh_type == SHT_X86_64_UNWIND);
}

static int parts_copy(struct image *image)
{
	const Elf64_Ehdr *header = &image->header;
	int error = 0;

	for (unsigned int i = 0; !error && i < header->e_phnum; i++)
		if (segment_wanted(image, &image->segments[i]))
			error = range_copy(image, image->segments[i].p_offset,
					   image->segments[i].p_filesz);
	if (!error && header->e_shstrndx < header->e_shnum)
		error = range_copy(image, image->sections[header->e_shstrndx].sh_offset,
				   image->sections[header->e_shstrndx].sh_size);
	for (unsigned int i = 0;
	     !error && header->e_shstrndx < header->e_shnum && i < header->e_shnum; i++)
		if (section_wanted(image, &image->sections[i]))
			error = range_copy(image, image->sections[i].sh_offset,
					   image->sections[i].sh_size);
	return error;
}

int image_copy(int file, enum image_parts parts)
{
	struct image image = {.from = file, .parts = parts};
	struct stat st;
	int error;

	if (fstat(file, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(image.header))
		return -EINVAL;
	if ((uint64_t)st.st_size > MAX_FILE)
		return -EFBIG;
	image.size = st.st_size;
	image.left = parts == IMAGE_NAMES ? MAX_NAMES_PARTS : MAX_PARTS;
	image.to = memfd_create("cosy-profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (image.to < 0)
		return -errno;
	error = ftruncate(image.to, st.st_size) ? -errno : headers_copy(&image);
	if (!error)
		error = parts_copy(&image);
	free(image.segments);
	free(image.sections);
	if (!error &&
	    fcntl(image.to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		error = -errno;
	if (!error)
		return image.to;
	close(image.to);
	return error;
}

int image_copy_path(const char *path, enum image_parts parts)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	if (file < 0)
		return -errno;
	ret = image_copy(file, parts);
	close(file);
	return ret;
}
