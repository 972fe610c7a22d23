// SPDX-License-Identifier: GPL-2.0
/*
 * scan_tree.c - the composite scan_tree: all entries of a directory tree.
 *
 * The walk is in core/scan_tree.h; this file makes its calls. openat and close are the kernel's
 * own, so directories have descriptors as natively.  Listing and examining are scan_dir's.  Between
 * two calls the kernel keeps nothing of the walk, and before each call the operation checks for
 * filters, tracers, signals and limits.
 */
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/unistd.h>
#include "fast/fast.h"
#include "fast/scan.h"
#include "memory/memory.h"
#include "memory/reach.h"
#include "run/limits.h"

static s64 tree_call(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d)
{
	const u64 r[] = { 0, a, b, c, d };
	s64 result = COSY_ORDINARY;

	if (number == __NR_newfstatat)
		result = cosy_fast_newfstatat(run, r);
	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, number, a, b, c, d);
	/* It is made again when the operation is: the operation goes on, it does not start over. */
	if (unlikely(run->status == COSY_LEFT_CALL))
		run->status = COSY_LEFT_WORK;
	return result;
}

static s64 tree_scan_once(struct cosy_activation *run, s32 fd, u64 to, u64 size, u64 *left)
{
	const u64 r[] = { 0, (u32)fd, to, size, AT_SYMLINK_NOFOLLOW };
	s64 result = cosy_scan_once(run, r, COSY_OP_scan_tree, left);

	if (unlikely(run->status == COSY_LEFT_CALL))
		run->status = COSY_LEFT_WORK;
	return result;
}

static s64 tree_scan_rest(struct cosy_activation *run, s32 fd, u64 to, u64 *left)
{
	u64 r[] = { 0, (u32)fd, to, *left, AT_SYMLINK_NOFOLLOW, 0 };
	s64 result = cosy_scan_rest(run, r, COSY_OP_scan_tree);

	*left = r[3];
	return result;
}

/*
 * Returns the offset of the first entry that may be a directory, by its type, or of the first that
 * is not in the portion; or of the end.
 */
static s64 tree_skip_files(struct cosy_activation *run, u64 from, u64 bytes, u64 portion)
{
	const u8 *at = cosy_reach(run, from, bytes);
	u64 word, size, done = 0;
	int fault = 0;
	u8 type;

	if (unlikely(!at))
		return -EFAULT;
	cosy_access_begin();
	while (done < bytes) {
		size = 0;
		if (likely(bytes - done >= sizeof(struct cosy_dirent))) {
			word = cosy_peek_word(at + done + offsetof(struct cosy_dirent, reclen),
					      &fault);
			size = (u16)word;
			type = word >> 16;
		}
		if (unlikely(fault || size < sizeof(struct cosy_dirent) || size % COSY_WORD ||
			     size > bytes - done)) {
			cosy_access_end();
			return fault ? -EFAULT : -EINVAL;
		}
		if (type == DT_DIR || type == DT_UNKNOWN || done >= portion)
			break;
		done += size;
	}
	cosy_access_end();
	return done;
}

#define tree_host				  cosy_activation
#define TREE_GET				  cosy_memory_read
#define TREE_PUT				  cosy_memory_write
#define TREE_CALL				  tree_call
#define TREE_LIST(run, fd, to, size, flags, left) tree_scan_once(run, fd, to, size, left)
#define TREE_EXAMINE				  tree_scan_rest
#define TREE_FIND				  tree_skip_files
#define TREE_LEAVES(run)			  unlikely((run)->status != COSY_DONE)
#define TREE_PAUSES(run)			  cosy_between_many_calls(run, COSY_OP_scan_tree)
#define TREE_STAY(run)				  ((run)->status = COSY_DONE)
#include "run/ordinary.h"
#include "scan_tree.h"

s64 cosy_op_scan_tree(struct cosy_activation *run, u64 *r)
{
	return tree_scan(run, r[1], r[2], r[3]);
}
