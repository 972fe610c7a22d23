// SPDX-License-Identifier: GPL-2.0
/*
 * getdents.c - getdents64 and scan_dir: the entries of a directory, and their attributes.
 *
 * A scan first has the directory's own iteration write the entries, as getdents64 does, and then
 * examines each.  Nothing of the directory is locked during the examination, as between separate
 * calls.  For each entry a scan saves the entry into the kernel, the descriptor's look-up, the
 * search for the name's end, and most checks of the permission to search.  It records the names'
 * lengths itself, because the entries lie in user memory and may change at any time.
 */
#include <linux/types.h> /* which the next one needs */
#include <linux/dirent.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/unistd.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "fast/attributes.h"
#include "fast/fast.h"
#include "fast/lookup.h"
#include "fast/permission.h"
#include "fast/scan.h"
#include "fast/site.h"
#include "fast/stat.h"
#include "memory/memory.h"
#include "memory/reach.h"
#include "run/held.h"
#include "run/limits.h"
#include "run/ordinary.h"

/* Maximum bytes of entries that one call writes: signals and limits are checked between calls. */
#define MAX_LISTING (64 << 10)

/* Offset of the name in an entry: in struct linux_dirent64, and in struct cosy_dirent. */
#define PLAIN_HEAD offsetof(struct linux_dirent64, d_name)
#define SCAN_HEAD  offsetof(struct cosy_dirent, name)
/* Offset of the position, in either. */
#define POSITION offsetof(struct cosy_dirent, off)
static_assert(POSITION == offsetof(struct linux_dirent64, d_off));

/* Returns the bytes of an entry whose name has `length`. */
static __always_inline u32 entry_size(u32 head, u32 length)
{
	return ALIGN(head + length + 1, COSY_WORD);
}

struct listing {
	struct dir_context ctx;
	u8 *at;	  /* the next entry goes here */
	u8 *last; /* the entry before it, or NULL */
	u32 room; /* bytes from `at` on */
	int error;
	u16 *length; /* the next name's length goes here; scans only */
};

/* Returns `left` bytes, 1 up to a word, of the kernel's name at `from`, with zeros above them. */
static __always_inline u64 name_word(const char *from, int left)
{
	u64 word = load_unaligned_zeropad(from);
	int above = left < (int)COSY_WORD ? 8 * (COSY_WORD - left) : 0;

	return word << above >> above;
}

/*
 * Returns a word in which one of the bits COSY_HIGHS is set if `word` has a slash.  Other bits
 * mean nothing.
 */
static __always_inline u64 name_slashes(u64 word)
{
	word ^= '/' * COSY_ONES;
	return (word - COSY_ONES) & ~word;
}

static noinline bool entry_refuse(struct listing *to, int error)
{
	to->error = error;
	return false;
}

/*
 * Writes an entry as filldir64 does.  False: to->error says why, which counts if there is no entry
 * before this one.
 */
static __always_inline bool entry_put(struct listing *to, const char *name, int length,
				      loff_t offset, u64 ino, u32 type, u32 head)
{
	u32 size = entry_size(head, length), start = head & ~(COSY_WORD - 1);
	u8 *at = to->at, *end = at + size;
	u64 slashes, word, first;

	if (unlikely(length <= 0 || length >= PATH_MAX))
		return entry_refuse(to, -EIO);
	if (unlikely(size > to->room || (to->last && signal_pending(current))))
		return entry_refuse(to, -EINVAL);

	cosy_access_begin();
	if (to->last)
		cosy_poke_word(offset, to->last + POSITION, fault);
	cosy_poke_word(ino, at, fault);
	first = size | (type & 0xff) << 16;
	if (head % COSY_WORD) {
		/* The first bytes of the name share a word with size and type. */
		word = name_word(name, length) << (8 * (head % COSY_WORD));
		slashes = name_slashes(word);
		cosy_poke_word(first | word, at + start, fault);
		name += COSY_WORD - head % COSY_WORD;
		length -= COSY_WORD - head % COSY_WORD;
		at += start + COSY_WORD;
	} else {
		slashes = 0;
		cosy_poke_word(first, at + 2 * COSY_WORD, fault);
		at += start;
	}
	for (; length >= (int)COSY_WORD; length -= COSY_WORD, name += COSY_WORD, at += COSY_WORD) {
		word = load_unaligned_zeropad(name);
		slashes |= name_slashes(word);
		cosy_poke_word(word, at, fault);
	}
	if (at < end) {
		word = length > 0 ? name_word(name, length) : 0;
		slashes |= name_slashes(word);
		cosy_poke_word(word, at, fault);
	}
	cosy_access_end();
	if (unlikely(slashes & COSY_HIGHS))
		return entry_refuse(to, -EIO);
	to->last = to->at;
	to->at = end;
	to->room -= size;
	return true;

fault:
	cosy_access_end();
	return entry_refuse(to, -EFAULT);
}

