// SPDX-License-Identifier: GPL-2.0
/*
 * cosy.ko - runs compounds (include/uapi/linux/cosy.h) in the caller's process.
 *
 * Files in reading order: the shared parts, LOAD, RUN, and then the functions that compiled code
 * calls.
 *
 *	device.c		/dev/cosy: open, mmap, and the dispatch of ioctls
 *	context.c		an open descriptor's state, bound to an address space
 *	users.c			how many contexts and programs a user may have
 *	stats.c, trace.h	counters and tracepoints
 *	compat/			differences between kernels
 *
 *	kernel/			parts of the kernel that it does not export
 *	  symbols.c		functions and variables
 *	  types.c		members of private structures
 *
 *	load/			LOAD: from a container to machine code
 *	  program.c		LOAD, FREE
 *	  image.c		validate, sandbox, compile
 *	  jit.c			the kernel's JIT: its abilities, one compilation
 *	  cache.c		compiled programs, for a user's next process
 *	  background.c		compiles for a user's next process, in a thread of the kernel
 *	  credit.c		how much of that each user may have
 *	  history.c		how much a user's processes saved in each region
 *	  recall.c		RECALL: a context and that history
 *	  processor.c		processors on which nothing is loaded
 *	  buffer.c		the shared buffer and its mapping
 *	  locked.c		memory that counts as locked by a user
 *	  thunk_table.c		the addresses that a program is linked against
 *
 *	run/			RUN: into the compiled code and back
 *	  activation.h		the state of one RUN
 *	  run.c			from the ioctl into the compiled code and back
 *	  leave.c		the saved state, out to the user and in again
 *	  limits.c		fuel, time, signals: the checks of a safepoint
 *	  filter.c		the observers of a call: tracers, auditors, filters
 *	  frame.c		local calls on the software stack
 *	  dispatch.c		the kernel's dispatcher of system calls
 *	  held.c		drops what specialised versions hold
 *	  ordinary.c		the kernel's own calls
 *	  calling.h, offsets.c	the calling convention between C and compiled code
 *	  enter.S		into compiled code and out of it, fuel
 *	  access.S		accesses outside the shared buffer, atomics, division
 *	  call.S		system calls, operations, local calls
 *
 *	memory/			operations on the program's memory
 *	  access.h, memory.h	one access, in the shared buffer or outside
 *	  reach.h		small ranges, reached at once
 *	  operations.c		operation number -> function
 *	  memory_*.c		single accesses, copying, searching, comparing
 *	  scan_ops.c		checksums and counts over many bytes
 *
 *	fast/			specialised system calls (docs/inside/fast.md)
 *	  fast.c		call number -> specialised version
 *	  guard.c		counts failed guards
 *	  fresh.c		file systems that an ordinary call just found in order
 *	  site.c		call sites whose guards keep failing
 *	  descriptor.c		files of descriptors, remembered within a RUN
 *	  page_cache.c		which files' pages may be read directly; access times
 *	  folio_cursor.c	the folios of the last reads
 *	  socket_kind.c		what may be assumed of a socket
 *	  read.c		read, pread64, lseek, readc
 *	  identity.c		getpid and other identities, clocks
 *	  attributes.c		an inode's attributes, without a user's buffer in between
 *	  mount.c		the number of a mount, changes of the mounts
 *	  permission.c		the permission to search a directory
 *	  name.h		one component of a path, from the user's memory
 *	  child.h, child.c	the entry of a name in a directory
 *	  lookup.h, lookup.c	from a name to the directory cache's entry
 *	  prefix.h, prefix.c	the directories before a name's last component
 *	  next.h, next.c	the name that comes next to the one before it
 *	  stat.c		stat, lstat, fstat, newfstatat, statx
 *	  xattr.c		getxattr, lgetxattr
 *	  symlink.c		a symbolic link at the end of a name
 *	  readlink.c		readlink, readlinkat
 *	  faccessat.c		access, faccessat, faccessat2
 *	  open.h, open.c	open, openat, close
 *	  setattr.h, setattr.c	chmod, fchmodat, utimensat
 *	  getdents.c		getdents64, scan_dir
 *	  scan_tree.c		scan_tree
 *	  whole_file.c		read_file, write_file
 *	  epoll_read.c		epoll_read
 *
 *	view/			reads and writes that share pages instead of copying
 *	  view.c		views: begin, write back, end
 *	  view_read.c		view_read, view_pread
 *	  view_write.c		write and pwrite64 of views and of the shared buffer
 *	  cached_write.c	writes into pages that are in the page cache already
 *	  ext4_write.c		the part of cached_write.c for ext4
 *	  lend.c		pages of a file, sent without being copied
 *	  send.c		pages, sent to a socket
 *
 *	move/			memory whose pages are lent and taken over (docs/inside/move.md)
 *	  move.c		loan, transfer, flush, ready
 *	  region.c		the same as operations of compounds
 *	  arena.c		arenas: memory, mappings, faults, fork
 *	  slots.c		their pages
 *	  present.c		faults, and pages that are made present before
 *	  entries.c		their page-table entries
 *	  huge_page.c		2 MB of them as one
 *	  huge.c		huge pages, mapped and moved
 *	  checks.c		what tests check of moved pages
 *	  census.c		counts the existing arenas, parcels and ports
 *	  pipe.c		pages into pipes and out of them
 *	  socket.c		pages into sockets
 *	  parcel.c		pages in a descriptor
 *	  port.c		pages into a window of another process
 *	  by_file.c		finds the parcel or port that a request names
 *
 *	watch/			attributes that are read ahead (docs/inside/windows.md)
 *	  watch.c		whether there are any on this kernel; the heartbeat
 *	  watcher.c		words that change before an inode's attributes do; the tick
 *	  hooks.c		the traced functions, which change the words
 *	  self_test.c		changes that hooks have to note when the module is loaded
 *	  process.c		the process of a watcher, and whether it may make a READ
 *	  descriptor.c		a watcher's descriptor
 *	  admit.c		inodes that cannot change unnoticed
 *	  way.c		finds the directory of a READ, and guards the way to it
 *	  children.c		READ: entries of a directory with their attributes
 *	  xattrs.c		extended attributes that a file does not have
 *
 * ../core validates compounds and sandboxes their code.
 */
