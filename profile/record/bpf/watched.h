/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * watched.h - the watched tasks, and the conditions for watching one.
 *
 * A watched task has a `watched`.  Nothing is looked up by number, so a reused number matches no
 * task.  The structure is in a table at a place given by the task's address, which takes a few
 * instructions; if another task has that place, it is in the task's storage, which takes some 150.
 *
 * A confined observer must never report a program that its user could not have attached to.  Two
 * rules ensure that, and each checks the very credentials and memory that a call is made with:
 *
 * - A watch begins unarmed: nothing that the task does is reported.  It is armed only if the task
 * is
 *   found to be allowed *after* its watch can be found.  So an execve either comes before that
 *   check, which then sees the new credentials and memory; or it comes after and finds the watch:
 *   task_execed ends an unarmed watch, and checks the task of an armed one.
 * - Each call compares the task's credentials and memory with those checked last.  If they differ,
 *   in whichever way they changed, the check is repeated before anything is reported.
 */
#ifndef COSY_PROFILE_WATCHED_H
#define COSY_PROFILE_WATCHED_H

#define PLACES		 4096
#define PLACE_TAKEN	 1 /* by a program that has not filled it yet */
#define SURE_PLACES	 16
#define DUMPABLE_BITS	 3
#define DUMPABLE_BY_USER 1 /* SUID_DUMP_USER */

/* States of a watch; any other number says that it is not armed yet. */
#define WATCH_OVER  0 /* or new */
#define WATCH_ARMED 1

struct call_begun {
	__u64 time;
	__u64 away, voluntary; /* watched's, when it began */
	__u64 args[8];	       /* from 1, a power of two for the verifier's sake */
	__u32 nr;
	__u32 in;
};

/* The recent stack of calls from a place. */
struct sure {
	__u64 place; /* digest of the registers */
	__u64 key;
	__u64 times;
};

struct watched {
	__u64 state;		    /* WATCH_ARMED, or its attach's number, or WATCH_OVER */
	__u64 cred, mm;		    /* the task's when it was last asked about */
	__u64 away;		    /* ns off the processor, in all */
	__u64 since;		    /* when it went off; 0: it is on */
	__u64 voluntary;	    /* times that it gave the processor up */
	__u64 ended, ended_away;    /* the call before */
	__u64 submitted;	    /* calls */
	__u64 known;		    /* those since the last one that sent its stack */
	__u64 program;		    /* another number for each task and execve */
	__u64 code, code_size;	    /* the program's, without libraries */
	struct call_begun calls[2]; /* the program's, and a compound's within it */
	/* This program's, by `program`, or the previous user's of the place. */
	__u64 keys[OBSERVATION_KNOWN];
	struct sure sure[SURE_PLACES];
};

/* Address and birth identify one task, even if the end of an earlier one was not reported. */
struct place {
	__u64 task; /* task_number(); 0: free */
	__u64 birth;
	struct watched watched;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, __u32);
	__type(value, struct place);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watched);
} watched SEC(".maps");

/* Whether only processes of one user without privileges are watched, and that user. */
const volatile bool confined;
const volatile __u32 only_uid, only_gid;
__u64 only_user_ns; /* address of cosy-observe's, which holds it */

/* Tasks that were given storage since their place was taken; numbers of programs and attaches. */
__u64 displaced, programs = WATCH_ARMED + 1;
__u64 barriers; /* counts for its atomic addition's sake alone */

/* Returns an object's address, less a constant: to the verifier only differences are numbers. */
static __always_inline __u64 object_number(const void *object)
{
	__u64 ret = (__u64)object;

	asm volatile("%0 -= %1" : "+r"(ret) : "r"(&displaced));
	return ret;
}

static __always_inline struct place *place_of(__u64 number)
{
	__u32 at = (number >> 6) * 0x9e3779b97f4a7c15ULL >> 52;

	return bpf_map_lookup_elem(&places, &at);
}

static __always_inline struct watched *watched_get(struct task_struct *task)
{
	__u64 number = object_number(task);
	struct place *place = place_of(number);

	if (place && place->task == number && place->birth == task->start_boottime)
		return &place->watched;
	return displaced ? bpf_task_storage_get(&watched, task, 0, 0) : NULL;
}

/*
 * Returns the task's watch, if there was one before this moment.  An attach that makes one later
 * sees all that the task has changed of itself.
 */
static __always_inline struct watched *watched_get_settled(struct task_struct *task)
{
	__sync_fetch_and_add(&barriers, 1);
	return watched_get(task);
}

