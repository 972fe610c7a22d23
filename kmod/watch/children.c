// SPDX-License-Identifier: GPL-2.0
/*
 * children.c - see children.h.
 *
 * A READ goes in this order, on which all of it rests:
 *
 *  1. find the directory, and register it and those on the way to it (way.c)
 *  2. read the words of the way and of the numbers
 *  3. wait for mounts; give up if a directory on the way is being changed, or is not registered
 *  4. check that the way leads to the directory, and permissions
 *  5. lock the directory against changes of its entries
 *  6. register the entries' inodes
 *  7. for each entry: read its word, check that its inode is stable, read attributes
 *
 * A change whose hook ran before 1 or 6 holds its lock in 3 or 7, or is complete and seen in 4 or 7.
 * A change whose hook runs later changes a word that was read in 2 or 7.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/static_call.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "compat/statx.h"
#include "fast/attributes.h"
#include "fast/child.h"
#include "fast/faccessat.h"
#include "fast/mount.h"
#include "kernel/symbols.h"
#include "watch/admit.h"
#include "watch/children.h"
#include "watch/hooks.h"
#include "watch/process.h"
#include "watch/reading.h"
#include "watch/watcher.h"
#include "watch/way.h"
#include "watch/xattrs.h"

#define MAX_STEPS (4 * COSY_WATCH_COUNT) /* entries that are passed under a directory's lock */

/* --- What is asked for ------------------------------------------------------------------------- */

/* Returns whether a path has a component of two dots: the way back is not the way that it went. */
static bool path_goes_up(const char *path)
{
	const char *at = path;
	bool begins = true;

	/* In one pass, since the kernel's strstr compares at each byte. */
	for (; *at; begins = *at++ == '/') {
		if (unlikely(begins && at[0] == '.' && at[1] == '.' && (!at[2] || at[2] == '/')))
			return true;
	}
	return false;
}

/* Copies the strings of the request. */
static int strings_get(struct cosy_watch_reading *r)
{
	const struct cosy_watch_read *asked = r->asked;
	long length;

	r->prefix[0] = 0;
	r->prefix_length = 0;
	if (asked->prefix) {
		length = strncpy_from_user(r->prefix, u64_to_user_ptr(asked->prefix),
					   sizeof(r->prefix));
		if (length < 0)
			return length;
		if (length == sizeof(r->prefix) || path_goes_up(r->prefix) ||
		    (length && asked->dirfd != AT_FDCWD))
			return -EOPNOTSUPP;
		r->prefix_length = length;
	}
	length = strncpy_from_user(r->name, u64_to_user_ptr(asked->name), sizeof(r->name));
	if (length < 0)
		return length;
	if (length == sizeof(r->name))
		return -ENAMETOOLONG;
	r->name_text = (struct qstr)QSTR_INIT(r->name, length);
	return cosy_is_component(&r->name_text) && !memchr(r->name, '/', length) ? 0 : -EOPNOTSUPP;
}

/* --- The permission to list ---------------------------------------------------------------------- */

static int hook_file_none(struct file *file, int mask)
{
	return -EOPNOTSUPP;
}

DEFINE_STATIC_CALL(cosy_hook_file, hook_file_none);

/* Opens a directory without raising an event.  Since 6.14 that takes a function, not a flag. */
static struct file *open_untold(const struct path *dir, int flags, const struct cred *cred)
{
#ifdef __FMODE_NONOTIFY
	return dentry_open(dir, flags | __FMODE_NONOTIFY, cred);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

DEFINE_STATIC_CALL(cosy_open_untold, open_untold);

void __init cosy_watch_children_init(void)
{
	cosy_static_call_find(cosy_hook_file, "security_file_permission");
	cosy_static_call_find(cosy_open_untold, "dentry_open_nonotify");
}

#define DESCRIPTORS 16 /* that are looked through */

/*
 * Returns a file by which the caller has the directory open for reading, or NULL.  Only the calling
 * thread has these descriptors, so the file stays open.
 */
static struct file *descriptor_search(const struct path *dir)
{
	struct files_struct *files = current->files;
	struct file *file, *found = NULL;
	u32 fd;

