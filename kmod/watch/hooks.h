/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hooks.h - functions of the kernel's that are traced, so that a change is noted before it is made.
 *
 * Traced are the file systems' own operations, by the addresses in their tables: the kernel calls
 * them with all locks held that the change needs.  Some others are traced by name: opening a file,
 * and what changes a process's credentials, directories, namespaces and filters, or lets another
 * process share its memory, directories or descriptors.  All are registered when the module is
 * loaded, never on demand of a user, and cannot be switched off (FTRACE_OPS_FL_PERMANENT).
 */
#ifndef COSY_HOOKS_H
#define COSY_HOOKS_H

#include <linux/fs.h>

/*
 * Registers all hooks.  NULL, or the reason why attributes cannot be watched on this kernel; then
 * some may be registered, and the caller has to take them away.
 */
const char *cosy_hooks_register(void);
/* False: the kernel has given up tracing, so hooks may still be called. */
bool cosy_hooks_unregister(void);

/* Tells whether all traced functions still call their hooks, as far as their code shows. */
bool cosy_hooks_are_in_place(void);

/* Tells whether tracing works so far that cosy_hooks_unregister would take the hooks away. */
bool cosy_hooks_can_be_removed(void);

/* A file system's operations, all of which that change attributes are traced; NULL: none are. */
struct cosy_op_table {
	const struct inode_operations *directory, *file;
};

enum { COSY_TMPFS, COSY_EXT4, COSY_OP_TABLE_CNT };

extern struct cosy_op_table cosy_op_tables[COSY_OP_TABLE_CNT];

/* Tells whether hooks see all changes of an inode: its operations are of a table with hooks. */
static inline bool cosy_hooks_see_directory(const struct inode *dir)
{
	return dir->i_op == cosy_op_tables[COSY_TMPFS].directory ||
	       (cosy_op_tables[COSY_EXT4].directory &&
		dir->i_op == cosy_op_tables[COSY_EXT4].directory);
}

static inline bool cosy_hooks_see_file(const struct inode *inode)
{
	return inode->i_op == cosy_op_tables[COSY_TMPFS].file ||
	       (cosy_op_tables[COSY_EXT4].file && inode->i_op == cosy_op_tables[COSY_EXT4].file);
}

static inline bool cosy_hooks_see_tmpfs(const struct inode *inode)
{
	return inode->i_op == cosy_op_tables[COSY_TMPFS].file ||
	       inode->i_op == cosy_op_tables[COSY_TMPFS].directory;
}

#endif /* COSY_HOOKS_H */
