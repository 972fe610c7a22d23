// SPDX-License-Identifier: MIT
/* account.c - see account.h. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "account.h"

#define FILE_NAME "/etc/subuid"
#define MAX_NAME  256

/* A line: the user's name or number, the first ID, how many. */
struct id_range {
	char owner[MAX_NAME];
	uint64_t first, count;
};

/* Reads the next range; false at the end.  Lines that are no ranges are left out, as others do. */
static bool range_next(FILE *file, struct id_range *ret)
{
	char line[MAX_NAME + 64];

	while (fgets(line, sizeof(line), file)) {
		int end = 0;

		if (sscanf(line, "%255[^:\n]:%lu:%lu%n", ret->owner, &ret->first, &ret->count,
			   &end) == 3 &&
		    (!line[end] || line[end] == '\n'))
			return true;
	}
	return false;
}

bool account_of(uid_t uid, uid_t *ret)
{
	FILE *file = fopen(FILE_NAME, "re");
	char owner[MAX_NAME] = "";
	struct id_range range;

	*ret = uid;
	if (!file)
		return errno == ENOENT;
	while (!*owner && range_next(file, &range))
		if (uid >= range.first && uid - range.first < range.count)
			memcpy(owner, range.owner, sizeof(owner));
	rewind(file);
	while (*owner && range_next(file, &range)) {
		if (strcmp(owner, range.owner) != 0)
			continue;
		*ret = (uid_t)range.first;
		break;
	}
	fclose(file);
	return true;
}
