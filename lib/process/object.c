// SPDX-License-Identifier: MIT
/* object.c - see object.h. */
#include <elf.h>
#include <link.h>

#include "process/object.h"

/* The dynamic linker makes addresses absolute where it can write them; the others are relative. */
static const void *address_in(uintptr_t base, ElfW(Addr) value)
{
	if (!value)
		return NULL;
	return (const void *)(value < base ? value + base : value);
}

const char *libcosy_object_soname(uintptr_t base, const void *dynamic)
{
	ElfW(Addr) strings = 0, name = 0;

	for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SONAME)
			name = entry->d_un.d_val;
		else if (entry->d_tag == DT_STRTAB)
			strings = entry->d_un.d_ptr;
		if (name && strings)
			return (const char *)address_in(base, strings) + name;
	}
	return "";
}

bool libcosy_object_open(uintptr_t base, const void *dynamic, struct libcosy_object *ret)
{
	ElfW(Addr) value[DT_JMPREL + 1] = {0}, gnu_hash = 0, relative_cnt = 0;
	const ElfW(Rela) * data;

	for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		if ((uint64_t)entry->d_tag <= DT_JMPREL)
			value[entry->d_tag] = entry->d_un.d_ptr;
		else if (entry->d_tag == DT_GNU_HASH)
			gnu_hash = entry->d_un.d_ptr;
		else if (entry->d_tag == DT_RELACOUNT)
			relative_cnt = entry->d_un.d_val;
	}
	ret->symbols = address_in(base, value[DT_SYMTAB]);
	ret->strings = address_in(base, value[DT_STRTAB]);
	ret->gnu_hash = address_in(base, gnu_hash);
	ret->sysv_hash = address_in(base, value[DT_HASH]);
	if (!ret->symbols || !ret->strings)
		return false;
	ret->soname = value[DT_SONAME] ? ret->strings + value[DT_SONAME] : "";
	ret->calls = address_in(base, value[DT_JMPREL]);
	ret->call_cnt = ret->calls ? value[DT_PLTRELSZ] / sizeof(ElfW(Rela)) : 0;
	data = address_in(base, value[DT_RELA]);
	ret->data_cnt = data ? value[DT_RELASZ] / sizeof(ElfW(Rela)) : 0;
	/* Relocations without a symbol come first. */
	if (relative_cnt > ret->data_cnt)
		relative_cnt = 0;
	ret->data = data ? data + relative_cnt : NULL;
	ret->data_cnt -= relative_cnt;
	return true;
}
