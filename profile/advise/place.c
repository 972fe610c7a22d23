// SPDX-License-Identifier: MIT
/* place.c - see place.h. */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/by_path.h"
#include "advise/code.h"
#include "advise/place.h"
#include "record/image.h"

/* Ranges of addresses of one function in another. */
#define MAX_RANGES 16

struct place_object {
	struct by_path by_path;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: it cannot be read */
	GElf_Addr bias;
};

struct places {
	struct by_path *objects;
	struct codes *codes;
};

struct places *places_create(void)
{
	struct places *places = calloc(1, sizeof(*places));

	if (places)
		places->codes = codes_create();
	if (places && places->codes)
		return places;
	free(places);
	return NULL;
}

static void place_close(void *dropped)
{
	struct place_object *object = dropped;

	if (object->dwfl)
		dwfl_end(object->dwfl);
}

void places_destroy(struct places *places)
{
	if (!places)
		return;
	by_path_drop(&places->objects, place_close);
	codes_destroy(places->codes);
	free(places);
}

/* True if a copy has the module's build id. */
static bool debug_matches(int copy, Dwfl_Module *module)
{
	const unsigned char *wanted;
	const void *had;
	GElf_Addr at;
	int size = dwfl_module_build_id(module, &wanted, &at);
	Elf *elf = elf_begin(copy, ELF_C_READ_MMAP, NULL);
	bool ret = size > 0 && elf && dwelf_elf_gnu_build_id(elf, &had) == size &&
		   !memcmp(had, wanted, size);

	elf_end(elf);
	return ret;
}

/*
 * Finds separate debug information: beside the program, where it may be anybody's, by a copy; else
 * where libdwfl looks, which are folders of the system's and what debuginfod has fetched.
 */
static int debug_find(Dwfl_Module *module, void **data, const char *name, GElf_Addr base,
		      const char *file, const char *link, GElf_Word crc, char **ret)
{
	static const char *const folders[] = {"", ".debug/"};
	const char *slash = file ? strrchr(file, '/') : NULL;

	for (size_t i = 0; slash && link && !strchr(link, '/') && i < 2; i++) {
		char *path;
		int copy;

		if (asprintf(&path, "%.*s%s%s", (int)(slash + 1 - file), file, folders[i], link) <
		    0)
			return -1;
		copy = image_copy_path(path, IMAGE_NAMES);
		if (copy >= 0 && debug_matches(copy, module)) {
			*ret = path;
			return copy;
		}
		if (copy >= 0)
			close(copy);
		free(path);
	}
	return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, ret);
}

/* Gives libdwfl one file each, so that its addresses differ from the file's by a constant. */
static void place_open(void *made, void *context)
{
	static char system_path[] = "/usr/lib/debug", *debug_path = system_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = debug_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	struct place_object *object = made;
	const char *path = object->by_path.path;
	int copy = *path == '/' ? image_copy_path(path, IMAGE_NAMES) : -1;
	GElf_Addr bias;

	(void)context;
	if (copy < 0)
		return;
	object->dwfl = dwfl_begin(&callbacks);
	if (object->dwfl) {
		dwfl_report_begin(object->dwfl);
		object->module = dwfl_report_elf(object->dwfl, path, path, copy, 0, true);
		dwfl_report_end(object->dwfl, NULL, NULL);
	}
	/* The module has it otherwise. */
	if (!object->module)
		close(copy);
	else if (dwfl_module_getelf(object->module, &bias))
		object->bias = bias;
	else
		object->module = NULL;
}

static struct place_object *place_object(struct places *places, const char *path)
{
	return by_path_get(&places->objects, path, sizeof(struct place_object), place_open, NULL);
}

/*
 * Returns the source unit that contains the address, and the offset of its addresses.  libdw before
 * 0.191 finds it only by .debug_aranges, which clang does not write.
 */
static Dwarf_Die *place_unit(const struct place_object *object, Dwarf_Addr address,
			     Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(object->module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(object->module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0)
			break;
	return unit;
}

struct place place_find(struct places *places, const char *path, uint64_t address)
{
	struct place place = {NULL, NULL, 0};
	struct place_object *object = place_object(places, path);
	Dwarf_Addr bias;
	Dwarf_Die *unit;
	Dwarf_Line *line;

	if (!object || !object->module)
		return place;
	/* Look up the call, which is before the return address. */
	address += object->bias - 1;
	place.function = dwfl_module_addrname(object->module, address);
	unit = place_unit(object, address, &bias);
	line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	if (line && !dwarf_lineno(line, &place.line))
		place.file = dwarf_linesrc(line, NULL, NULL);
	return place;
}

/* Returns the ranges of a function that is in another one, by the file's own addresses. */
static unsigned int inlined_ranges(Dwarf_Die *inlined, int64_t bias, struct code_range *ranges)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t offset = 0;
	unsigned int n = 0;

	while (n < MAX_RANGES && (offset = dwarf_ranges(inlined, offset, &base, &from, &to)) > 0)
		ranges[n++] = (struct code_range){from + bias, to + bias};
	return n;
}

/* Takes the line that calls a function which is in another one.  False: it is not known. */
static bool inlined_caller(Dwarf_Die *unit, Dwarf_Die *inlined, struct place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) ||
	    dwarf_getsrcfiles(unit, &files, &n) || file >= n)
		return false;
	place->file = dwarf_filesrc(files, file, NULL, NULL);
	place->line = line;
	return place->file;
}

/* Goes outward from function to function of the source, until the loop does not leave it. */
static void place_outward(struct places *places, const struct place_object *object,
			  uint64_t function, uint64_t address, struct place *place)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = place_unit(object, address + object->bias - 1, &bias);
	int64_t own = (int64_t)(bias - object->bias);
	Dwarf_Die *inner = NULL, *scopes = NULL;
	int n = unit ? dwarf_getscopes(unit, address - own - 1, &inner) : 0;

	/* The scopes around the innermost one as the code has them, not as the source. */
	n = n > 0 ? dwarf_getscopes_die(inner, &scopes) : 0;
	for (int i = 0; i < n && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
		struct code_range ranges[MAX_RANGES];
		unsigned int n_ranges;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		n_ranges = inlined_ranges(&scopes[i], own, ranges);
		if (!n_ranges || code_loops_within(places->codes, object->by_path.path, function,
						   address, ranges, n_ranges))
			break;
		if (!inlined_caller(unit, &scopes[i], place))
			break;
	}
	free(scopes);
	free(inner);
}

struct place place_find_loop(struct places *places, const char *path, uint64_t function,
			     uint64_t address)
{
	struct place place = place_find(places, path, address);
	struct place_object *object = place_object(places, path);

	if (place.file && object && function)
		place_outward(places, object, function, address, &place);
	return place;
}
