// SPDX-License-Identifier: MIT
/* image_test.c - copies of ELF files: the parts they have, and that nobody changes them. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/functions.h"
#include "record/image.h"
#include "test/check.h"

static char path[] = "/tmp/image-test-XXXXXX";

/* Makes the file a copy of this program, and returns a descriptor of it. */
static int file_make(void)
{
	static char block[65536];
	int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_RDWR | O_TRUNC);
	ssize_t n;

	CHECK(from >= 0 && to >= 0);
	while ((n = read(from, block, sizeof(block))) > 0)
		CHECK(write(to, block, n) == n);
	close(from);
	return to;
}

static bool bytes_same(int a, int b, uint64_t offset, size_t size)
{
	char *x = malloc(size), *y = malloc(size);
	bool ret = x && y && pread(a, x, size, offset) == (ssize_t)size &&
		   pread(b, y, size, offset) == (ssize_t)size && !memcmp(x, y, size);

	free(x);
	free(y);
	return ret;
}

/* Finds a section of the file by its name. */
static GElf_Shdr section_of(Elf *elf, const char *name)
{
	GElf_Shdr header = {.sh_size = 0};
	Elf_Scn *section = NULL;
	size_t names;

	CHECK(!elf_getshdrstrndx(elf, &names));
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    !strcmp(elf_strptr(elf, names, header.sh_name), name))
			return header;
	CHECK(!"the program has no such section");
	return header;
}

static void check_parts(void)
{
	int file = file_make(), frames = image_copy(file, IMAGE_FRAMES),
	    code = image_copy(file, IMAGE_CODE), names = image_copy(file, IMAGE_NAMES);
	Elf *elf = elf_begin(file, ELF_C_READ, NULL);
	GElf_Shdr eh_frame = section_of(elf, ".eh_frame"), text = section_of(elf, ".text"),
		  symbols = section_of(elf, ".symtab");
	int kept = file_make();

	CHECK(frames >= 0 && code >= 0 && names >= 0);
	/* What comes now does not reach them. */
	CHECK(!truncate(path, 0));
	close(kept);
	kept = open("/proc/self/exe", O_RDONLY);
	CHECK(bytes_same(kept, frames, eh_frame.sh_offset, eh_frame.sh_size));
	CHECK(bytes_same(kept, code, text.sh_offset, text.sh_size));
	CHECK(bytes_same(kept, names, symbols.sh_offset, symbols.sh_size));
	CHECK(!bytes_same(kept, frames, text.sh_offset, text.sh_size));
	CHECK(!bytes_same(kept, frames, symbols.sh_offset, symbols.sh_size));
	CHECK(pwrite(frames, "x", 1, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(frames, 0) && errno == EPERM);
	elf_end(elf);
	close(file);
	close(kept);
	close(frames);
	close(code);
	close(names);
}

static void check_functions(void)
{
	int file = file_make(), copy = image_copy(file, IMAGE_FRAMES);
	struct functions functions = {NULL, 0, 0};
	Elf *elf;

	CHECK(!truncate(path, 100));
	elf = elf_begin(copy, ELF_C_READ_MMAP, NULL);
	CHECK(elf && functions_find(elf, &functions) && functions.n > 10);
	elf_end(elf);
	close(copy);
	close(file);
}

static int patched_copy(size_t at, const void *value, size_t size, enum image_parts parts)
{
	int file = file_make(), ret;

	CHECK(pwrite(file, value, size, at) == (ssize_t)size);
	ret = image_copy(file, parts);
	close(file);
	if (ret >= 0)
		close(ret);
	return ret;
}

/* Numbers that no file has, of which some would have us take all memory. */
static void check_hostile(void)
{
	uint16_t many = 0xffff, none = 0, size = 1;
	uint64_t far = 1ULL << 62, large = 1ULL << 33;
	int file;

	CHECK(patched_copy(offsetof(Elf64_Ehdr, e_phnum), &many, 2, IMAGE_FRAMES) == -EINVAL);
	CHECK(patched_copy(offsetof(Elf64_Ehdr, e_shnum), &many, 2, IMAGE_FRAMES) == -EINVAL);
	/* The number would be in the first section: four thousand million. */
	CHECK(patched_copy(offsetof(Elf64_Ehdr, e_shnum), &none, 2, IMAGE_FRAMES) == -EINVAL);
	CHECK(patched_copy(offsetof(Elf64_Ehdr, e_shentsize), &size, 2, IMAGE_FRAMES) == -EINVAL);
	CHECK(patched_copy(offsetof(Elf64_Ehdr, e_phoff), &far, 8, IMAGE_FRAMES) == -EINVAL);
	CHECK(patched_copy(offsetof(Elf64_Ehdr, e_shoff), &far, 8, IMAGE_FRAMES) == -EINVAL);
	CHECK(patched_copy(0, &many, 2, IMAGE_FRAMES) == -EINVAL);
	/* A file that is nearly all holes, and a segment of it that is as large. */
	file = file_make();
	CHECK(!ftruncate(file, 1LL << 34));
	CHECK(pwrite(file, &large, 8, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz)) == 8);
	CHECK(pwrite(file, &(uint32_t){PT_INTERP}, 4, sizeof(Elf64_Ehdr)) == 4);
	CHECK(image_copy(file, IMAGE_FRAMES) == -EFBIG);
	close(file);
	CHECK(image_copy_path("/dev/zero", IMAGE_NAMES) == -EINVAL);
	CHECK(image_copy_path("/no/such/file", IMAGE_NAMES) == -ENOENT);
}

/* Bytes of a sparse file that are zeros take no memory. */
static void check_holes(void)
{
	uint64_t size = 100 << 20;
	int file = file_make(), copy;
	struct stat st;

	CHECK(!ftruncate(file, 1LL << 30));
	CHECK(pwrite(file, &size, 8, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz)) == 8);
	CHECK(pwrite(file, &(uint32_t){PT_INTERP}, 4, sizeof(Elf64_Ehdr)) == 4);
	copy = image_copy(file, IMAGE_FRAMES);
	CHECK(copy >= 0 && !fstat(copy, &st) && st.st_blocks * 512 < 16 << 20);
	close(copy);
	close(file);
}

int main(void)
{
	int file = mkstemp(path);

	CHECK(file >= 0);
	close(file);
	elf_version(EV_CURRENT);
	check_parts();
	check_functions();
	check_hostile();
	check_holes();
	unlink(path);
	return check_result();
}
