// SPDX-License-Identifier: MIT
/* place.c - see place.h. */
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "advise/place.h"

struct place_object {
	struct place_object *next;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: it cannot be read */
	GElf_Addr bias;
};

struct places {
	struct place_object *objects;
};

struct places *places_create(void)
{
	return calloc(1, sizeof(struct places));
}

void places_destroy(struct places *places)
{
	struct place_object *object, *next;

	for (object = places ? places->objects : NULL; object; object = next) {
		next = object->next;
		if (object->dwfl)
			dwfl_end(object->dwfl);
		free(object->path);
		free(object);
	}
	free(places);
}

/* Reports one file each, so that addresses are the file's own but for a constant. */
static void place_open(struct place_object *object)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	GElf_Addr bias;

	object->dwfl = dwfl_begin(&callbacks);
	if (!object->dwfl)
		return;
	dwfl_report_begin(object->dwfl);
	object->module = dwfl_report_offline(object->dwfl, object->path, object->path, -1);
	dwfl_report_end(object->dwfl, NULL, NULL);
	if (object->module && dwfl_module_getelf(object->module, &bias))
		object->bias = bias;
	else
		object->module = NULL;
}

static struct place_object *place_object(struct places *places, const char *path)
{
	struct place_object *object;

	for (object = places->objects; object; object = object->next)
		if (!strcmp(object->path, path))
			return object;
	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->path = strdup(path);
	object->next = places->objects;
	places->objects = object;
	if (object->path && *object->path == '/')
		place_open(object);
	return object;
}

struct place place_find(struct places *places, const char *path, uint64_t address)
{
	struct place place = {NULL, NULL, 0};
	struct place_object *object = place_object(places, path);
	Dwfl_Line *line;

	if (!object || !object->module)
		return place;
	/* Look up the call, which is before the return address. */
	address += object->bias - 1;
	place.function = dwfl_module_addrname(object->module, address);
	line = dwfl_module_getsrc(object->module, address);
	if (line)
		place.file = dwfl_lineinfo(line, NULL, &place.line, NULL, NULL, NULL);
	return place;
}
