/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * observation.h - the observations of the BPF programs, and the requests to them.  cosy-observe
 * passes observations on as they come: they are no format that lasts.  Includers have __u64 and the
 * like.
 */
#ifndef COSY_PROFILE_OBSERVATION_H
#define COSY_PROFILE_OBSERVATION_H

#define OBSERVATION_WORDS 64  /* of the stack, in an observation with a stack */
#define OBSERVATION_KNOWN 64  /* remembered stacks of a thread; a power of two */
#define OBSERVATION_PATH  256 /* EVENT_MAX_PATH */
#define OBSERVATION_AUXV                                                                           \
	48 /* words of the auxiliary vector: as many as there are up to AT_BASE and some */
#define OBSERVATION_RING  (64 << 20)
#define CONFINED_RING	  (16 << 20) /* an unprivileged user's: there may be several */
#define OBSERVATION_CALLS 512	     /* CALLS_MAX */

enum observation_kind {
	OBSERVE_CALL = 1,
	OBSERVE_CALL_PATH,	 /* and a path */
	OBSERVE_CALL_STACK,	 /* and a stack, to which later calls refer by its number */
	OBSERVE_CALL_STACK_PATH, /* and both */
	OBSERVE_LEAVING,	 /* both, before an execve, which leaves neither */
	OBSERVE_ATTACHED,	 /* a thread is watched from now on */
	OBSERVE_FORK,
	OBSERVE_EXEC,
	OBSERVE_EXIT,
	OBSERVE_RUNNING, /* a thread goes on, and is no longer watched */
	OBSERVE_DROPPED, /* a thread is no longer watched: its rights are no more the caller's */
	/* Made by cosy-observe itself. */
	OBSERVE_READY,	  /* arg: enum event_backend; or -errno: the step that failed (refusal.h) */
	OBSERVE_ANSWERED, /* tid: whom ATTACH named; arg: threads that are watched, or -errno */
	OBSERVE_LOST,	  /* arg: calls since the last such */
	OBSERVE_END,	  /* arg: ns of processor time that cosy-observe took */
};

struct observation {
	__u32 kind; /* enum observation_kind */
	__u32 size;
	__u32 pid, tid;
	__u64 time;
	__s64 arg; /* FORK: the parent's pid; EXEC: the former tid; EXIT: 1 for the last thread */
};

#define OBSERVED_SLEPT	       1
#define OBSERVED_NESTED	       2 /* made by a compound, so within another call */
#define OBSERVED_FROM_POSITION 4 /* EVENT_FROM_POSITION */

struct observed_call {
	struct observation head; /* time: of entering; arg: the result */
	__u32 nr;
	__u32 flags;
	__u32 given, made;
	__u64 took;
	__u64 away; /* of it off the processor */
	__u64 gap;  /* on the processor since the call before */
	__u64 args[6];
	__u32 known; /* the thread's stack of this number; OBSERVATION_KNOWN: none */
	__u32 path_size;
};

struct observed_stack {
	__u64 ip, sp, bp;
	__u64 words; /* that could be read */
	__u64 word[OBSERVATION_WORDS];
};

struct observed_call_path {
	struct observed_call call;
	char path[OBSERVATION_PATH];
};

struct observed_call_stack {
	struct observed_call call;
	struct observed_stack stack;
};

struct observed_call_stack_path {
	struct observed_call call;
	struct observed_stack stack;
	char path[OBSERVATION_PATH];
};

struct observed_fork {
	struct observation head;
	__u64 flags;  /* of clone */
	__u64 thread; /* 1: of the same process */
};

/* EXIT and RUNNING. */
struct observed_gap {
	struct observation head;
	__u64 gap; /* on the processor since its last call */
};

struct observed_exec {
	struct observation head;
	__u64 auxv[OBSERVATION_AUXV];
	char path[OBSERVATION_PATH];
};

/* Commands that cosy-observe reads from its standard input. */
enum observe_order {
	OBSERVE_ATTACH = 1, /* all threads of `pid`, and whatever they start */
	OBSERVE_STOP,
};

/* Steps of an ATTACH, each an iteration over all tasks. */
enum observe_attach {
	ATTACH_FIND, /* make a watch, not armed, for each thread that may be watched and is not */
	ATTACH_ARM,  /* ask again about those, and arm their watches */
	ATTACH_GIVE_UP, /* or end these */
};

struct observe_command {
	__u32 order; /* enum observe_order */
	__s32 pid;
};

#endif /* COSY_PROFILE_OBSERVATION_H */
