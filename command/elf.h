/* SPDX-License-Identifier: MIT */
/* elf.h - finds a section of a 64-bit ELF file, which may be hostile. */
#ifndef COSY_COMMAND_ELF_H
#define COSY_COMMAND_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct cosy_section {
	size_t offset, size; /* in the file; within its bounds */
};

bool cosy_elf_is(const void *file, size_t size);

/*
 * Finds the first section named `name`.  Returns 0; -ENOENT: there is none; -EINVAL, with
 * *why saying what is wrong with the file.
 */
int cosy_elf_find(const void *file, size_t size, const char *name, struct cosy_section *ret,
		  const char **why);

#endif /* COSY_COMMAND_ELF_H */
