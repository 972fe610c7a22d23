/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * cosy_watch.h - watchers: attributes that are read ahead, and words that say when they are stale.
 *
 * COSY_IOC_WATCH on /dev/cosy returns a descriptor, a watcher.  Its mapping has COSY_WATCH_WORDS
 * words of 64 bits, which the kernel changes before the attributes change that a READ gave out.  An
 * answer of a READ may be used as long as
 *
 *  - word COSY_WATCH_WAY is still the READ's `way`;
 *  - word `dir_word` is still the READ's `dir_value`: the directory is where it was;
 *  - word COSY_WATCH_NUMBERS is still the READ's `numbers`, if `dirfd` was not AT_FDCWD;
 *  - word `word` of the entry is still the entry's `value`.
 *
 * A watcher belongs to the process that made it.  Another process that inherits the mapping finds
 * COSY_WATCH_ENDED in all words.  A watcher also ends when its process does something that the
 * module cannot follow: see docs/inside/windows.md.
 */
#ifndef _UAPI_LINUX_COSY_WATCH_H
#define _UAPI_LINUX_COSY_WATCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define COSY_WATCH_WORDS   1024
#define COSY_WATCH_WAY	   0 /* the way to a directory, mounts, and the tick of a second */
#define COSY_WATCH_NUMBERS 1 /* the directories that descriptors name */
#define COSY_WATCH_FIRST   8 /* the first word of an entry */
#define COSY_WATCH_ENDED   (1ull << 63) /* set in COSY_WATCH_WAY for good: make no more READs */
#define COSY_WATCH_COUNT   128		/* entries that one READ returns at most */

/* Makes a watcher: the argument of COSY_IOC_WATCH.  `flags` is 0. */
struct cosy_watch {
	__u32 size;
	__u32 flags;
};

/* Extended attributes whose absence an entry can tell, in this order. */
#define COSY_WATCH_XATTRS                                                                          \
	{"security.selinux", "security.capability", "system.posix_acl_access",                     \
	 "system.posix_acl_default"}
#define COSY_WATCH_XATTR_COUNT 4

/* An entry of a directory.  Its name and a NUL follow, with zeros up to a multiple of 8 bytes. */
struct cosy_watch_entry {
	__u16 length; /* of all of it, in bytes */
	__u8 name_length;
	__u8 flags;	  /* COSY_WATCH_NO_XATTRS | COSY_WATCH_PERMITTED */
	__u32 word;	  /* 0: its attributes may change without notice, so `stat` is not filled */
	__u64 value;	  /* of that word */
	__u64 stat[15];	  /* struct stat of x86-64, without the zeros at its end */
	__u64 attributes; /* stx_attributes of struct statx */
	/*
	 * What getxattr(2) fails with for COSY_WATCH_XATTRS: ENODATA or EOPNOTSUPP; 0: not known.  Only
	 * known after a READ with COSY_WATCH_ABSENT.
	 */
	__u16 xattr_errors[COSY_WATCH_XATTR_COUNT];
};

/* listxattr(2) returns no name.  Only known after a READ with COSY_WATCH_ABSENT. */
#define COSY_WATCH_NO_XATTRS 1
/* access(2) succeeds for the mode of the READ's COSY_WATCH_ACCESS. */
#define COSY_WATCH_PERMITTED 2

/*
 * READ: the cached entries of a directory around one of them, with their attributes, in the order
 * of the directory cache.  The caller needs the permissions of opendir, readdir and stat.
 *
 * EAGAIN: something is being changed, another thread makes a READ, or the maps of the process's
 * user namespace are not written yet; make the call instead.
 * ENOENT: the cache has no such entry.  EOPNOTSUPP: there are no attributes of this directory to
 * give out.  ECANCELED: the watcher has ended.  EXDEV: the caller is not the watcher's process.
 * EPERM: an observer of system calls has to see each stat of one of the threads.  Others as
 * opendir(3) and stat(2).
 */
struct cosy_watch_read {
	__u32 size;
	__s32 dirfd;	    /* a directory that is open for reading, or AT_FDCWD */
	__u64 prefix;	    /* user string: from there to the directory; 0: `dirfd` itself */
	__u64 name;	    /* user string: the entry to begin with, one component */
	__u64 entries;	    /* where the entries go */
	__u32 entries_size; /* bytes */
	__u16 before;	    /* begin so many entries before that one */
	__u16 count;	    /* how many in all, COSY_WATCH_COUNT at most */
	/* out */
	__u32 used;  /* bytes of entries */
	__u32 found; /* how many */
	__u64 way, numbers, dir_value;
	__u32 dir_word;
	__u32 stx_mask; /* of all entries, for a mask of basic fields and the mount; 0: not known */
	__u64 stx_attributes_mask, stx_mnt_id;
	__u32 flags; /* COSY_WATCH_COUNTED_TIMES */
	/* in */
	/* COSY_WATCH_ALONE | COSY_WATCH_ABSENT | COSY_WATCH_ACCESS(); other bits are refused */
	__u32 request;
};

/* statx(2) returns neither time of change if its mask has neither: the kernel counts queries. */
#define COSY_WATCH_COUNTED_TIMES 1

/*
 * The caller uses the answers without regard to other threads: EAGAIN if there is one.  The word of
 * the way changes before another one begins.
 */
#define COSY_WATCH_ALONE 1

/* Fill in `xattr_errors`, and query COSY_WATCH_NO_XATTRS. */
#define COSY_WATCH_ABSENT 2

/*
 * Query COSY_WATCH_PERMITTED for this mode of access(2), 0 (F_OK) to 7.  It is never set for callers
 * whose real and effective users or rights differ.
 */
#define COSY_WATCH_ACCESS(mode)		(((mode) + 1) << 8)
#define COSY_WATCH_ACCESS_MASK		0xf00
#define COSY_WATCH_ACCESS_MODE(request) ((((request) & COSY_WATCH_ACCESS_MASK) >> 8) - 1)

#define COSY_IOC_WATCH	    _IOW('C', 0xa0, struct cosy_watch)
#define COSY_IOC_WATCH_READ _IOWR('C', 0xa1, struct cosy_watch_read)

#endif /* _UAPI_LINUX_COSY_WATCH_H */