static bool plain_put(struct dir_context *ctx, const char *name, int length, loff_t offset, u64 ino,
		      unsigned int type)
{
	return entry_put(container_of(ctx, struct listing, ctx), name, length, offset, ino, type,
			 PLAIN_HEAD);
}

static bool scan_put(struct dir_context *ctx, const char *name, int length, loff_t offset, u64 ino,
		     unsigned int type)
{
	struct listing *to = container_of(ctx, struct listing, ctx);

	if (!entry_put(to, name, length, offset, ino, type, SCAN_HEAD))
		return false;
	*to->length++ = length;
	return true;
}

/*
 * Lists entries as getdents64 does, under the position's lock as fdget_pos takes it.  Returns
 * bytes, or an error.
 */
static s64 directory_list(struct file *file, struct listing *to)
{
	u8 *start = to->at;
	s64 result;

	if (file->f_mode & FMODE_ATOMIC_POS)
		mutex_lock(&file->f_pos_lock);
	result = iterate_dir(file, &to->ctx);
	if (result >= 0)
		result = to->error;
	if (to->last) {
		result = to->at - start;
		cosy_access_begin();
		cosy_poke_word(to->ctx.pos, to->last + POSITION, fault);
		cosy_access_end();
	}
out:
	if (file->f_mode & FMODE_ATOMIC_POS)
		mutex_unlock(&file->f_pos_lock);
	return result;

fault:
	cosy_access_end();
	result = -EFAULT;
	goto out;
}

s64 cosy_fast_getdents64(struct cosy_activation *run, const u64 *r)
{
	u32 size = r[3];
	struct listing listing = { .ctx.actor = plain_put,
				   .at = cosy_reach(run, r[2], size),
				   .room = size };
	struct fd fd;
	s64 result;

	if (unlikely(!size || size > MAX_LISTING))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(!listing.at))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (run->held)
		cosy_held_drop(run);
	fd = fdget(r[1]);
	result = fd_file(fd) ? directory_list(fd_file(fd), &listing) : -EBADF;
	fdput(fd);
	/* Calls with these names are likely to follow. */
	run->names.last_call = run->calls;
	return cosy_call_result(run, result);
}

/* --- With attributes ------------------------------------------------------------------ */

struct scan {
	struct cosy_activation *run;
	enum cosy_op op;
	const struct path *dir;
	u32 fd;
	s32 flags;
	int allowed; /* 0, or why the directory may not be searched */
	/* Of the directory, and when, as that was asked for. */
	umode_t mode;
	unsigned long asked;
};

/* Asks for the permission to search the directory. */
static void search_ask(struct scan *scan)
{
	/* Later changes are noticed. */
	scan->asked = jiffies;
	scan->mode = READ_ONCE(d_inode(scan->dir->dentry)->i_mode);
	scan->allowed = cosy_may_search(scan->dir);
}

/*
 * Checks whether the directory may be searched now: 0, or why not.  It is asked for again when its
 * mode has changed, or the clock has ticked: the thread may have stood still for long.
 */
static __always_inline int search_allowed(struct scan *scan)
{
	if (unlikely(READ_ONCE(d_inode(scan->dir->dentry)->i_mode) != scan->mode ||
		     jiffies != scan->asked))
		search_ask(scan);
	return scan->allowed;
}

