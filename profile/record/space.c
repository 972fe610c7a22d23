// SPDX-License-Identifier: MIT
/* space.c - see space.h. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/by_path.h"
#include "../common/path.h"
#include "record/functions.h"
#include "record/image.h"
#include "record/space.h"

#define RULES	   8192	 /* entries of the cache of unwind rules, a power of two */
#define MAX_STACKS 65536 /* distinct stacks; a power of two, at most 50 % used */
#define MAX_MAPS   4096

enum { REGISTER_BP = 6, REGISTER_SP = 7 }; /* DWARF's numbers on x86-64 */

struct space_object {
	struct by_path by_path;
	uint32_t id;
	bool told, libc;
	int fd;	  /* of a copy */
	Elf *elf; /* NULL: it cannot be read */
	Dwarf_CFI *cfi;
	struct functions functions;
};

/* Leads from a frame to its caller's. */
struct unwind_rule {
	const struct space_object *object;
	uint64_t address;
	bool good, by_bp, bp_saved;
	int32_t offset;	   /* of the caller's frame, from sp or bp */
	int32_t bp_offset; /* of the saved bp, from the caller's frame */
};

struct objects {
	struct by_path *all;
	struct record_sink sink;
	uint32_t n_objects, n_stacks;
	struct unwind_rule rules[RULES];
	struct {
		uint64_t hash;
		uint32_t id;
	} stacks[MAX_STACKS];
};

struct space_map {
	uint64_t start, end, offset;
	struct space_object *object;
	uint64_t address; /* of `offset`, as the object's file has it */
};

struct space {
	struct objects *objects;
	pid_t pid;
	struct space_map *maps;
	unsigned int n_maps, room;
	unsigned int misses; /* since the maps were read */
};

struct objects *objects_create(const struct record_sink *sink)
{
	struct objects *objects = calloc(1, sizeof(*objects));

	elf_version(EV_CURRENT);
	if (objects)
		objects->sink = *sink;
	return objects;
}

static void object_close(void *dropped)
{
	struct space_object *object = dropped;

	if (object->cfi)
		dwarf_cfi_end(object->cfi);
	if (object->elf)
		elf_end(object->elf);
	if (object->fd >= 0)
		close(object->fd);
}

void objects_destroy(struct objects *objects)
{
	if (!objects)
		return;
	by_path_drop(&objects->all, object_close);
	free(objects);
}

static void object_open(struct space_object *object, pid_t pid)
{
	char *whole;

	/* The path is as the process sees it, which may have another root. */
	object->fd = -1;
	if (asprintf(&whole, "/proc/%d/root%s", (int)pid, object->by_path.path) >= 0) {
		object->fd = image_copy_path(whole, IMAGE_FRAMES);
		free(whole);
	}
	if (object->fd < 0)
		object->fd = image_copy_path(object->by_path.path, IMAGE_FRAMES);
	if (object->fd < 0)
		return;
	object->elf = elf_begin(object->fd, ELF_C_READ_MMAP, NULL);
	if (!object->elf || elf_kind(object->elf) != ELF_K_ELF)
		return;
	object->cfi = dwarf_getcfi_elf(object->elf);
	functions_find(object->elf, &object->functions);
}

