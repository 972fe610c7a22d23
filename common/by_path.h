/* SPDX-License-Identifier: MIT */
/*
 * by_path.h - a list of structures, one for each path: files that are opened once and kept.  Each
 * structure begins with a struct by_path.
 */
#ifndef COSY_COMMON_BY_PATH_H
#define COSY_COMMON_BY_PATH_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct by_path {
	struct by_path *next;
	char *path; /* owned */
};

/*
 * Returns the structure of the path.  If there is none, adds one of `size` zero bytes, which
 * `begin` fills in, unless it is NULL.  NULL without memory; the list is unchanged then.
 */
static inline void *by_path_get(struct by_path **list, const char *path, size_t size,
				void (*begin)(void *made, void *context), void *context)
{
	struct by_path *node;

	for (node = *list; node; node = node->next)
		if (!strcmp(node->path, path))
			return node;
	node = calloc(1, size);
	if (!node)
		return NULL;
	node->path = strdup(path);
	if (!node->path) {
		free(node);
		return NULL;
	}
	if (begin)
		begin(node, context);
	node->next = *list;
	*list = node;
	return node;
}

/* Empties the list: calls `end` for each structure, and frees it with its path. */
static inline void by_path_drop(struct by_path **list, void (*end)(void *dropped))
{
	struct by_path *node;

	while ((node = *list)) {
		*list = node->next;
		end(node);
		free(node->path);
		free(node);
	}
}

#endif /* COSY_COMMON_BY_PATH_H */
