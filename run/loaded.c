// SPDX-License-Identifier: MIT
/* loaded.c - see loaded.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "loaded.h"
#include "object.h"
#include "start.h"
#include "syscall.h"

#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif

#define PAGE 4096

/* Its entries begin with those that are looked for here. */
typedef ElfW(auxv_t) vector[26];

static const ElfW(auxv_t) * noted;
static const struct link_map *own;

static inline long ask_kernel(vector room)
{
	return cosy_syscall6(SYS_prctl, PR_GET_AUXV, (unsigned long)room, sizeof(vector), 0, 0, 0);
}

/* True if the kernel gives the same vector. */
static inline __attribute__((always_inline)) bool is_known(const ElfW(auxv_t) * given)
{
	/* Not every checker of memory knows that the kernel writes there. */
	vector room = {};

	if (ask_kernel(room) <= 0)
		return false;
	for (size_t i = 0; i < sizeof(room) / sizeof(*room); i++) {
		if (room[i].a_type != given[i].a_type || room[i].a_un.a_val != given[i].a_un.a_val)
			return false;
		if (given[i].a_type == AT_NULL)
			break;
	}
	return true;
}

START void loaded_begin(const ElfW(auxv_t) * given)
{
	if (!is_known(given))
		noted = given;
}

static const ElfW(auxv_t) * ask(vector room)
{
	long len = ask_kernel(room), fd;

	if (len <= 0) {
		fd = cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)"/proc/self/auxv",
				   O_RDONLY | O_CLOEXEC, 0, 0, 0);
		len = cosy_syscall3(SYS_read, fd, (unsigned long)room, sizeof(vector));
		cosy_syscall3(SYS_close, fd, 0, 0);
	}
	return len > 0 ? room : NULL;
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

	for (size_t i = 0; entry && i < sizeof(vector) / sizeof(*entry); i++, entry++) {
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
	vector room;

	if (map)
		return map;
	image = image_of(noted ? noted : ask(room));
	debug = debug_of(&image);
	map = debug ? debug->r_map : NULL;
	while (map && map->l_ld != own_dynamic())
		map = map->l_next;
	__atomic_store_n(&own, map, __ATOMIC_RELEASE);
	return map;
}
