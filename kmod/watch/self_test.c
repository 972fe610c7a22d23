// SPDX-License-Identifier: GPL-2.0
/*
 * self_test.c - see self_test.h.
 *
 * The changes are made by the operations of tmpfs, on a mount that nobody else sees, with the locks
 * that the kernel would hold.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/xattr.h>
#include "compat/compat.h"
#include "watch/self_test.h"
#include "watch/watcher.h"

struct test {
	struct cosy_watcher *watcher;
	struct vfsmount *mnt;
	struct dentry *root, *file, *other, *folder;
	u32 dir_word, file_word;
	u64 dir_value, file_value;
};

/* Makes an entry that is missing, as a look-up does. */
static struct dentry *__init entry_new(struct dentry *dir, const char *name)
{
	struct dentry *entry = d_alloc_name(dir, name);

	if (entry)
		d_add(entry, NULL);
	return entry;
}

static u64 __init word_read(const struct test *t, u32 word)
{
	return atomic64_read(cosy_watch_word(t->watcher, word));
}

static void __init before(struct test *t)
{
	t->dir_value = word_read(t, t->dir_word);
	t->file_value = t->file_word ? word_read(t, t->file_word) : 0;
}

static bool __init dir_noted(const struct test *t)
{
	return word_read(t, t->dir_word) != t->dir_value;
}

static bool __init file_noted(const struct test *t)
{
	return word_read(t, t->file_word) != t->file_value;
}

/* Each returns NULL, or its name. */

static const char *__init test_create(struct test *t)
{
	struct inode *dir = d_inode(t->root);
	int error;

	before(t);
	inode_lock(dir);
	error = cosy_op_create(dir, cosy_mnt_idmap(t->mnt), t->file, S_IFREG | 0600);
	inode_unlock(dir);
	if (error || !dir_noted(t))
		return "create";
	t->file_word = cosy_watcher_register(t->watcher, d_inode(t->file));
	return NULL;
}

static const char *__init test_mknod(struct test *t)
{
	struct dentry *fifo = entry_new(t->root, "fifo");
	struct inode *dir = d_inode(t->root);
	int error = -ENOMEM;

	before(t);
	inode_lock(dir);
	if (fifo)
		error = dir->i_op->mknod(cosy_mnt_idmap(t->mnt), dir, fifo, S_IFIFO | 0600, 0);
	inode_unlock(dir);
	dput(fifo);
	return error || !dir_noted(t) ? "mknod" : NULL;
}

static const char *__init test_symlink(struct test *t)
{
	struct dentry *symlink = entry_new(t->root, "symlink");
	struct inode *dir = d_inode(t->root);
	int error = -ENOMEM;

	before(t);
	inode_lock(dir);
	if (symlink)
		error = dir->i_op->symlink(cosy_mnt_idmap(t->mnt), dir, symlink, "target");
	inode_unlock(dir);
	dput(symlink);
	return error || !dir_noted(t) ? "symlink" : NULL;
}

static const char *__init test_mkdir(struct test *t)
{
	struct inode *dir = d_inode(t->root);
	int error;

	before(t);
	inode_lock(dir);
	error = cosy_op_mkdir(dir, cosy_mnt_idmap(t->mnt), t->folder, 0700);
	inode_unlock(dir);
	return error || !dir_noted(t) ? "mkdir" : NULL;
}

static const char *__init test_rmdir(struct test *t)
{
	struct inode *dir = d_inode(t->root);
	int error;

	before(t);
	inode_lock(dir);
	error = dir->i_op->rmdir(dir, t->folder);
	if (!error)
		d_delete(t->folder);
	inode_unlock(dir);
	return error || !dir_noted(t) ? "rmdir" : NULL;
}

static const char *__init test_setattr(struct test *t)
{
	struct iattr change = { .ia_valid = ATTR_MODE, .ia_mode = S_IFREG | 0640 };
	struct inode *inode = d_inode(t->file);
	int error;

	before(t);
	inode_lock(inode);
	error = inode->i_op->setattr(cosy_mnt_idmap(t->mnt), t->file, &change);
	inode_unlock(inode);
	return error || !file_noted(t) ? "setattr" : NULL;
}

static const char *__init test_xattr(struct test *t)
{
	int error;

	before(t);
	error = vfs_setxattr(cosy_mnt_idmap(t->mnt), t->file, "trusted.cosy", "1", 1, 0);
	/* Without this kind of attribute there is nothing to note. */
	if (error == -EOPNOTSUPP)
		return NULL;
	return error || !file_noted(t) ? "setxattr" : NULL;
}

static const char *__init test_open(struct test *t)
{
	struct path path = { .mnt = t->mnt, .dentry = t->file };
	struct file *file;

	before(t);
	file = dentry_open(&path, O_RDONLY, current_cred());
	if (IS_ERR(file))
		return "open";
	fput(file);
	return file_noted(t) ? NULL : "open";
}