#include <linux/module.h>
#include <linux/seq_file.h>
#include "device.h"
#include "fast/attributes.h"
#include "fast/mount.h"
#include "fast/permission.h"
#include "fast/setattr.h"
#include "fast/symlink.h"
#include "kernel/symbols.h"
#include "kernel/types.h"
#include "load/background.h"
#include "load/cache.h"
#include "load/jit.h"
#include "load/processor.h"
#include "move/move.h"
#include "run/dispatch.h"
#include "run/filter.h"
#include "run/thunk.h"
#include "stats.h"
#include "view/write.h"
#include "watch/watch.h"

/* Writes the statistics that are counted only when somebody reads them. */
static int more_show(struct seq_file *file)
{
	seq_printf(file, "background_ns %llu\n", cosy_background_time());
	return cosy_moving_show(file);
}

static int __init cosy_init(void)
{
	int error;

	cosy_thunk_init();
	cosy_processor_init();

	cosy_symbols_init();
	error = cosy_dispatch_init();
	if (error)
		goto out;

	cosy_kernel_types_init();
	cosy_filter_init();
	cosy_attributes_init();
	cosy_permission_init();
	cosy_setattr_init();
	cosy_symlink_init();
	cosy_mount_init();
	cosy_jit_init();
	error = cosy_cache_init();
	if (error)
		goto out;

	error = cosy_background_init();
	if (error)
		goto err_cache;

	error = cosy_ext4_init();
	if (error)
		goto err_background;

	cosy_stats_init(more_show);
	cosy_watch_init();
	error = cosy_device_init();
	if (error)
		goto err_watch;

	return 0;

err_watch:
	cosy_watch_exit();
	cosy_stats_exit();
	cosy_ext4_exit();
err_background:
	cosy_background_exit();
err_cache:
	cosy_cache_exit();
out:
	return error;
}

static void __exit cosy_exit(void)
{
	cosy_device_exit();
	cosy_watch_exit();
	cosy_stats_exit();
	cosy_ext4_exit();
	cosy_background_exit();
	cosy_cache_exit();
}

module_init(cosy_init);
module_exit(cosy_exit);
MODULE_LICENSE("GPL");
/* With a version, the kernel keeps a digest of the sources, which packages compare in upgrades. */
MODULE_VERSION("0.1.0");
MODULE_DESCRIPTION("Runs compounds of system calls inside the kernel");