/*
 * Begins to watch.  Nobody finds the place before all of it is filled.  Returns NULL also for a
 * thread that an execve has just made the first one of its process: it has another birth since.
 */
static struct watched *watched_create(struct task_struct *task, __u64 state)
{
	__u64 number = object_number(task);
	struct place *place = place_of(number);
	struct watched *it;

	if (place && !__sync_val_compare_and_swap(&place->task, 0, PLACE_TAKEN)) {
		__builtin_memset(&place->watched, 0, offsetof(struct watched, keys));
		place->watched.state = state;
		place->birth = task->start_boottime;
		__sync_lock_test_and_set(&place->task, number);
		if (place->birth == *(volatile __u64 *)&task->start_boottime)
			return &place->watched;
		__sync_val_compare_and_swap(&place->task, number, 0);
		return NULL;
	}
	__sync_fetch_and_add(&displaced, 1);
	it = bpf_task_storage_get(&watched, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (it)
		__sync_lock_test_and_set(&it->state, state);
	return it;
}

/* Ends a watch that is not armed.  False: it is armed, perhaps since a moment ago. */
static __always_inline bool watched_give_up(struct watched *it)
{
	__u64 state = *(volatile __u64 *)&it->state;

	return state != WATCH_ARMED &&
	       __sync_val_compare_and_swap(&it->state, state, WATCH_OVER) != WATCH_ARMED;
}

static __always_inline bool watched_is_armed(const struct watched *it)
{
	return *(volatile __u64 *)&it->state == WATCH_ARMED;
}

/* Two may do so at once: the task that ends, and the attach that has just begun to watch it. */
static void watched_delete(struct task_struct *task)
{
	__u64 number = object_number(task);
	struct place *place = place_of(number);

	if (place && place->task == number && place->birth == task->start_boottime)
		__sync_val_compare_and_swap(&place->task, number, 0);
	else
		bpf_task_storage_delete(&watched, task);
}

/* An execve gives a thread that was not the first one the number and the birth of the first. */
static void watched_renamed(struct task_struct *task)
{
	__u64 number = object_number(task);
	struct place *place = place_of(number);

	if (place && place->task == number)
		place->birth = task->start_boottime;
}

/* Forgets which stacks are known: the same addresses are another program's from now on. */
static void stacks_forget(struct watched *it, struct mm_struct *mm)
{
	it->program = __sync_fetch_and_add(&programs, 1);
	it->code = mm ? BPF_CORE_READ(mm, start_code) : 0;
	it->code_size = mm ? BPF_CORE_READ(mm, end_code) - it->code : 0;
}

static bool mm_dumpable(struct mm_struct *mm)
{
	unsigned long flags = 0;

	if (bpf_core_field_exists(struct mm_struct, flags)) {
		flags = BPF_CORE_READ(mm, flags);
	} else {
		struct mm_struct___bitmap *later = (void *)mm;

		bpf_core_read(&flags, sizeof(flags), &later->flags);
	}
	return (flags & DUMPABLE_BITS) == DUMPABLE_BY_USER;
}

/* Asks what ptrace(2) would of a caller without privileges, for this task as it is now. */
static bool task_allowed(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 capabilities = ~0ULL;

	if (!confined)
		return true;
	bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted);
	return mm && mm_dumpable(mm) && !capabilities && BPF_CORE_READ(cred, uid.val) == only_uid &&
	       BPF_CORE_READ(cred, euid.val) == only_uid &&
	       BPF_CORE_READ(cred, suid.val) == only_uid &&
	       BPF_CORE_READ(cred, gid.val) == only_gid &&
	       BPF_CORE_READ(cred, egid.val) == only_gid &&
	       BPF_CORE_READ(cred, sgid.val) == only_gid &&
	       (__u64)BPF_CORE_READ(cred, user_ns) == only_user_ns;
}

/* Notes the credentials and memory that are asked about next.  ptrace(2)'s, so `real_cred`. */
static __always_inline void watched_note(struct watched *it, const struct task_struct *task)
{
	it->cred = (__u64)BPF_CORE_READ(task, real_cred);
	it->mm = (__u64)BPF_CORE_READ(task, mm);
}

/*
 * True if they are still the current task's.  A new object is made before the old one is freed, and
 * a call or an execve sees each, so a reused address is not mistaken.
 */
static __always_inline bool watched_noted(const struct watched *it, const struct task_struct *task)
{
	return it->cred == (__u64)task->real_cred && it->mm == (__u64)task->mm;
}

#endif /* COSY_PROFILE_WATCHED_H */
