// SPDX-License-Identifier: MIT
/* overlays.c - see overlays.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlays.h"

/*
 * Largest number of rules.  With more overlays, as on hosts of many containers, one rule covers a
 * whole folder.
 */
#define MAX_OVERLAYS 32

struct directories {
	char **paths;
	size_t count;
};

static bool add(struct directories *directories, char *path)
{
	char **paths = path ? realloc(directories->paths, (directories->count + 1) * sizeof(*paths))
			    : NULL;

	if (!paths) {
		free(path);
		return false;
	}
	directories->paths = paths;
	paths[directories->count++] = path;
	return true;
}

/*
 * Copies `text` up to a comma or space without its escapes; `?` replaces characters that no rule
 * can contain.
 */
static char *unescaped(const char *text)
{
	char *path = malloc(strlen(text) + 1), *end = path;

	while (path && *text && *text != ',' && *text != ' ' && *text != '\n') {
		unsigned int byte = (unsigned char)*text;

		text += *text == '\\' && sscanf(text, "\\%3o", &byte) == 1 ? 4 : 1;
		/* The overlay's own way to escape commas. */
		if (byte != '\\')
			*end++ = byte < ' ' || byte == 127 ? '?' : byte;
	}
	if (path)
		*end = 0;
	return path;
}

/*
 * Resolves the path to the name that files below it have.  A missing directory, such as a host's
 * seen from a container, has none; a path that was relative for the mounter may be anywhere.
 */
static char *resolved(char *path)
{
	char *found = NULL;

	if (*path == '/') {
		found = realpath(path, NULL);
		if (!found && errno == EACCES)
			found = strdup(path);
		if (!found && (errno == ENOENT || errno == ENOTDIR))
			found = strdup("");
		return found;
	}
	for (;;) {
		if (!strncmp(path, "./", 2))
			path += 2;
		else if (!strncmp(path, "../", 3))
			path += 3;
		else
			break;
	}
	return asprintf(&found, "**/%s", path) < 0 ? NULL : found;
}

/* Adds the upper directory of the overlay that is mounted here, if there is one. */
static bool add_mount(struct directories *directories, const char *mount)
{
	/* Spaces of names are escaped, so this ends the fields that not every mount has. */
	static const char separator[] = " - ", overlay[] = "overlay ";
	const char *type = strstr(mount, separator), *upper;
	char *path, *found;

	if (!type || strncmp(type + strlen(separator), overlay, strlen(overlay)) != 0)
		return true;
	upper = strstr(type, "upperdir=");
	if (!upper)
		return true;
	path = unescaped(upper + strlen("upperdir="));
	if (!path)
		return false;
	found = resolved(path);
	free(path);
	if (found && !*found) {
		free(found);
		return true;
	}
	return add(directories, found);
}

static int compare(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Sorts the directories and drops duplicates. */
static void sort(struct directories *directories)
{
	size_t kept = 0;

	if (directories->count)
		qsort(directories->paths, directories->count, sizeof(char *), compare);
	for (size_t i = 0; i < directories->count; i++) {
		if (kept && !strcmp(directories->paths[kept - 1], directories->paths[i]))
			free(directories->paths[i]);
		else
			directories->paths[kept++] = directories->paths[i];
	}
	directories->count = kept;
}

/* Replaces each by its parent, unless that is the root. */
static bool shorten(struct directories *directories)
{
	bool shorter = false;

	for (size_t i = 0; i < directories->count; i++) {
		char *slash = strrchr(directories->paths[i], '/');

		if (slash && slash != directories->paths[i] &&
		    strncmp(directories->paths[i], "**/", 3)) {
			*slash = 0;
			shorter = true;
		}
	}
	sort(directories);
	return shorter;
}

static bool add_rules(const struct directories *directories, struct policy_text *rules)
{
	bool fine = true;

	for (size_t i = 0; i < directories->count && fine; i++) {
		char *pattern = NULL;

		fine = asprintf(&pattern, "%s/**", directories->paths[i]) >= 0 &&
		       policy_switch_off("an overlay's upper directory", pattern, rules);
		if (fine)
			free(pattern);
	}
	return fine;
}

/* Returns false if the kernel has no overlay file system, which it says faster than its mounts. */
static bool may_have_overlays(void)
{
	return !access("/sys/module/overlay", F_OK) || access("/sys/module", F_OK);
}

bool overlays_switch_off(struct policy_text *rules)
{
	struct directories directories = {NULL, 0};
	FILE *mounts = may_have_overlays() ? fopen("/proc/self/mountinfo", "re") : NULL;
	char *mount = NULL;
	size_t room = 0;
	bool fine = true;

	/* Without /proc the mounts are unknown. */
	if (!mounts)
		return true;
	while (fine && getline(&mount, &room, mounts) > 0)
		fine = add_mount(&directories, mount);
	free(mount);
	fclose(mounts);
	sort(&directories);
	while (fine && directories.count > MAX_OVERLAYS && shorten(&directories))
		;
	fine = fine && add_rules(&directories, rules);
	for (size_t i = 0; i < directories.count; i++)
		free(directories.paths[i]);
	free(directories.paths);
	return fine;
}
