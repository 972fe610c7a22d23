// SPDX-License-Identifier: MIT
/* place.c - where in the source a finding is; see show.h. */
#include <string.h>

#include "show/show.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void show_place(char *to, size_t size, struct places *places, const struct advice *advice,
		const struct finding *finding)
{
	const struct profile *profile = advice->profile;
	const char *object;
	struct place place;
	int len;

	*to = 0;
	if (!finding->object || finding->object > profile->n_objects)
		return;
	object = profile->objects[finding->object].path;
	place = place_find(places, object, finding->address);
	if (place.function)
		len = snprintf(to, size, "%s", place.function);
	else
		len = snprintf(to, size, "0x%lx", finding->address);
	if (place.file && len < (int)size)
		len += snprintf(to + len, size - len, " (%s:%d)", base_name(place.file),
				place.line);
	if (len < (int)size)
		snprintf(to + len, size - len, " in %s", base_name(object));
}
