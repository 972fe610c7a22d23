/* SPDX-License-Identifier: GPL-2.0 */
/* activation.h - the state of one RUN, passed to every part of the module. */
#ifndef COSY_ACTIVATION_H
#define COSY_ACTIVATION_H

#include <linux/file.h>
#include <linux/path.h>
#include <linux/uaccess.h>
#include "core.h"

struct address_space;
struct cosy_buffer;
struct cosy_context;
struct cosy_prog;
struct cosy_views;
struct dentry;
struct file;
struct folio;
struct super_block;
struct task_struct;

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

/* Number of descriptors whose files are kept, by their lowest bits; see descriptor.h. */
#define COSY_KNOWN 4
/*
 * Empties two entries of known_number: each gets a descriptor that belongs into another entry, so
 * that no descriptor that is looked for there equals it.
 */
#define COSY_KNOWN_NONE 1

/* Bits of cosy_activation.held: the work of cosy_held_drop. */
#define COSY_HELD_FOLIOS (1 << 0)
#define COSY_HELD_VIEWS	 (1 << 1)
#define COSY_HELD_CHILD	 (1 << 2)
#define COSY_HELD_AGREED (1 << 3)
#define COSY_HELD_PWD	 (1 << 4)
#define COSY_HELD_PREFIX (1 << 5)
#define COSY_HELD_ROOT	 (1 << 6)
#define COSY_HELD_FAULTS (1 << 7) /* page faults are refused: see cosy_faults_allow */

/* cosy_activation.child_dirfd that no call's argument is. */
#define COSY_NO_DIRFD S64_MIN

/* Bit of cosy_activation.asked: there is an answer. */
#define COSY_ASKED (1u << 31)

/* Directories that a name of several components is known to lead through: see lookup.c. */
#define COSY_PREFIX_DEPTH 8
#define COSY_PREFIX_TEXT  192 /* whole words */

struct cosy_prefix {
	struct path base; /* where the names begin; only compared */
	struct path dir;  /* the last directory */
	u32 depth;
	u32 end[COSY_PREFIX_DEPTH];	     /* of each component, in the text */
	unsigned int seq[COSY_PREFIX_DEPTH]; /* of each entry's sequence counter */
	struct dentry *entry[COSY_PREFIX_DEPTH];
	struct vfsmount *mount[COSY_PREFIX_DEPTH]; /* on each entry: a reference; NULL: none */
	u8 text[COSY_PREFIX_TEXT] __aligned(8);	   /* of the components kept, each with its slash */
};

/*
 * The state that RUN keeps on the kernel stack while a compound runs.  Assembly knows its
 * members by offsets.c.  Only the task itself touches it, so it needs no lock.
 *
 * The program gets its address in r1 and keeps it in a slot that no instruction of the compound
 * reaches.
 */
struct cosy_activation {
	/*
	 * The first member, as programs expect.  After a leave .fuel is the fuel that was left,
	 * and .state is complete but for .sp, .fp, .steps and .kernel_ns, which leave.c fills in
	 */
	struct cosy_entry entry;

	/* Used by the thunks, and by C */
	void *base;		     /* the shared buffer, for the JIT's base register */
	unsigned long stack_pointer; /* cosy_enter's, to which a leave unwinds */
	struct task_struct *task;    /* current: its flags are tested around every call */
	/*
	 * While it points to true, cosy_safepoint_after is called after every call.  Points to
	 * the program's `gone` or, where time is limited, to a constant
	 */
	const bool *look;
	u64 frame_words; /* words of the deepest spill frame: a leave saves them */
	u64 calls;	 /* system calls and composites made */
	u64 pid;	 /* the answer of getpid; 0: not asked yet */
	u32 held;	 /* COSY_HELD_*: not 0, call cosy_held_drop before sleeping */
	union {
		u32 known_number[COSY_KNOWN];	/* descriptors, see descriptor.h */
		u64 known_pair[COSY_KNOWN / 2]; /* COSY_KNOWN_NONE: forgotten */
	};
	u64 detail; /* see enum cosy_status */
	s64 code;   /* COSY_LEFT_CALL: the restart code */
	u32 status; /* enum cosy_status; set before a leave ... */
	u32 insn;   /* ... with the instruction to go on from */

