/* SPDX-License-Identifier: GPL-2.0 */
/* activation.h - the state of one RUN, passed to every part of the module. */
#ifndef COSY_ACTIVATION_H
#define COSY_ACTIVATION_H

#include <linux/uaccess.h>
#include "core.h"
#include "fast/state.h"

struct cosy_buffer;
struct cosy_context;
struct cosy_program;
struct cosy_views;
struct task_struct;

/* Bits of cosy_activation.held: the work of cosy_held_drop. */
#define COSY_HELD_FOLIOS (1 << 0)
#define COSY_HELD_VIEWS	 (1 << 1)
#define COSY_HELD_CHILD	 (1 << 2)
#define COSY_HELD_AGREED (1 << 3)
#define COSY_HELD_PWD	 (1 << 4)
#define COSY_HELD_PREFIX (1 << 5)
#define COSY_HELD_ROOT	 (1 << 6)
#define COSY_HELD_FAULTS (1 << 7) /* page faults are refused: see cosy_faults_allow */

/* How long a RUN may go on, and how long it has: see limits.c. */
struct cosy_clock {
	u64 max_steps, max_ns; /* the smallest of the limits, 0 = none */
	u64 granted;	       /* steps granted so far, from the compound's start on */
	u64 ns_before;	       /* kernel time of earlier RUNs of this compound */
	u64 exec_start;	       /* nanoseconds of the thread at the start of this RUN */
	/*
	 * With max_ns, at the start of this RUN: ktime_get_ns, and how often the thread had left
	 * the processor; next_check is the earliest time at which the limit can be reached
	 */
	u64 wall_start, next_check;
	unsigned long switches;
	unsigned long entered; /* jiffies at the start of this RUN */
};

/* Operations: see memory.h. */
struct cosy_progress {
	u64 ops;     /* made */
	u32 work;    /* bytes that the one under way has done since its last safepoint */
	u32 resumes; /* its registers hold the rest, so it may stop for a signal */
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
	const bool *attention;
	u64 frame_words; /* words of the deepest spill frame: a leave saves them */
	u64 calls;	 /* system calls and composites made */
	u64 pid;	 /* the answer of getpid; 0: not asked yet */
	u32 held;	 /* COSY_HELD_*: not 0, call cosy_held_drop before sleeping */
	u64 detail;	 /* see enum cosy_status */
	s64 code;	 /* COSY_LEFT_CALL: the restart code */
	u32 status;	 /* enum cosy_status; set before a leave ... */
	u32 insn;	 /* ... with the instruction to go on from */

	/* One part for each owner; descriptors are forgotten by the thunks as well */
	struct cosy_descriptors descriptors;
	struct cosy_fresh fresh;
	struct cosy_cursors cursors;
	struct cosy_names names;
	struct cosy_agreed agreed;
	struct cosy_progress progress;
	struct cosy_clock clock;
	struct cosy_views *views; /* NULL until the first one is made */

	/* For C only */
	struct cosy_program *prog;
	struct cosy_context *context;
	bool put_off; /* set TIF_NOTIFY_RESUME again at the end */
	u64 fast;     /* calls made by a specialised version */
	u32 refused;  /* enum cosy_guard: set by cosy_descriptor_get and cosy_cursor_get */
	u64 ctx;
	void __user *stack; /* the software stack */
	u64 stack_size;
	u64 sp, fp;		/* see struct cosy_state */
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
