// SPDX-License-Identifier: MIT
/* source.c - see source.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/by_path.h"
#include "../core/printable.h"
#include "contents.h"
#include "source.h"

#define MAX_SOURCE (64u << 20)

struct source_file {
	struct by_path by_path;
	char *text; /* NULL: cannot be read */
	size_t size;
	unsigned int line; /* the last line found: callers look lines up in ascending order */
	size_t at;	   /* its offset */
};

struct cosy_source {
	struct by_path *files;
};

struct cosy_source *cosy_source_create(void)
{
	return calloc(1, sizeof(struct cosy_source));
}

static void source_file_begin(void *made, void *context)
{
	struct source_file *file = made;
	const char *why;

	(void)context;
	file->line = 1;
	file->text = contents_read(file->by_path.path, MAX_SOURCE, &file->size, &why);
}

static void source_file_end(void *dropped)
{
	free(((struct source_file *)dropped)->text);
}

void cosy_source_destroy(struct cosy_source *source)
{
	by_path_drop(&source->files, source_file_end);
	free(source);
}

const char *cosy_source_line(struct cosy_source *source, const char *path, unsigned int line,
			     size_t *len)
{
	struct source_file *file =
		by_path_get(&source->files, path, sizeof(*file), source_file_begin, NULL);
	const char *end;

	if (!file || !file->text || !line)
		return NULL;
	if (line < file->line) {
		file->line = 1;
		file->at = 0;
	}
	while (file->line < line) {
		end = memchr(file->text + file->at, '\n', file->size - file->at);
		if (!end)
			return NULL;
		file->at = end + 1 - file->text;
		file->line++;
	}
	if (file->at == file->size)
		return NULL;
	end = memchr(file->text + file->at, '\n', file->size - file->at);
	*len = (end ? end : file->text + file->size) - (file->text + file->at);
	return file->text + file->at;
}

void cosy_print_clean(const char *text, size_t len)
{
	char *line = strndup(text, len), *end = line;

	while (end && *end) {
		char *from = end;

		/* A tab stays, and ends what is cleaned at once. */
		end += strcspn(from, "\t");
		if (end == from) {
			end++;
			putchar('\t');
			continue;
		}
		from = strndup(from, end - from);
		if (from) {
			printable_clean(from);
			fputs(from, stdout);
		}
		free(from);
	}
	free(line);
}