	/* For C only */
	struct cosy_prog *prog;
	struct cosy_context *context;
	bool put_off;		     /* set TIF_NOTIFY_RESUME again at the end */
	u64 fast;		     /* calls made by a specialised version */
	struct fd known[COSY_KNOWN]; /* the files of known_number; no references */
	u32 refused; /* enum cosy_guard: set by cosy_descriptor_get and cosy_cursor_get */
	/*
	 * File systems of which an ordinary read was made since the last safepoint, or in this
	 * jiffy before the RUN: see fresh.h.  Only compared
	 */
	const struct super_block *fresh[2];
	const struct super_block *fresh_to_write; /* of which an ordinary write was made */
	struct cosy_views *views;		  /* NULL until the first one is made */
	/* Becomes one of `fresh` when the next ordinary call succeeds */
	const struct super_block *unfresh;
	bool unfresh_to_write; /* and `fresh_to_write`, as that call is a write */
	unsigned long sleeps;  /* of the thread, when `fresh` and `fresh_to_write` last held */
	u32 next_cursor;       /* the cursor to give up for another file */
	/*
	 * See folio_cursor.h.  Without COSY_HELD_FOLIOS only `base` and `mask` are valid: they
	 * are empty
	 */
	struct cosy_folio_cursor cursor[COSY_FOLIO_CURSORS];
	u64 named_call; /* `calls` at the last call by name; 0: none yet */
	/*
	 * With COSY_HELD_AGREED: a file system whose own answer was the inode's, see
	 * attributes.c, only compared
	 */
	const struct super_block *agreed;
	/*
	 * The same for statx with the fields `asked`, | COSY_ASKED: the fields of its answer,
	 * and the attributes that it may have
	 */
	u32 asked, answered;
	u64 answered_attributes;
	/*
	 * With COSY_HELD_CHILD, see lookup.h: the entry found last, a reference, and its mount, of
	 * which there is none; whether names come in the opposite order to the directory's list;
	 * look-ups in a row that found no neighbour of it; and, if a call by name found it in the
	 * directory of that descriptor itself (else COSY_NO_DIRFD), `dirfd` and that directory
	 */
	struct path child;
	bool backwards;
	u8 strangers;
	s64 child_dirfd;
	const struct path *child_dir;
	struct cosy_prefix prefix; /* with COSY_HELD_PREFIX */
	struct path pwd;  /* with COSY_HELD_PWD: the current directory, references; see lookup.h */
	struct path root; /* with COSY_HELD_ROOT: the root directory, the same */
	u64 ops;	  /* operations made */
	u32 op_work;	  /* bytes that the one under way has done since its last safepoint */
	u32 op_resumes;	  /* its registers hold the rest, so it may stop for a signal */
	u64 ctx;
	void __user *stack; /* the software stack */
	u64 stack_size;
	u64 sp, fp;	       /* see struct cosy_state */
	u64 max_steps, max_ns; /* the smallest of the limits, 0 = none */
	u64 granted;	       /* steps granted so far, from the compound's start on */
	u64 ns_before;	       /* kernel time of earlier RUNs of this compound */
	u64 exec_start;	       /* nanoseconds of the thread at the start of this RUN */
	/*
	 * With max_ns, at the start of this RUN: ktime_get_ns, and how often the thread had left
	 * the processor; next_time_check is the earliest time at which the limit can be reached
	 */
	u64 wall_start, next_time_check;
	unsigned long switches;
	unsigned long entered;	/* jiffies at the start of this RUN */
	struct hlist_node node; /* among the running tasks, see run.c */
};

/* Notes where and why the compound leaves.  The thunk that called does the rest. */
static inline void cosy_leave_at(struct cosy_activation *run, u32 status, u32 insn, u64 detail)
{
	run->status = status;
	run->insn = insn;
	run->detail = detail;
}

/*
 * Has page faults served again.  Where time is limited they are refused to the compound's own
 * accesses, so that it leaves and faults in user mode: no number of them makes it overrun.  Calls
 * need theirs, so that this stands before each of them; it is part of cosy_held_drop.
 */
static __always_inline void cosy_faults_allow(struct cosy_activation *run)
{
	if (likely(!(run->held & COSY_HELD_FAULTS)))
		return;
	run->held &= ~COSY_HELD_FAULTS;
	pagefault_enable();
}

#endif /* COSY_ACTIVATION_H */
