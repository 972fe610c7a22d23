// SPDX-License-Identifier: MIT
/* place.c - where in the source a finding is; see show.h. */
#include <string.h>

#include "../common/path.h"
#include "show/show.h"

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
	place = place_find_loop(places, object, finding->function, finding->address);
	len = snprintf(to, size, "%s", place.function ? place.function : "unnamed");
	if (place.file && len < (int)size)
		len += snprintf(to + len, size - len, " (%s:%d)", path_name(place.file),
				place.line);
	else if (len < (int)size)
		len += snprintf(to + len, size - len, " (0x%lx)", finding->address);
	if (len < (int)size)
		snprintf(to + len, size - len, " in %s", path_name(object));
}

struct place show_line_of(struct places *places, const struct advice *advice,
			  const struct finding *finding)
{
	if (!finding->object || finding->object > advice->profile->n_objects)
		return (struct place){0};
	return place_find_loop(places, advice->profile->objects[finding->object].path,
			       finding->function, finding->address);
}

bool show_suggested(char *to, size_t size, struct places *places, const struct advice *advice,
		    const struct finding *finding)
{
	struct place place = {0};

	if (finding->way == WAY_REGION && finding->markable)
		place = show_line_of(places, advice, finding);
	if (!place.file)
		return false;
	snprintf(to, size, "cosycc -O2 -fcosy-suggest=%s:%d ... in place of your compiler",
		 place.file, place.line);
	return true;
}

const char *show_next(const struct finding *finding)
{
	return finding->way == WAY_REMOVE ? "do" : "type";
}
