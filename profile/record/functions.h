/* SPDX-License-Identifier: MIT */
/* functions.h - an ELF file's bytes at an address, and where its functions begin, stripped or not. */
#ifndef COSY_PROFILE_FUNCTIONS_H
#define COSY_PROFILE_FUNCTIONS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The table of .eh_frame_hdr, which is in the file and lives as long as it. */
struct functions {
	const uint8_t *entries; /* pairs of 32 bits, ascending, relative to `base` */
	size_t n;
	uint64_t base;
};

/* Returns the bytes from an address on, and how many the segment has; NULL: there are none. */
const uint8_t *elf_bytes(Elf *elf, uint64_t address, size_t *size);

/* False: there is no table that can be read. */
bool functions_find(Elf *elf, struct functions *ret);

/* Returns how many functions begin at or below the address. */
size_t functions_below(const struct functions *functions, uint64_t address);

/* Returns where one of them begins. */
uint64_t functions_at(const struct functions *functions, size_t i);

#endif /* COSY_PROFILE_FUNCTIONS_H */
