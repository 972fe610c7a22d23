// SPDX-License-Identifier: MIT
/* source.c - see source.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"

#define MAX_SOURCE (64u << 20)

struct source_file {
	struct source_file *next;
	char *path;
	const char *text; /* mapped; NULL: cannot be read */
	size_t size;
	unsigned int line; /* the last one found, */
	size_t at;	   /* and where it begins: callers ask in ascending order */
};

struct cosy_source {
	struct source_file *files;
};

struct cosy_source *cosy_source_create(void)
{
	return calloc(1, sizeof(struct cosy_source));
}

void cosy_source_destroy(struct cosy_source *source)
{
	struct source_file *file, *next;

	for (file = source->files; file; file = next) {
		next = file->next;
		if (file->text)
			munmap((void *)file->text, file->size);
		free(file->path);
		free(file);
	}
	free(source);
}

/* Maps regular files only: the compound may name a device or a pipe. */
static void map(struct source_file *file)
{
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	void *text;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= MAX_SOURCE) {
		text = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text != MAP_FAILED) {
			file->text = text;
			file->size = st.st_size;
		}
	}
	close(fd);
}

static struct source_file *find(struct cosy_source *source, const char *path)
{
	struct source_file *file;

	for (file = source->files; file; file = file->next)
		if (!strcmp(file->path, path))
			return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		return NULL;
	}
	file->line = 1;
	map(file);
	file->next = source->files;
	source->files = file;
	return file;
}

const char *cosy_source_line(struct cosy_source *source, const char *path, unsigned int line,
			     size_t *len)
{
	struct source_file *file = find(source, path);
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
	for (size_t i = 0; i < len; i++) {
		unsigned char c = text[i];

		putchar((c < ' ' && c != '\t') || c == 0x7f ? '?' : c);
	}
}
