// SPDX-License-Identifier: GPL-2.0
/*
 * ext4_write.c - files of ext4 whose pages may be written here: see ext4_folio.h.
 *
 * Most of the cost of ext4's write below the end of a file is delayed allocation.  A mapped buffer
 * needs none: ext4_da_write_begin does not change it, and ext4_da_write_end amounts to
 * mark_buffer_dirty.  This file does the same for files with these two operations.  Files with data
 * in the journal or direct access have other operations, and files with inline data have no mapped
 * buffers: ext4 writes them.  COSY_GUARD_FRESH detects a file system that is shut down.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include "compat/compat.h"
#include "kernel/symbols.h"
#include "view/write.h"

/* --- Files of ext4 with delayed allocation ------------------------------------------------ */

/*
 * ext4's operations for files with delayed allocation, only compared; NULL while there is no ext4.
 * No inode has them when ext4 is unloaded.
 */
static const struct address_space_operations *ext4_delayed;

static void ext4_find(void)
{
	WRITE_ONCE(ext4_delayed, cosy_unexported_data("ext4_da_aops"));
}

static int ext4_module_event(struct notifier_block *self, unsigned long state, void *data)
{
	const struct module *module = data;

	if (strcmp(module->name, "ext4"))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_LIVE)
		ext4_find();
	else if (state == MODULE_STATE_GOING)
		WRITE_ONCE(ext4_delayed, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block ext4_notifier = { .notifier_call = ext4_module_event };

int __init cosy_ext4_init(void)
{
	int error = register_module_notifier(&ext4_notifier);

	if (!error && !READ_ONCE(ext4_delayed))
		ext4_find();
	return error;
}

void cosy_ext4_exit(void)
{
	unregister_module_notifier(&ext4_notifier);
}

bool cosy_ext4_delays(const struct address_space *mapping)
{
	const struct address_space_operations *delayed = READ_ONCE(ext4_delayed);

	return delayed && mapping->a_ops == delayed;
}