/* The directory has just been changed, so listing it would change its time of access. */
static const char *__init test_open_directory(struct test *t)
{
	struct path path = { .mnt = t->mnt, .dentry = t->root };
	struct file *file;
	bool has_ioctl;

	before(t);
	file = dentry_open(&path, O_RDONLY | O_DIRECTORY, current_cred());
	if (IS_ERR(file))
		return "open of a directory";
	has_ioctl = file->f_op->unlocked_ioctl || file->f_op->compat_ioctl;
	fput(file);
	if (has_ioctl)
		return "ioctl of a directory";
	return dir_noted(t) ? NULL : "open of a directory";
}

static const char *__init test_link(struct test *t)
{
	struct inode *dir = d_inode(t->root), *inode = d_inode(t->file);
	int error;

	before(t);
	inode_lock(dir);
	inode_lock_nested(inode, I_MUTEX_CHILD);
	error = dir->i_op->link(t->file, dir, t->other);
	inode_unlock(inode);
	inode_unlock(dir);
	return error || !dir_noted(t) || !file_noted(t) ? "link" : NULL;
}

static const char *__init test_unlink(struct test *t)
{
	struct inode *dir = d_inode(t->root), *inode = d_inode(t->file);
	int error;

	before(t);
	inode_lock(dir);
	inode_lock_nested(inode, I_MUTEX_CHILD);
	error = dir->i_op->unlink(dir, t->other);
	inode_unlock(inode);
	if (!error)
		d_delete(t->other);
	inode_unlock(dir);
	return error || !dir_noted(t) || !file_noted(t) ? "unlink" : NULL;
}

static const char *__init test_rename(struct test *t)
{
	struct inode *dir = d_inode(t->root), *inode = d_inode(t->file);
	struct dentry *to = entry_new(t->root, "renamed");
	int error = -ENOMEM;

	before(t);
	inode_lock(dir);
	inode_lock_nested(inode, I_MUTEX_CHILD);
	if (to)
		error = dir->i_op->rename(cosy_mnt_idmap(t->mnt), dir, t->file, dir, to, 0);
	if (!error)
		d_move(t->file, to);
	inode_unlock(inode);
	inode_unlock(dir);
	dput(to);
	return error || !dir_noted(t) || !file_noted(t) ? "rename" : NULL;
}

/* The caller, which loads the module, takes new credentials that are the old ones. */
static const char *__init test_credentials(void)
{
	struct cosy_watcher *watcher = cosy_watcher_create(current->mm);
	struct cred *cred;
	bool ended;

	if (IS_ERR(watcher))
		return "commit_creds";
	cred = prepare_creds();
	if (cred)
		commit_creds(cred);
	ended = cosy_watcher_has_ended(watcher);
	cosy_watcher_destroy(watcher);
	return ended ? NULL : "commit_creds";
}

static const char *__init test_all(struct test *t)
{
	static const char *(*const tests[])(struct test *t)__initconst = {
		test_create, test_mknod, test_symlink,	      test_mkdir, test_rmdir,  test_setattr,
		test_xattr,  test_open,	 test_open_directory, test_link,  test_unlink, test_rename,
	};
	const char *failed = NULL;
	u32 i;

	for (i = 0; !failed && i < ARRAY_SIZE(tests); i++)
		failed = tests[i](t);
	/* A module may be loaded by a thread of the kernel. */
	if (!failed && current->mm)
		failed = test_credentials();
	return failed;
}

static const char *__init test_mount(struct test *t)
{
	const char *failed = "out of memory";

	t->root = t->mnt->mnt_root;
	t->file = entry_new(t->root, "file");
	t->other = entry_new(t->root, "other");
	t->folder = entry_new(t->root, "folder");
	if (t->file && t->other && t->folder) {
		t->dir_word = cosy_watcher_register(t->watcher, d_inode(t->root));
		failed = test_all(t);
	}
	dput(t->folder);
	dput(t->other);
	dput(t->file);
	return failed;
}

const char *__init cosy_watch_self_test(void)
{
	struct file_system_type *type = get_fs_type("tmpfs");
	struct test t = {};
	const char *failed;

	if (!type)
		return "there is no tmpfs";
	t.mnt = kern_mount(type);
	module_put(type->owner);
	if (IS_ERR(t.mnt))
		return "tmpfs cannot be mounted";
	t.watcher = cosy_watcher_create(NULL);
	failed = IS_ERR(t.watcher) ? "out of memory" : test_mount(&t);
	if (!IS_ERR(t.watcher))
		cosy_watcher_destroy(t.watcher);
	kern_unmount(t.mnt);
	return failed;
}
