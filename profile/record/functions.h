/* SPDX-License-Identifier: MIT */
/*
 * functions.h - finds the bytes of an ELF file at an address, and where its functions begin, also
 * in stripped files.
 */
#ifndef COSY_PROFILE_FUNCTIONS_H
#define COSY_PROFILE_FUNCTIONS_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The table of .eh_frame_hdr, in the file itself: valid while the Elf is open. */
struct functions {
	const uint8_t *entries; /* pairs of 32-bit offsets from `base`, ascending */
	size_t n;
	uint64_t base;
};

/* Returns the bytes at an address, and in *size their number to the segment's end.  NULL: none. */
const uint8_t *elf_bytes(Elf *elf, uint64_t address, size_t *size);

/* Finds the table.  False: the file has none, or one in another format. */
bool functions_find(Elf *elf, struct functions *ret);

/* Returns how many functions begin at or below the address. */
size_t functions_below(const struct functions *functions, uint64_t address);

/* Returns the address of function `i`, which is below functions->n. */
uint64_t functions_at(const struct functions *functions, size_t i);

#endif /* COSY_PROFILE_FUNCTIONS_H */
