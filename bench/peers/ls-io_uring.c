// SPDX-License-Identifier: MIT
/* Does ls.h by getdents64(2), and io_uring for all the statx of a bufferful at once. */
#define LS_LINE_ONLY
#include "ls.h"
#include "ring.h"

static long ls_pass(int dir)
{
	static struct statx attributes[ENTRIES];
	struct entry entries[ENTRIES];
	char names[NAMES] __attribute__((aligned(16)));
	ssize_t len;
	long sum = 0;

	if (!ring_buffer)
		ring_begin((int[]){-1}, 1, 4096);
	while ((len = getdents64(dir, names, NAMES)) > 0) {
		int count = 0;

		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			struct io_uring_sqe *entry = io_uring_get_sqe(&ring);

			/* The ring may be shorter than the bufferful. */
			if (!entry) {
				ring_finish(RING_SIZE);
				entry = io_uring_get_sqe(&ring);
			}
			io_uring_prep_statx(entry, dir, d->d_name, AT_SYMLINK_NOFOLLOW,
					    STATX_BASIC_STATS, &attributes[count]);
			entries[count++].name = d->d_name;
			at += d->d_reclen;
		}
		ring_finish(count % RING_SIZE ?: RING_SIZE);
		for (int i = 0; i < count; i++) {
			entries[i].st.st_mode = attributes[i].stx_mode;
			entries[i].st.st_nlink = attributes[i].stx_nlink;
			entries[i].st.st_uid = attributes[i].stx_uid;
			entries[i].st.st_gid = attributes[i].stx_gid;
			entries[i].st.st_size = attributes[i].stx_size;
			entries[i].st.st_mtime = attributes[i].stx_mtime.tv_sec;
		}
		sum += ls_use(entries, count);
	}
	return sum;
}