/*
 * Examines the entry at user address `entry`, reached at `at`, by the specialised version.  0 with
 * its attributes written, an error, or COSY_ORDINARY.
 */
static __always_inline s64 stat_entry_try(struct scan *scan, u64 entry, u8 *at, u32 length)
{
	struct cosy_activation *run = scan->run;
	struct qstr component = { .name = at + SCAN_HEAD, .len = length };

	if (unlikely(scan->flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(at == (u8 *)entry))
		return cosy_stat_under(run, scan->dir, entry + SCAN_HEAD,
				       entry + offsetof(struct cosy_dirent, stat), scan->flags);
	if (unlikely(!cosy_is_component(&component)))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	if (unlikely(search_allowed(scan)))
		return scan->allowed;
	return cosy_stat_child(run, scan->dir, &component, at + offsetof(struct cosy_dirent, stat),
			       scan->flags);
}

/*
 * Writes the attributes of the entry at user address `entry`, reached at `at`.  Non-zero
 * run->status: examining it is to be restarted.
 */
static int stat_entry(struct scan *scan, u64 entry, u8 *at, u32 length)
{
	struct cosy_activation *run = scan->run;
	s64 result = COSY_ORDINARY;
	bool missing;

	if (cosy_site_tries(run, &missing)) {
		result = stat_entry_try(scan, entry, at, length);
		/* The dots always fail, which tells nothing about the other names. */
		if (likely(length > 2))
			cosy_site_note(run, missing, result);
	}
	if (likely(result != COSY_ORDINARY))
		return cosy_call_result(run, result);
	return cosy_ordinary(run, __NR_newfstatat, scan->fd, entry + SCAN_HEAD,
			     entry + offsetof(struct cosy_dirent, stat), scan->flags);
}

/* Writes the error in place of an entry's attributes.  0 or -EFAULT. */
static int error_put(u8 *entry, int error)
{
	u32 at;

	cosy_access_begin();
	unsafe_put_user(error, (s32 __user *)(entry + offsetof(struct cosy_dirent, error)), fault);
	for (at = offsetof(struct cosy_dirent, stat); at < SCAN_HEAD; at += COSY_WORD)
		cosy_poke_word(0, entry + at, fault);
	cosy_access_end();
	return 0;

fault:
	cosy_access_end();
	return -EFAULT;
}

/*
 * Notes that the scan leaves before the entry at `entry`, of those that end at `end`; `r` is still
 * as the scan was called.  A restart begins with that entry, not with the call: those before it
 * are done.
 */
static void scan_mark(struct cosy_activation *run, u64 *r, u64 entry, u64 end)
{
	r[5] = entry - r[2];
	r[2] = entry;
	r[3] = end - entry;
	r[4] = COSY_UNDER_WAY | (u32)r[4];
	if (run->status == COSY_LEFT_CALL)
		run->status = COSY_LEFT_WORK;
}

/*
 * Examines the entries in the `bytes` at `at`, whose user address is `entry`.  Returns the bytes of
 * those that it examined, all of them unless run->status is non-zero then; or -EFAULT.
 */
static s64 stat_entries(struct scan *scan, u64 entry, u8 *at, const u16 *length, const u16 *end)
{
	struct cosy_activation *run = scan->run;
	u64 start = entry;
	int error;
	u32 size;

	for (; length < end; length++) {
		if (unlikely(cosy_between_calls(run, scan->op)))
			break;
		error = stat_entry(scan, entry, at, *length);
		if (unlikely(error)) {
			if (run->status != COSY_DONE)
				break;
			if (error_put(at, error))
				return -EFAULT;
		}
		size = entry_size(SCAN_HEAD, *length);
		entry += size;
		at += size;
	}
	return entry - start;
}

/*
 * Examines one of the entries that remain, by its user address alone.  Returns its size, or an
 * error.
 */
static s64 stat_again(struct cosy_activation *run, const u64 *r)
{
	const u64 call[] = { 0, (u32)r[1], r[2] + SCAN_HEAD,
			     r[2] + offsetof(struct cosy_dirent, stat), (u32)r[4] };
	s64 result;
	u16 size;
	u8 *at;

	if (get_user(size, (const u16 __user *)(r[2] + offsetof(struct cosy_dirent, reclen))))
		return -EFAULT;
	if (size < entry_size(SCAN_HEAD, 1) || size % COSY_WORD || size > r[3])
		return -EINVAL;
	result = cosy_call_result(run, cosy_site_try(run, call, cosy_fast_newfstatat));
	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, __NR_newfstatat, call[1], call[2], call[3], call[4]);
	if (run->status == COSY_DONE && result) {
		at = cosy_reach(run, r[2], size);
		if (!at || error_put(at, result))
			return -EFAULT;
	}
	return size;
}

