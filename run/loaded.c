// SPDX-License-Identifier: MIT
/* loaded.c - see loaded.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaded.h"
#include "object.h"
#include "start.h"

#define PAGE	4096
#define ENTRIES 26 /* of the vector, which begins with those that are looked for here */

static const ElfW(auxv_t) * noted;
static const struct link_map *own;

START void loaded_begin(const ElfW(auxv_t) * given)
{
	noted = given;
}

/* Program headers in memory, and what is to be added to the addresses in them. */
struct image {
	const ElfW(Phdr) * segments;
	size_t count;
	ElfW(Addr) base;
};

/* Returns the dynamic linker or, where the kernel started none, the program that it started. */
static struct image image_of(const ElfW(auxv_t) * entry)
{
	struct image image = {NULL, 0, 0};
	const ElfW(Ehdr) *linker = NULL;

	for (size_t i = 0; entry && i < ENTRIES; i++, entry++) {
		if (entry->a_type == AT_NULL)
			break;
		if (entry->a_type == AT_PHDR)
			image.segments = (const ElfW(Phdr) *)entry->a_un.a_val;
		else if (entry->a_type == AT_PHNUM)
			image.count = entry->a_un.a_val;
		else if (entry->a_type == AT_BASE)
			linker = (const ElfW(Ehdr) *)entry->a_un.a_val;
	}
	if (linker)
		return (struct image){(const ElfW(Phdr) *)((uintptr_t)linker + linker->e_phoff),
				      linker->e_phnum, (ElfW(Addr))linker};
	image.base = (ElfW(Addr))image.segments & -(ElfW(Addr))PAGE;
	for (size_t i = 0; i < image.count; i++)
		if (image.segments[i].p_type == PT_PHDR)
			image.base = (ElfW(Addr))image.segments - image.segments[i].p_vaddr;
	return image;
}

/* Finds the structure that the dynamic linker keeps for debuggers. */
static const struct r_debug *debug_of(const struct image *image)
{
	struct link_map map = {.l_addr = image->base, .l_ld = NULL};
	struct object linker;

	for (size_t i = 0; i < image->count; i++)
		if (image->segments[i].p_type == PT_DYNAMIC)
			map.l_ld = (ElfW(Dyn) *)(image->base + image->segments[i].p_vaddr);
	if (!map.l_ld)
		return NULL;
	for (const ElfW(Dyn) *entry = map.l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr)
			return (const struct r_debug *)entry->d_un.d_ptr;
	object_read(&map, &linker);
	return object_find(&linker, "_r_debug");
}

/* Computes the address, since one in a table would have to be relocated. */
static const void *own_dynamic(void)
{
	const void *at;

	__asm__("lea _DYNAMIC(%%rip), %0" : "=r"(at));
	return at;
}

const struct link_map *loaded_own(void)
{
	const struct link_map *map = __atomic_load_n(&own, __ATOMIC_ACQUIRE);
	const struct r_debug *debug;
	struct image image;

	if (map)
		return map;
	image = image_of(noted);
	debug = debug_of(&image);
	map = debug ? debug->r_map : NULL;
	while (map && map->l_ld != own_dynamic())
		map = map->l_next;
	__atomic_store_n(&own, map, __ATOMIC_RELEASE);
	return map;
}
