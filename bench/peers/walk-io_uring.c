// SPDX-License-Identifier: MIT
/* Does walk.h by openat and getdents64, and io_uring for all the statx of a bufferful at once. */
#include "walk.h"

#include "ring.h"

#define NAMES 4096

static int is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static long below(int dir)
{
	char names[NAMES] __attribute__((aligned(16)));
	struct statx attributes[NAMES / 24];
	const char *name[NAMES / 24];
	long sum = 0;
	ssize_t len;

	while ((len = BENCH_TRY(getdents64(dir, names, NAMES))) > 0) {
		int count = 0;

		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);

			at += d->d_reclen;
			if (is_dots(d->d_name))
				continue;
			io_uring_prep_statx(io_uring_get_sqe(&ring), dir, d->d_name,
					    AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
					    &attributes[count]);
			name[count++] = d->d_name;
		}
		if (count)
			ring_finish(count);
		for (int i = 0; i < count; i++) {
			sum += attributes[i].stx_blocks;
			if (S_ISDIR(attributes[i].stx_mode)) {
				int fd = BENCH_TRY(
					openat(dir, name[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW));

				sum += below(fd);
				close(fd);
			}
		}
	}
	return sum;
}

static long walk_tree(int root)
{
	if (!ring_buffer)
		ring_begin((int[]){-1}, 1, 4096);
	return below(root);
}
