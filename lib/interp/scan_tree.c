// SPDX-License-Identifier: MIT
/*
 * scan_tree.c - the operation scan_tree in user mode: the walk of core/scan_tree.h by plain calls.
 *
 * Memory that cannot be reached is an error of the call that is made there, as in the kernel, or
 * else a SIGSEGV, as in any function of libc's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "interp/fast_calls.h"
#include "interp/interp.h"
#include "syscall.h"

struct tree_host {
	struct libcosy_interp *in; /* NULL: the walk is not left */
};

#define ADDRESS(value) ((unsigned long)(value))

static bool memory_get(void *to, u64 from, u32 bytes)
{
	memcpy(to, (const void *)from, bytes);
	return true;
}

static bool memory_put(u64 to, const void *from, u32 bytes)
{
	memcpy((void *)to, from, bytes);
	return true;
}

static bool walk_leaves(const struct tree_host *host)
{
	return host->in && libcosy_interp_leaves(host->in);
}

static bool walk_has_left(const struct tree_host *host)
{
	return host->in && host->in->left;
}

static void walk_stays(const struct tree_host *host)
{
	if (host->in)
		host->in->left = false;
}

static s64 list_once(int fd, u64 to, u64 size, u64 *left)
{
	s64 bytes = libcosy_do_scan_list(fd, (void *)to, size, false);

	*left = bytes > 0 ? bytes : 0;
	return bytes;
}

static s64 examine_rest(const struct tree_host *host, int fd, u64 to, u64 *left)
{
	s64 size;

	if (*left > COSY_MAX_LISTED)
		return -EINVAL;
	while (*left) {
		size = libcosy_do_scan_examine(fd, (void *)to, *left, AT_SYMLINK_NOFOLLOW);
		if (size < 0)
			return size;
		to += size;
		*left -= size;
		if (walk_leaves(host))
			return 0;
	}
	return 0;
}

static s64 skip_files(u64 from, u64 bytes)
{
	u64 done = 0;

	while (done < bytes) {
		const struct cosy_dirent *entry = (const struct cosy_dirent *)(from + done);

		if (bytes - done < sizeof(*entry) || entry->reclen < sizeof(*entry) ||
		    entry->reclen % 8 || entry->reclen > bytes - done)
			return -EINVAL;
		if (entry->type == DT_DIR || entry->type == DT_UNKNOWN)
			break;
		done += entry->reclen;
	}
	return done;
}

#define TREE_GET(host, to, from, bytes) memory_get(to, from, bytes)
#define TREE_PUT(host, to, from, bytes) memory_put(to, from, bytes)
#define TREE_CALL(host, number, a, b, c, d)                                                        \
	cosy_syscall6(number, ADDRESS(a), ADDRESS(b), ADDRESS(c), ADDRESS(d), 0, 0)
#define TREE_LIST(host, fd, to, size, flags, left) list_once(fd, to, size, left)
#define TREE_EXAMINE(host, fd, to, left)	   examine_rest(host, fd, to, left)
#define TREE_FIND(host, from, bytes, portion)	   skip_files(from, bytes)
#define TREE_LEAVES(host)			   walk_has_left(host)
#define TREE_PAUSES(host)			   walk_leaves(host)
#define TREE_STAY(host)				   walk_stays(host)
#include "../../core/scan_tree.h"

s64 libcosy_do_scan_tree(struct libcosy_interp *in, void *tree, void *buffer, u64 size)
{
	struct tree_host host = {.in = in};

	return tree_scan(&host, (u64)tree, (u64)buffer, size);
}