	if (atomic_read(&files->count) != 1)
		return NULL;
	rcu_read_lock();
	for (fd = 0; !found && fd < DESCRIPTORS; fd++) {
		file = files_lookup_fd_raw(files, fd);
		if (file && file->f_path.dentry == dir->dentry && path_equal(&file->f_path, dir) &&
		    (file->f_mode & FMODE_READ))
			found = file;
	}
	rcu_read_unlock();
	return found;
}

/*
 * Asks for what opendir and readdir ask.  A directory that the caller has open was opened, so only
 * readdir's question is left.  Any other one is opened now, as the last one was if nothing has
 * changed since.  No listener of fanotify is asked, so none that may deny an open or a read may
 * watch the file system.
 */
static int listing_check(struct cosy_watch_reading *r, const struct cosy_watch_read *read)
{
	struct cosy_watcher *watcher = r->watcher;
	struct file *file;
	int error;

	if (cosy_may_be_denied(r->dir.mnt->mnt_sb))
		return -EOPNOTSUPP;
	error = path_permission(&r->dir, MAY_EXEC);
	if (error)
		return error;
	file = r->asked->dirfd != AT_FDCWD ? fd_file(r->fd) : descriptor_search(&r->dir);
	if (file)
		return static_call(cosy_hook_file)(file, MAY_READ);
	if (watcher->listed_word == read->dir_word && watcher->listed_value == read->dir_value &&
	    watcher->listed_way == read->way)
		return 0;
	error = path_permission(&r->dir, MAY_READ | MAY_OPEN);
	if (error)
		return error;
	WRITE_ONCE(watcher->reader, current);
	/* The program has not opened anything, so this raises no event. */
	file = static_call(cosy_open_untold)(&r->dir, O_RDONLY | O_DIRECTORY, current_cred());
	WRITE_ONCE(watcher->reader, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fput(file);
	watcher->listed_word = read->dir_word;
	watcher->listed_value = read->dir_value;
	watcher->listed_way = read->way;
	return 0;
}

/* --- The entries ------------------------------------------------------------------------------- */

/* Copies a name by words, with a NUL and zeros up to the last word's end. */
static __always_inline void name_copy(u64 *to, const u8 *from, u32 length)
{
	u64 word;

	for (; length >= sizeof(word); length -= sizeof(word), from += sizeof(word))
		*to++ = load_unaligned_zeropad(from);
	word = load_unaligned_zeropad(from);
	*to = word & ((1ull << 8 * length) - 1);
}

/* Begins a page of entries. */
static void page_begin(struct cosy_watch_reading *r, u32 page)
{
	r->page = page;
	r->next = r->pages[page].bytes;
	r->left = min_t(u32, PAGE_SIZE, r->asked->entries_size - r->used);
}

/* Notes what the page has.  To be called once more after the last entry. */
static void page_end(struct cosy_watch_reading *r)
{
	struct cosy_watch_entry_page *page = &r->pages[r->page];

	page->used = r->next - page->bytes;
	r->used += page->used;
}

/* Goes on to the page after.  False: there is none, or no room. */
static noinline bool page_turn(struct cosy_watch_reading *r, u32 length)
{
	if (r->page + 1 == r->page_cnt)
		return false;
	page_end(r);
	page_begin(r, r->page + 1);
	return length <= r->left;
}

/* Adds an entry whose attributes may not be used so far.  NULL: there is no room. */
static __always_inline struct cosy_watch_entry *entry_add(struct cosy_watch_reading *r,
							  const struct qstr *name)
{
	u32 length = ALIGN(sizeof(struct cosy_watch_entry) + name->len + 1, sizeof(u64));
	struct cosy_watch_entry *entry;

	if (name->len > NAME_MAX || (unlikely(length > r->left) && !page_turn(r, length)))
		return NULL;
	entry = (void *)r->next;
	r->next += length;
	r->left -= length;
	entry->length = length;
	entry->name_length = name->len;
	entry->flags = 0;
	entry->word = 0;
	entry->value = 0;
	memset(entry->xattr_errors, 0, sizeof(entry->xattr_errors));
	name_copy((u64 *)(entry + 1), name->name, name->len);
	return entry;
}

/* Returns the entry to begin with: so many before the one that was asked for. */
static struct dentry *children_first(const struct cosy_watch_reading *r, struct dentry *dir,
				     struct dentry *asked)
{
	struct dentry *first = asked, *at = asked;
	u32 steps, before = r->asked->before;

	for (steps = 0; before && steps < MAX_STEPS; steps++) {
		at = cosy_dentry_before(dir, at);
		if (!at)
			break;
		if (data_race(d_is_negative(at)))
			continue;
		first = at;
		before--;
	}
	return first;
}

/*
 * Takes references to the entries, and copies their names, which the directory's lock keeps.  The
 * one that was asked for is `asked`.
 */
static void children_take(struct cosy_watch_reading *r, struct dentry *asked)
{
	struct dentry *dir = r->dir.dentry, *child;
	struct cosy_watch_entry *entry;
	u32 steps;

	spin_lock(&dir->d_lock);
	if (asked->d_parent != dir || !cosy_dentry_has_siblings(asked)) {
		spin_unlock(&dir->d_lock);
		return;
	}
	child = children_first(r, dir, asked);
	for (steps = 0; child && steps < MAX_STEPS && r->count < r->asked->count; steps++) {
		if (!data_race(d_is_negative(child)) && cosy_entry_get(child)) {
			entry = entry_add(r, &child->d_name);
			if (!entry) {
				/* It is not the last reference: dput does not sleep. */
				spin_unlock(&dir->d_lock);
				dput(child);
				return;
			}
			r->found[r->count++] = (struct cosy_watch_found){ child, entry };
		}
		child = cosy_dentry_after(dir, child);
	}
	spin_unlock(&dir->d_lock);
}

static __always_inline void stat_fill(struct stat *to, const struct kstat *stat)
{
	struct user_namespace *ns = current_user_ns();

	to->st_dev = new_encode_dev(stat->dev);
	to->st_ino = stat->ino;
	to->st_nlink = stat->nlink;
	to->st_mode = stat->mode;
	to->st_uid = cosy_uid_seen(ns, stat->uid);
	to->st_gid = cosy_gid_seen(ns, stat->gid);
	to->__pad0 = 0;
	to->st_rdev = new_encode_dev(stat->rdev);
	to->st_size = stat->size;
	to->st_blksize = stat->blksize;
	to->st_blocks = stat->blocks;
	to->st_atime = stat->atime.tv_sec;
	to->st_atime_nsec = stat->atime.tv_nsec;
	to->st_mtime = stat->mtime.tv_sec;
	to->st_mtime_nsec = stat->mtime.tv_nsec;
	to->st_ctime = stat->ctime.tv_sec;
	to->st_ctime_nsec = stat->ctime.tv_nsec;
}

/* Attributes that are the kernel's own, of no inode that is given out. */
#define KERNEL_ATTRIBUTES (STATX_ATTR_AUTOMOUNT | STATX_ATTR_DAX | STATX_ATTR_VERITY)

/* Notes what all entries have of struct statx, by the first one's. */
static void statx_note(const struct kstat *stat, struct cosy_watch_read *ret)
{
	ret->stx_mask = (stat->result_mask & ~COSY_STATX_OWN) | STATX_MNT_ID;
	/* An entry is no mount's root, since it was found in the mount of its directory. */
	ret->stx_attributes_mask = stat->attributes_mask | STATX_ATTR_MOUNT_ROOT;
}

/* Returns whether a file system that was asked by itself answers as for the first entry. */
static __always_inline bool statx_agrees(const struct kstat *stat,
					 const struct cosy_watch_read *ret)
{
	return stat->result_mask == (ret->stx_mask & ~STATX_MNT_ID) &&
	       !((stat->attributes_mask ^ ret->stx_attributes_mask) &
		 ~(u64)(KERNEL_ATTRIBUTES | STATX_ATTR_MOUNT_ROOT));
}

/*
 * Asks the file system, as vfs_getattr does after it has asked the security module.  Fields are not
 * cleared that the file system sets or nobody reads.  It has to be asked, since a query has effects
 * there (multigrain times).
 */
static __always_inline int file_system_ask(const struct path *path, struct kstat *stat,
					   const struct cosy_watch_read *ret)
{
	const struct inode *inode = d_inode(path->dentry);
	int error;

	stat->result_mask = STATX_BASIC_STATS;
	stat->attributes = stat->attributes_mask = 0;
	error = inode->i_op->getattr(cosy_mnt_idmap(path->mnt), path, stat, STATX_BASIC_STATS, 0);
	return error || statx_agrees(stat, ret) ? error : -EOPNOTSUPP;
}

/* Asks the kernel, which also answers what all entries have of struct statx. */
static noinline int kernel_ask(const struct path *path, struct kstat *stat,
			       struct cosy_watch_read *ret)
{
	int error = vfs_getattr(path, stat, STATX_BASIC_STATS, 0);

	if (!error && !ret->stx_mask)
		statx_note(stat, ret);
	return error;
}

/* Fills in the attributes of an entry.  False: they are not to be given out. */
static __always_inline bool attributes_fill(struct cosy_watch_read *ret,
					    struct cosy_watch_entry *entry, const struct path *path)
{
	const struct inode *inode = d_inode(path->dentry);
	struct stat *to = (struct stat *)entry->stat;
	struct kstat stat __cosy_uninitialized; /* the file system fills in what is used */
	int error = -ENOSYS;

	static_assert(sizeof(entry->stat) == offsetof(struct stat, __unused));
	if (likely(ret->stx_mask && inode->i_op->getattr &&
		   !(inode->i_flags & (S_AUTOMOUNT | S_DAX))))
		error = cosy_may_get_attributes(path);
	if (likely(!error) && cosy_attributes_fill(path, to)) {
		entry->attributes = 0;
		return true;
	}
	if (likely(!error))
		error = file_system_ask(path, &stat, ret);
	else if (error == -ENOSYS)
		error = kernel_ask(path, &stat, ret);
	/* st_blksize shows that huge pages were switched on for all of tmpfs. */
	if (error || stat.blksize != i_blocksize(inode))
		return false;
	stat_fill(to, &stat);
	entry->attributes = stat.attributes & ~COSY_STATX_ATTR_OWN;
	return true;
}

static __always_inline void entry_fill(struct cosy_watch_reading *r, struct cosy_watch_entry *entry,
				       struct dentry *child)
{
	struct path path = { .mnt = r->dir.mnt, .dentry = child };

	/* Another name of the inode may have ended the registration: see below. */
	if (unlikely(!entry->word || !cosy_watcher_has(r->watcher, entry->word))) {
		entry->word = 0;
		return;
	}
	entry->value = atomic64_read(cosy_watch_word(r->watcher, entry->word));
	/* The word is read before what is checked. */
	smp_rmb();
	if (likely(cosy_watch_is_stable(d_inode(child)) && attributes_fill(r->ret, entry, &path))) {
		if (r->asked->request & COSY_WATCH_ABSENT)
			cosy_watch_xattrs_ask(&path, entry);
		if (unlikely(r->queries_access) &&
		    !cosy_access_check(&path, COSY_WATCH_ACCESS_MODE(r->asked->request)))
			entry->flags |= COSY_WATCH_PERMITTED;
		return;
	}
	cosy_watcher_unregister(r->watcher, entry->word);
	entry->word = 0;
	entry->value = 0;
}

static void child_put(struct dentry *child)
{
	/* Not the last reference, since a file system in memory has one of its own. */
	if (unlikely(!cosy_lockref_add(&child->d_lockref, 2, -1)))
		dput(child);
}

static int children_read(struct cosy_watch_reading *r)
{
	struct dentry *dir = r->dir.dentry, *asked;
	u32 i;

	r->name_text.hash = full_name_hash(dir, r->name, r->name_text.len);
	asked = d_lookup(dir, &r->name_text);
	if (!asked)
		return -ENOENT;
	if (d_really_is_positive(asked))
		children_take(r, asked);
	child_put(asked);
	page_end(r);
	cosy_watcher_register_entries(r);
	cosy_watcher_settle();
	for (i = 0; i < r->count; i++) {
		entry_fill(r, r->found[i].entry, r->found[i].child);
		child_put(r->found[i].child);
	}
	return r->count ? 0 : -ENOENT;
}

/* --- READ -------------------------------------------------------------------------------------- */

/* Does steps 2 to 6, for the directory in r->dir. */
static int directory_read(struct cosy_watch_reading *r, struct cosy_watch_read *ret)
{
	struct cosy_watcher *watcher = r->watcher;
	struct inode *inode = d_inode(r->dir.dentry);
	int error;

	ret->dir_value = atomic64_read(cosy_watch_word(watcher, ret->dir_word));
	ret->way = atomic64_read(cosy_watch_word(watcher, COSY_WATCH_WAY));
	ret->numbers = atomic64_read(cosy_watch_word(watcher, COSY_WATCH_NUMBERS));
	cosy_watcher_settle();
	if (cosy_watcher_has_ticked(watcher, r->tick))
		return -EAGAIN;
	cosy_watch_settle_mounts();
	error = cosy_watch_is_changing(inode) ? -EAGAIN : cosy_way_check(r);
	if (error)
		return error;
	error = listing_check(r, ret);
	if (!error)
		error = cosy_watch_check_process(watcher);
	if (error)
		return error;
	if (!inode_trylock_shared(inode))
		return -EAGAIN;
	error = cosy_watch_admits_directory(r->dir.dentry) ? children_read(r) : -EOPNOTSUPP;
	inode_unlock_shared(inode);
	return error;
}

/* Fills in the rest of struct statx. */
static void mount_fill(const struct path *dir, struct cosy_watch_read *ret)
{
	ret->flags = cosy_times_are_coarse(d_inode(dir->dentry)) ? 0 : COSY_WATCH_COUNTED_TIMES;
	if (cosy_mount_ids_are_known())
		ret->stx_mnt_id = cosy_mount_id(dir->mnt);
	else
		ret->stx_mask = 0;
}

static int entries_copy(const struct cosy_watch_reading *r)
{
	u64 to = r->asked->entries;
	u32 i;

	for (i = 0; i <= r->page; to += r->pages[i++].used) {
		if (copy_to_user(u64_to_user_ptr(to), r->pages[i].bytes, r->pages[i].used))
			return -EFAULT;
	}
	return 0;
}

static int reading_serve(struct cosy_watch_reading *r, struct cosy_watch_read *read)
{
	int error = strings_get(r);

	if (!error)
		error = cosy_way_find(r);
	if (error)
		return error;
	r->tick = cosy_watcher_begin(r->watcher);
	error = -EOPNOTSUPP;
	if (cosy_watch_mount_is_own(r->dir.mnt) && cosy_watch_admits_directory(r->dir.dentry))
		error = cosy_way_register(r);
	if (!error) {
		read->dir_word =
			cosy_watcher_register_directory(r->watcher, d_inode(r->dir.dentry));
		error = read->dir_word ? directory_read(r, read) : -EAGAIN;
	}
	cosy_watcher_finish(r->watcher);
	mount_fill(&r->dir, read);
	cosy_way_leave(r);
	if (error)
		return error;
	read->used = r->used;
	read->found = r->count;
	return entries_copy(r);
}

void cosy_watch_reading_free(struct cosy_watch_reading *r)
{
	u32 i;

	for (i = 0; r && i < COSY_WATCH_ENTRY_PAGES; i++)
		free_page((unsigned long)r->pages[i].bytes);
	free_page((unsigned long)r);
}

/*
 * Returns the watcher's memory for a READ of so many entries, or NULL.  It is kept for the next
 * READ, and has no bytes but zeros and those of this process's answers.
 */
static struct cosy_watch_reading *reading_make(struct cosy_watcher *watcher, u32 count)
{
	struct cosy_watch_reading *r = watcher->reading;
	u32 i;

	static_assert(sizeof(*r) <= PAGE_SIZE);
	if (unlikely(!r))
		r = watcher->reading = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!r)
		return NULL;
	r->page_cnt =
		min_t(u32, DIV_ROUND_UP(count, COSY_WATCH_PAGE_ENTRIES), COSY_WATCH_ENTRY_PAGES);
	for (i = 0; i < r->page_cnt; i++) {
		r->pages[i].used = 0;
		if (likely(r->pages[i].bytes))
			continue;
		r->pages[i].bytes = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
		if (!r->pages[i].bytes)
			return NULL;
	}
	r->count = r->used = 0;
	return r;
}

long cosy_watch_read(struct cosy_watcher *watcher, struct cosy_watch_read *read)
{
	struct cosy_watch_reading *r;
	int error;

	if (!read->count || read->count > COSY_WATCH_COUNT || read->before >= COSY_WATCH_COUNT ||
	    (read->request & ~(COSY_WATCH_ALONE | COSY_WATCH_ABSENT | COSY_WATCH_ACCESS_MASK)) ||
	    (read->request & COSY_WATCH_ACCESS_MASK) > COSY_WATCH_ACCESS(S_IRWXO))
		return -EINVAL;
	if ((read->request & COSY_WATCH_ALONE) && !thread_group_empty(current))
		return -EAGAIN;
	error = cosy_watch_check_process(watcher);
	if (error)
		return error;
	r = reading_make(watcher, read->count);
	if (!r || !cosy_watcher_reserve(watcher, read->count, read->prefix))
		return -ENOMEM;
	r->watcher = watcher;
	r->asked = r->ret = read;
	page_begin(r, 0);
	r->queries_access = (read->request & COSY_WATCH_ACCESS_MASK) && cosy_user_is_real();
	read->stx_mask = 0;
	return reading_serve(r, read);
}