static bool path_is_libc(const char *path)
{
	const char *name = path_name(path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-linux", 8) || !strncmp(name, "libpthread", 10);
}

struct object_seen {
	struct objects *objects;
	pid_t pid; /* of the process that has it mapped */
};

static void object_begin(void *made, void *context)
{
	struct space_object *object = made;
	const struct object_seen *seen = context;

	object->id = ++seen->objects->n_objects;
	object->libc = path_is_libc(object->by_path.path);
	object_open(object, seen->pid);
}

static struct space_object *object_of(struct objects *objects, const char *path, pid_t pid)
{
	struct object_seen seen = {objects, pid};

	return by_path_get(&objects->all, path, sizeof(struct space_object), object_begin, &seen);
}

/* Returns where the file's byte `offset` is, by the file's own addresses. */
static uint64_t object_address(const struct space_object *object, uint64_t offset)
{
	size_t n = 0;
	GElf_Phdr segment;

	if (object->elf && !elf_getphdrnum(object->elf, &n))
		for (size_t i = 0; i < n; i++)
			if (gelf_getphdr(object->elf, i, &segment) && segment.p_type == PT_LOAD &&
			    (segment.p_offset & ~4095ULL) <= offset &&
			    offset < segment.p_offset + segment.p_filesz)
				return offset - segment.p_offset + segment.p_vaddr;
	return offset;
}

/* Returns where the last function at or below the address begins; 0: none does. */
static uint64_t object_function(const struct space_object *object, uint64_t address)
{
	size_t below = functions_below(&object->functions, address);

	return below ? functions_at(&object->functions, below - 1) : 0;
}

/* Returns the address of a function that it exports, or 0. */
static uint64_t object_export(const struct space_object *object, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while (object->elf && (section = elf_nextscn(object->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *its = elf_strptr(object->elf, header.sh_link, symbol.st_name);

			if (its && !strcmp(its, name))
				return symbol.st_value;
		}
	}
	return 0;
}

static void object_tell(struct objects *objects, struct space_object *object)
{
	_Alignas(8) char buffer[sizeof(struct event_object) + EVENT_MAX_PATH] = {0};
	struct event_object *told = (struct event_object *)buffer;
	size_t len = strnlen(object->by_path.path, EVENT_MAX_PATH - 1);

	object->told = true;
	told->id = object->id;
	told->libc = object->libc;
	told->syscall = object->libc ? object_export(object, "syscall") : 0;
	memcpy(told->path, object->by_path.path, len);
	told->path_size = len + 1;
	told->event.kind = EVENT_OBJECT;
	told->event.size = (sizeof(*told) + len + 1 + 7) & ~7UL;
	objects->sink.take(objects->sink.context, &told->event);
}

struct space *space_create(struct objects *objects, pid_t pid)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space) {
		space->objects = objects;
		space->pid = pid;
	}
	return space;
}

void space_forget(struct space *space)
{
	free(space->maps);
	space->maps = NULL;
	space->n_maps = space->room = space->misses = 0;
}

void space_destroy(struct space *space)
{
	if (space)
		space_forget(space);
	free(space);
}

/* A mapping takes the addresses that it covers from others. */
static void space_add(struct space *space, const struct space_map *map)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < space->n_maps; i++)
		if (space->maps[i].end <= map->start || map->end <= space->maps[i].start)
			space->maps[n++] = space->maps[i];
	space->n_maps = n;
	if (n == space->room) {
		unsigned int room = n ? 2 * n : 16;
		struct space_map *maps =
			n < MAX_MAPS ? realloc(space->maps, room * sizeof(*maps)) : NULL;

		if (!maps)
			return;
		space->maps = maps;
		space->room = room;
	}
	space->maps[space->n_maps++] = *map;
}

static void space_read(struct space *space)
{
	char name[64], line[4500];
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)space->pid);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct space_map map;
		int at = 0;
		char access[5] = "";

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &map.start, &map.end, access,
			   &map.offset, &at) < 4 ||
		    access[2] != 'x' || !at || line[at] != '/')
			continue;
		map.object = object_of(space->objects, line + at, space->pid);
		if (!map.object)
			continue;
		map.address = object_address(map.object, map.offset);
		space_add(space, &map);
	}
	if (file)
		fclose(file);
}

void space_code(struct space *space, const char *path, uint64_t start, uint64_t size,
		uint64_t offset)
{
	char whole[PATH_MAX];
	struct space_map map = {.start = start, .end = start + size, .offset = offset};

	map.object = object_of(space->objects, realpath(path, whole) ? whole : path, space->pid);
	if (!map.object || map.end <= start)
		return;
	map.address = object_address(map.object, offset);
	space_add(space, &map);
}

