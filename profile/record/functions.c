// SPDX-License-Identifier: MIT
/* functions.c - see functions.h.  Files may be hostile. */
#include <string.h>

#include "record/functions.h"

/* Bytes before the table: version, three encodings, pointer to .eh_frame, count. */
#define HEADER 12
#define ENTRY  8

const uint8_t *elf_bytes(Elf *elf, uint64_t address, size_t *size)
{
	GElf_Phdr segment;
	size_t n, whole;
	const char *file = elf_rawfile(elf, &whole);

	if (!file || elf_getphdrnum(elf, &n))
		return NULL;
	for (size_t i = 0; i < n && gelf_getphdr(elf, i, &segment); i++) {
		uint64_t from = address - segment.p_vaddr;

		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    from >= segment.p_filesz || segment.p_offset > whole ||
		    segment.p_filesz > whole - segment.p_offset)
			continue;
		*size = segment.p_filesz - from;
		return (const uint8_t *)file + segment.p_offset + from;
	}
	return NULL;
}

bool functions_find(Elf *elf, struct functions *ret)
{
	const uint8_t *table;
	GElf_Phdr segment;
	uint32_t count;
	size_t n, size;

	if (elf_getphdrnum(elf, &n))
		return false;
	while (n && gelf_getphdr(elf, n - 1, &segment) && segment.p_type != PT_GNU_EH_FRAME)
		n--;
	table = n ? elf_bytes(elf, segment.p_vaddr, &size) : NULL;
	/* Version 1; pointer to .eh_frame of 4 bytes, count of 4, pairs relative to the table. */
	if (!table || size < HEADER || table[0] != 1 || (table[1] & 0x0f) != 0x0b ||
	    table[2] != 0x03 || table[3] != 0x3b)
		return false;
	memcpy(&count, table + 8, sizeof(count));
	n = (size - HEADER) / ENTRY;
	*ret = (struct functions){table + HEADER, count < n ? count : n, segment.p_vaddr};
	return true;
}

uint64_t functions_at(const struct functions *functions, size_t i)
{
	int32_t entry;

	memcpy(&entry, functions->entries + ENTRY * i, sizeof(entry));
	return functions->base + (int64_t)entry;
}

size_t functions_below(const struct functions *functions, uint64_t address)
{
	size_t low = 0, high = functions->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions_at(functions, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
