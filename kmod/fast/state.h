/* SPDX-License-Identifier: GPL-2.0 */
/*
 * state.h - the parts of an activation (run/activation.h) in which specialised versions keep what
 * they know from call to call.  Each part belongs to the file that its comment names.
 */
#ifndef COSY_FAST_STATE_H
#define COSY_FAST_STATE_H

#include <linux/file.h>
#include <linux/path.h>
#include <linux/types.h>

struct address_space;
struct dentry;
struct folio;
struct super_block;

/* --- fresh.h ------------------------------------------------------------------------------ */

/* File systems are only compared, so these are no references. */
struct cosy_fresh {
	/*
	 * Those of which an ordinary read, and an ordinary write, was made since the last
	 * safepoint, or in this jiffy before the RUN
	 */
	const struct super_block *read[2], *write;
	const struct super_block *wanted; /* becomes read[0] when the next ordinary call succeeds */
	bool wanted_to_write;		  /* and `write`, as that call is a write */
	unsigned long sleeps;		  /* of the thread, when `read` and `write` last held */
};

/*
 * A context's: RUNs that begin in the jiffy `in` take these over.  Threads that RUN at the same
 * time may overwrite each other's notes.
 */
struct cosy_fresh_shared {
	unsigned long in;
	const struct super_block *read[2], *write;
};

/* --- descriptor.h ------------------------------------------------------------------------- */

/* Number of descriptors whose files are kept, by their lowest bits; see descriptor.h. */
#define COSY_KNOWN 4
/*
 * Empties two entries of `number`: each gets a descriptor that belongs into another entry, so
 * that no descriptor that is looked for there equals it.
 */
#define COSY_KNOWN_NONE 1

struct cosy_descriptors {
	union {
		u32 number[COSY_KNOWN];
		u64 pair[COSY_KNOWN / 2]; /* COSY_KNOWN_NONE: forgotten */
	};
	struct fd file[COSY_KNOWN]; /* of `number`; no references */
};

/* --- folio_cursor.h ----------------------------------------------------------------------- */

/* Folios that a cursor finds at once. */
#define COSY_CURSOR_FOLIOS 15

/*
 * The folios of a file's last read: the next read is probably there or just above.  Bytes `start`
 * up to `end` of `mapping` begin at `base`; `end` is 0 when there are none.
 */
struct cosy_folio_cursor {
	const struct address_space *mapping; /* to compare: no reference */
	loff_t start, end;
	const u8 *base;	     /* NULL when there are none */
	u64 mask;	     /* of an offset from it; 0 when there are none */
	struct folio *folio; /* which has them; a reference */
	u32 next, count;     /* following[next..count): a reference each */
	struct folio *following[COSY_CURSOR_FOLIOS]; /* the folios above, as they were found */
};

#define COSY_FOLIO_CURSORS 2

/* Without COSY_HELD_FOLIOS only `base` and `mask` are valid: the cursors are empty. */
struct cosy_cursors {
	struct cosy_folio_cursor cursor[COSY_FOLIO_CURSORS];
	u32 next; /* the cursor to give up for another file */
};

/* --- lookup.h ----------------------------------------------------------------------------- */

/* cosy_names.child_dirfd that no call's argument is. */
#define COSY_NO_DIRFD S64_MIN

/* Directories that a name of several components is known to lead through: see prefix.c. */
#define COSY_PREFIX_DEPTH 8
#define COSY_PREFIX_TEXT  192 /* whole words */

struct cosy_prefix {
	struct path base;		     /* where the names begin; only compared */
	u32 depth;			     /* components; 0: nothing is kept */
	u32 end[COSY_PREFIX_DEPTH];	     /* of each component, in the text */
	unsigned int seq[COSY_PREFIX_DEPTH]; /* of each entry's sequence counter */
	struct dentry *entry[COSY_PREFIX_DEPTH];
	struct vfsmount *mount[COSY_PREFIX_DEPTH]; /* on each entry: a reference; NULL: none */
	u32 mounts[COSY_PREFIX_DEPTH];		   /* cosy_mounts_now() when that was found */
	u8 text[COSY_PREFIX_TEXT] __aligned(8);	   /* of the components kept, each with its slash */
};

/* So many, for programs that ask for names in two directories by turns. */
struct cosy_prefixes {
	struct cosy_prefix each[2];
	u32 last; /* the one that was used last ... */
	u32 went; /* ... of which the last name went so many components ... */
	u32 idle; /* ... while so many names in a row did not go the other one */
};

struct cosy_names {
	u64 last_call; /* `calls` at the last call by name; 0: none yet */
	/*
	 * ... and how many of the calls up to it were not specialised; one more for each later one
	 * that has not dropped what is kept
	 */
	u64 ordinary;
	bool tried; /* what a call by name found was kept, although others stood before it */
	/*
	 * With COSY_HELD_CHILD: the entry found last (a reference) and its mount (no reference);
	 * whether names come in the opposite order to the directory's list; look-ups in a row
	 * that found no neighbour of it; and, if a call by name found it in the directory of that
	 * descriptor itself (else COSY_NO_DIRFD), `dirfd` and that directory
	 */
	struct path child;
	bool backwards;
	bool opens;   /* the call that finds a name is an open */
	bool repeats; /* at the last cosy_find_near the name was that of the entry found last */
	u8 strangers;
	s64 child_dirfd;
	const struct path *child_dir;
	struct cosy_prefixes *prefixes; /* with COSY_HELD_PREFIX; NULL until one is made */
	struct path prefix_dir;		/* where the last one led to */
	struct path pwd;		/* with COSY_HELD_PWD: the current directory, references */
	struct path root;		/* with COSY_HELD_ROOT: the root directory, the same */
};

/* --- attributes.h ------------------------------------------------------------------------- */

/* Bit of cosy_agreed.asked: there is an answer. */
#define COSY_ASKED (1u << 31)

/* With COSY_HELD_AGREED. */
struct cosy_agreed {
	const struct super_block *sb; /* whose own answer was the inode's; only compared */
	/*
	 * The same for statx with the fields `asked`, | COSY_ASKED: the fields of its answer, and
	 * the attributes that it may have
	 */
	u32 asked, answered;
	u64 attributes;
};

#endif /* COSY_FAST_STATE_H */
