/* SPDX-License-Identifier: GPL-2.0 */
/* activation.h - the state of one RUN, which every part of the module is handed. */
#ifndef COSY_ACTIVATION_H
#define COSY_ACTIVATION_H

#include <linux/file.h>
#include <linux/path.h>
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

/*
 * Where the last read of a file was, since the next one is probably there or just
 * after it.  Bytes `start` up to `end` of `mapping` begin at `base`; none when end is 0.
 */
struct cosy_folio_cursor {
	const struct address_space *mapping; /* to compare: no reference */
	loff_t start, end;
	const u8 *base;		 /* NULL when there are none */
	u64 mask;		 /* of an offset from it; 0 when there are none */
	struct folio *folio;	 /* theirs; a reference */
	u32 next, count;	 /* ahead[next..count): a reference each */
	struct folio *ahead[15]; /* what follows, as it was found */
};

#define COSY_FOLIO_CURSORS 2

/* Descriptors whose files are known, by their lowest bits; see descriptor.h. */
#define COSY_KNOWN 4
/* Two descriptors at once, neither of which belongs where it stands. */
#define COSY_KNOWN_NONE 1

/* In cosy_activation.held: what cosy_held_drop has to do. */
#define COSY_HELD_FOLIOS (1 << 0)
#define COSY_HELD_VIEWS	 (1 << 1)
#define COSY_HELD_CHILD	 (1 << 2)
#define COSY_HELD_AGREED (1 << 3)
#define COSY_HELD_PWD	 (1 << 4)
#define COSY_HELD_PREFIX (1 << 5)

/* In cosy_activation.asked: there is an answer. */
#define COSY_ASKED (1u << 31)

/* The directories that names of several components led through, see prefix.c. */
#define COSY_PREFIX_DEPTH 8
#define COSY_PREFIX_TEXT  96

struct cosy_prefix {
	struct path base; /* where the names begin; only compared */
	struct path dir;  /* the last of them, with the mount of all */
	u32 depth;
	u32 end[COSY_PREFIX_DEPTH];	     /* of each component, in the text */
	unsigned int seq[COSY_PREFIX_DEPTH]; /* of each entry's sequence counter */
	struct dentry *entry[COSY_PREFIX_DEPTH];
	u8 text[COSY_PREFIX_TEXT];
};

/*
 * What RUN keeps on the kernel stack while a compound runs.  The thunks know it by
 * offsets.c.  Only the task itself touches it, so it needs no lock.
 *
 * The program finds it at r1 and keeps its address in a slot that no instruction
 * of the compound reaches.
 */
struct cosy_activation {
	/*
	 * First.  At a leave .fuel is what was left, and .state is saved but for .sp, .fp, .steps
	 * and .kernel_ns
	 */
	struct cosy_entry entry;

	/* For the thunks */
	void *base;		     /* the shared buffer, for the JIT's base register */
	unsigned long stack_pointer; /* cosy_enter's, to which a leave unwinds */
	struct task_struct *task;    /* current: its flags are tested around every call */
	/*
	 * True: cosy_safepoint_poll after every call.  The program's `gone`, or where time is limited
	 * a constant
	 */
	const bool *look;
	u64 frame_words; /* of the deepest spill frame: what a leave saves */
	u64 calls;	 /* system calls made */
	u64 pid;	 /* the process, as it knows itself; 0: not asked yet */
	u32 held;	 /* folios and views are held: cosy_held_drop before sleeping */
	union {
		u32 known_number[COSY_KNOWN];	/* descriptors, see descriptor.h */
		u64 known_pair[COSY_KNOWN / 2]; /* COSY_KNOWN_NONE: forgotten */
	};
	u64 detail; /* see enum cosy_status */
	s64 code;   /* COSY_LEFT_CALL: the restart code */
	u32 status; /* enum cosy_status; whoever leaves sets it ... */
	u32 insn;   /* ... and the instruction to go on from */

	/* For C only */
	const struct cosy_prog *prog;
	struct cosy_context *context;
	bool put_off;		     /* TIF_NOTIFY_RESUME is to be set again at the end */
	u64 fast;		     /* of `calls`: by a specialised version */
	struct fd known[COSY_KNOWN]; /* of known_number: no references */
	u32 refused;		     /* enum cosy_guard: why cosy_descriptor_get had no file */
	/* File systems that an ordinary read was made of lately: see cosy_is_fresh.  Only compared */
	const struct super_block *fresh[2];
	struct cosy_views *views; /* NULL until the first one is made */
	/* To be one of them when the next ordinary call succeeds */
	const struct super_block *unfresh;
	u32 next_cursor; /* which of them to give up for another file */
	/* See folio_cursor.h; but for `base` and `mask` garbage unless `held` says otherwise */
	struct cosy_folio_cursor cursor[COSY_FOLIO_CURSORS];
	u64 named_call; /* `calls` at the last call by name; 0: none yet */
	/* If COSY_HELD_AGREED: a file system whose own answer was that of the inode, see attributes.c.
	 * Only compared */
	const struct super_block *agreed;
	/* The same for statx with the fields `asked`, | COSY_ASKED: what it has and what it may have */
	u32 asked, answered;
	u64 answered_attributes;
	/* If COSY_HELD_CHILD, see stat.c: the last name found, a reference; names come in the order opposite
	 * to the directory's list; look-ups in a row that found no neighbour of it */
	struct dentry *child;
	bool backwards;
	u8 strangers;
	struct cosy_prefix prefix; /* if COSY_HELD_PREFIX */
	struct path pwd; /* if COSY_HELD_PWD, see lookup.h: the current directory, references */
	u64 ops;	 /* operations made (COSY_OP_BASE up) */
	u32 op_work;	 /* of the one under way, in bytes, since its last safepoint */
	u32 op_resumes;	 /* its r1-r3 tell what remains, so it may stop for a signal */
	u64 ctx;
	void __user *stack; /* the software stack */
	u64 stack_size;
	u64 sp, fp;	       /* as in struct cosy_state */
	u64 max_steps, max_ns; /* the smallest of the limits, 0 = none */
	u64 granted;	       /* operations allowed so far, from the compound's start on */
	u64 ns_before;	       /* kernel time of earlier RUNs of this compound */
	u64 exec_start;	       /* nanoseconds of the thread at the start of this RUN */
	/* With max_ns: ktime_get_ns, and how often the thread had left the processor, at the start; the
	 * earliest time at which the limit can be reached */
	u64 wall_start, look_at;
	unsigned long switches;
	unsigned long entered;	/* jiffies */
	struct hlist_node node; /* of the running tasks */
};

/* Sets where and why the compound leaves; the thunk that called does the rest. */
static inline void cosy_leave_at(struct cosy_activation *run, u32 status, u32 insn, u64 detail)
{
	run->status = status;
	run->insn = insn;
	run->detail = detail;
}

#endif /* COSY_ACTIVATION_H */