/* Adds the code of an object whose addresses begin at `base`. */
static void space_segments(struct space *space, const struct space_object *object, uint64_t base)
{
	size_t n = 0;
	GElf_Phdr segment;

	if (!object->elf || elf_getphdrnum(object->elf, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(object->elf, i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X)
			space_code(space, object->by_path.path, (base + segment.p_vaddr) & ~4095ULL,
				   ((segment.p_vaddr & 4095) + segment.p_filesz + 4095) & ~4095ULL,
				   segment.p_offset & ~4095ULL);
}

/* Returns where the headers of segments are, by the object's own addresses. */
static uint64_t object_headers(const struct space_object *object)
{
	size_t n = 0;
	GElf_Ehdr header;
	GElf_Phdr segment;

	if (!object->elf || !gelf_getehdr(object->elf, &header) || elf_getphdrnum(object->elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(object->elf, i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_offset <= header.e_phoff &&
		    header.e_phoff < segment.p_offset + segment.p_filesz)
			return segment.p_vaddr + header.e_phoff - segment.p_offset;
	return 0;
}

static const char *object_linker(const struct space_object *object)
{
	size_t n = 0, size;
	GElf_Phdr segment;
	const char *bytes = object->elf ? elf_rawfile(object->elf, &size) : NULL;

	if (!bytes || elf_getphdrnum(object->elf, &n))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(object->elf, i, &segment) && segment.p_type == PT_INTERP &&
		    segment.p_filesz && segment.p_offset < size &&
		    segment.p_filesz <= size - segment.p_offset &&
		    !bytes[segment.p_offset + segment.p_filesz - 1])
			return bytes + segment.p_offset;
	return NULL;
}

void space_program(struct space *space, const char *path, uint64_t headers, uint64_t linker)
{
	char whole[PATH_MAX];
	struct space_object *object =
		object_of(space->objects, realpath(path, whole) ? whole : path, space->pid);
	const char *name;

	if (!object || !object_headers(object))
		return;
	space_segments(space, object, headers - object_headers(object));
	name = linker ? object_linker(object) : NULL;
	object = name ? object_of(space->objects, realpath(name, whole) ? whole : name, space->pid)
		      : NULL;
	if (object)
		space_segments(space, object, linker);
}

void space_copy(struct space *space, const struct space *from)
{
	for (unsigned int i = 0; i < from->n_maps; i++)
		space_add(space, &from->maps[i]);
}

static const struct space_map *space_find(const struct space *space, uint64_t address)
{
	for (unsigned int i = 0; i < space->n_maps; i++)
		if (space->maps[i].start <= address && address < space->maps[i].end)
			return &space->maps[i];
	return NULL;
}

/* Reads a rule of one operation, a register and an offset.  False for anything longer. */
static bool rule_cfa(Dwarf_Frame *frame, struct unwind_rule *rule)
{
	Dwarf_Op *ops;
	size_t n;
	uint64_t number;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1)
		return false;
	if (ops->atom == DW_OP_bregx) {
		number = ops->number;
		rule->offset = ops->number2;
	} else if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		number = ops->atom - DW_OP_breg0;
		rule->offset = ops->number;
	} else {
		return false;
	}
	rule->by_bp = number == REGISTER_BP;
	return rule->by_bp || number == REGISTER_SP;
}

static void rule_make(struct unwind_rule *rule, const struct space_object *object, uint64_t address)
{
	Dwarf_Frame *frame;
	Dwarf_Op memory[3], *ops;
	size_t n;

	memset(rule, 0, sizeof(*rule));
	rule->object = object;
	rule->address = address;
	if (!object->cfi || dwarf_cfi_addrframe(object->cfi, address, &frame))
		return;
	rule->good = rule_cfa(frame, rule);
	if (!dwarf_frame_register(frame, REGISTER_BP, memory, &ops, &n) && ops && n == 1 &&
	    ops->atom == DW_OP_fbreg) {
		rule->bp_saved = true;
		rule->bp_offset = ops->number;
	}
	/* _start has no caller. */
	if (!dwarf_frame_register(frame, 16, memory, &ops, &n) && ops == memory && !n)
		rule->good = false;
	free(frame);
}

static const struct unwind_rule *rule_of(struct objects *objects, const struct space_object *object,
					 uint64_t address)
{
	struct unwind_rule *rule =
		&objects->rules[(address * 0x9e3779b97f4a7c15ULL + object->id) >> 51 & (RULES - 1)];

	if (rule->object != object || rule->address != address)
		rule_make(rule, object, address);
	return rule;
}

static bool word_at(const struct space_registers *registers, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - registers->sp;

	if (offset % 8 || offset / 8 >= registers->n_words)
		return false;
	*ret = registers->words[offset / 8];
	return true;
}

static unsigned int space_unwind(struct space *space, const struct space_registers *registers,
				 struct event_frame *frames)
{
	uint64_t ip = registers->ip, sp = registers->sp, bp = registers->bp;
	unsigned int n = 0;

	while (n < EVENT_MAX_FRAMES) {
		const struct space_map *map = space_find(space, ip - !!n);
		const struct unwind_rule *rule;
		uint64_t address, next;

		if (!map)
			break;
		address = ip - map->start + map->address;
		if (!map->object->told)
			object_tell(space->objects, map->object);
		frames[n] = (struct event_frame){
			.object = map->object->id,
			.address = address,
			.function = object_function(map->object, address - !!n),
		};
		/* A return address may already be the next function's. */
		rule = rule_of(space->objects, map->object, address - !!n);
		n++;
		if (!rule->good)
			break;
		next = (rule->by_bp ? bp : sp) + rule->offset;
		if (next <= sp || !word_at(registers, next - 8, &ip))
			break;
		if (rule->bp_saved && !word_at(registers, next + rule->bp_offset, &bp))
			break;
		sp = next;
	}
	return n;
}

/* Returns the number of a stack, and emits the stack if it is new. */
static uint32_t stack_number(struct objects *objects, const struct event_frame *frames,
			     unsigned int n)
{
	_Alignas(8) char buffer[sizeof(struct event_stack) + EVENT_MAX_FRAMES * sizeof(*frames)];
	struct event_stack *told = (struct event_stack *)buffer;
	uint64_t hash = n;
	uint32_t at;

	for (unsigned int i = 0; i < n; i++)
		hash = (hash ^ frames[i].address ^ (uint64_t)frames[i].object << 40) *
			       0x9e3779b97f4a7c15ULL ^
		       hash >> 29;
	hash |= !hash;
	for (at = hash % MAX_STACKS; objects->stacks[at].hash; at = (at + 1) % MAX_STACKS)
		if (objects->stacks[at].hash == hash)
			return objects->stacks[at].id;
	if (objects->n_stacks >= MAX_STACKS / 2)
		return 0;
	objects->stacks[at].hash = hash;
	objects->stacks[at].id = ++objects->n_stacks;
	memset(told, 0, sizeof(*told));
	told->event.kind = EVENT_STACK;
	told->event.size = sizeof(*told) + n * sizeof(*frames);
	told->id = objects->n_stacks;
	told->frames = n;
	memcpy(told->frame, frames, n * sizeof(*frames));
	objects->sink.take(objects->sink.context, &told->event);
	return told->id;
}

uint32_t space_stack(struct space *space, const struct space_registers *registers)
{
	struct event_frame frames[EVENT_MAX_FRAMES];
	unsigned int n = space_unwind(space, registers, frames);

	/*
	 * Libraries are mapped later; code that no file has (a JIT's) is looked for less and less.
	 */
	if (n < 2 && (!space->maps || !(space->misses & (space->misses - 1)))) {
		space->misses++;
		space_read(space);
		n = space_unwind(space, registers, frames);
	} else if (n < 2) {
		space->misses++;
	}
	return n ? stack_number(space->objects, frames, n) : 0;
}
