// SPDX-License-Identifier: MIT
/*
 * fuzz_recording.c - reads a recording, folds it, and shows it in all three ways, as `cosy profile
 * --read` does.  No file is looked into: what the recording names is nobody's here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/place.h"
#include "fold/fold.h"
#include "show/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names and lines are text of the program's choice. */
struct place place_find(struct places *places, const char *object, uint64_t address)
{
	(void)places;
	return address % 3 ? (struct place){NULL, NULL, 0}
			   : (struct place){object, address % 2 ? object : NULL, 1};
}

struct place place_find_loop(struct places *places, const char *object, uint64_t function,
			     uint64_t address)
{
	(void)function;
	return place_find(places, object, address);
}

/* Some code is a loop, some is not, and some cannot be read. */
static enum code_call code_look(void *context, const char *path, uint64_t function,
				uint64_t address)
{
	(void)context;
	return (strlen(path) + function + address) % (CODE_POINTER + 1);
}

static void profile_show(const struct profile *profile)
{
	static struct advice advice;
	static FILE *nowhere;
	struct loop_code code = {code_look, NULL};
	struct advise_context context = {&code, NULL, NULL};

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort();
	advise(profile, &context, &advice);
	show_terminal(nowhere, &advice, NULL);
	show_json(nowhere, &advice, NULL);
	show_html(nowhere, &advice, NULL);
}

/* True if the header can be read, as most should so that the rest is. */
static void header_mend(uint8_t *data, size_t size)
{
	struct event_header header;

	if (size < sizeof(header))
		return;
	memcpy(&header, data, sizeof(header));
	memcpy(header.magic, EVENT_MAGIC, sizeof(header.magic));
	header.version = EVENT_VERSION;
	header.size = sizeof(header);
	memcpy(data, &header, sizeof(header));
}

static void recording_read(FILE *file)
{
	_Alignas(8) char buffer[EVENT_MAX_SIZE];
	struct event *event = (struct event *)buffer;
	struct event_header header;
	struct fold *fold;
	const char *why = NULL;

	if (event_file_header(file, &header, &why) <= 0) {
		if (!why)
			abort();
		return;
	}
	fold = fold_create(&header);
	while (fold && event_file_next(file, event, &why) > 0)
		fold_take(fold, event);
	/* A recording that is wrong somewhere is shown here up to there. */
	if (fold) {
		profile_show(fold_finish(fold));
		fold_destroy(fold);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	FILE *file;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size % 8 != 7)
		header_mend(copy, size);
	file = size ? fmemopen(copy, size, "r") : NULL;
	if (file) {
		recording_read(file);
		fclose(file);
	}
	free(copy);
	return 0;
}
