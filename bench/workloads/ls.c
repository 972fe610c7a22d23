// SPDX-License-Identifier: MIT
/* Does ls.h by getdents64(2) and one fstatat(2) for each entry. */
#include "ls.h"

#include <cosy/cosy.h>

static long ls_pass(int dir)
{
	struct entry entries[ENTRIES];
	char names[NAMES] __attribute__((aligned(16)));
	long sum = 0;
	int count;

	do {
		count = 0;
		COSY_START;
		ssize_t len = getdents64(dir, names, NAMES);
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);

			entries[count].name = d->d_name;
			if (fstatat(dir, d->d_name, &entries[count].st, AT_SYMLINK_NOFOLLOW) == 0)
				count++;
			at += d->d_reclen;
		}
		COSY_END;
		sum += ls_use(entries, count);
	} while (count);
	return sum;
}