/*
 * Goes on with the entries that remain: r1-r5 as scan_dir leaves them.  The lengths of their names
 * are no longer known, and the entries are the user's: newfstatat gets whatever name is there by
 * now.
 */
s64 cosy_scan_rest(struct cosy_activation *run, u64 *r, enum cosy_op op)
{
	u64 start = r[2] - r[5], end = r[2] + r[3];
	s64 size;

	if (r[3] > MAX_LISTING)
		return -EINVAL;
	if (run->held)
		cosy_held_drop(run);
	while (r[2] != end) {
		size = stat_again(run, r);
		if (size < 0)
			return size;
		if (run->status == COSY_DONE) {
			r[2] += size;
			r[3] -= size;
			r[5] += size;
			if (r[2] == end || !cosy_between_calls(run, op))
				continue;
		}
		if (run->status == COSY_LEFT_CALL)
			run->status = COSY_LEFT_WORK;
		return 0;
	}
	return end - start;
}

s64 cosy_scan_once(struct cosy_activation *run, const u64 *r, enum cosy_op op, u64 *left)
{
	u64 size = min_t(u64, r[3], MAX_LISTING);
	u16 length[MAX_LISTING / (SCAN_HEAD + COSY_WORD)] __cosy_uninitialized;
	struct listing listing = { .ctx.actor = scan_put, .length = length };
	struct scan scan = { .run = run, .op = op, .fd = r[1], .flags = r[4] };
	struct file *file;
	struct fd fd;
	s64 result, examined;
	u8 *at;

	*left = 0;
	at = cosy_reach(run, r[2], size);
	/* No user has memory there, so an entry cannot be written; an empty listing needs none. */
	if (unlikely(!at))
		at = (u8 *)TASK_SIZE_MAX;
	if (run->held)
		cosy_held_drop(run);
	fd = fdget(r[1]);
	file = fd_file(fd);
	if (unlikely(!file))
		return -EBADF;
	listing.at = at;
	listing.room = size;
	result = cosy_call_result(run, directory_list(file, &listing));
	if (result > 0) {
		scan.dir = &file->f_path;
		search_ask(&scan);
		examined = stat_entries(&scan, r[2], at, length, listing.length);
		if (unlikely(examined < 0))
			result = examined;
		else
			*left = result - examined;
		/*
		 * The directory stays open for the scan; from here on only if nobody shares the
		 * descriptors.
		 */
		if (!cosy_fd_is_borrowed(fd))
			cosy_child_drop(run);
	}
	fdput(fd);
	return result;
}

/*
 * Makes getdents64(fd, to, size), but with struct cosy_dirent, and then newfstatat(fd, its name,
 * its stat, flags) for each entry.  At most 64 KB at once.  Returns bytes, 0 at the end, or
 * getdents64's error.  Non-zero run->status: it leaves before the next call, and r1-r5 say which
 * that is.
 */
s64 cosy_op_scan_dir(struct cosy_activation *run, u64 *r)
{
	s64 result;
	u64 left;

	if (unlikely(COSY_IS_UNDER_WAY(r[4])))
		return cosy_scan_rest(run, r, COSY_OP_scan_dir);
	result = cosy_scan_once(run, r, COSY_OP_scan_dir, &left);
	if (unlikely(left))
		scan_mark(run, r, r[2] + result - left, r[2] + result);
	return result;
}
