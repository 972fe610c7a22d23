// SPDX-License-Identifier: MIT
/* Does ls.h by cosy_scan_dir: names and attributes in one. */
#include "ls.h"

#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <linux/cosy.h>

/* Bytes for as many entries as the plain source has in its two buffers. */
#define SCAN (NAMES + ENTRIES * sizeof(struct stat))

static long ls_pass(int dir)
{
	struct entry entries[ENTRIES];
	char found[SCAN] __attribute__((aligned(16)));
	long sum = 0;
	ssize_t len;

	do {
		int count = 0;

		COSY_START;
		len = cosy_scan_dir(dir, found, SCAN, AT_SYMLINK_NOFOLLOW);
		COSY_END;
		for (ssize_t at = 0; at < len;) {
			const struct cosy_dirent *d = (const struct cosy_dirent *)(found + at);

			entries[count].name = d->name;
			memcpy(&entries[count].st, d->stat, sizeof(d->stat));
			count += !d->error;
			at += d->reclen;
		}
		sum += ls_use(entries, count);
	} while (len > 0);
	return sum;
}
