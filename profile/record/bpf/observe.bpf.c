// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * observe.bpf.c - one observation for each system call of the threads that are watched, and for
 * their beginnings and ends.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "members.h"
#include "observation.h"
#include "watched.h"
#include "../digest.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define NUMBERS	     512
#define LOOK_CALLS   32 /* a power of two; so many take 0.1 % of the ring */
#define KEY_WORDS    32 /* of a stack that tell whether it is known */
#define NEAR_CODE    (2 << 20)
#define TELL_CALLS   256  /* after so many calls one sends its stack although it is known */
#define SURE_CALLS   64	  /* after so many calls with one stack in a row it is read again */
#define LOOK_STACKS  4	  /* in one call of so many: a power of two */
#define SURER_CALLS  1024 /* after so many, in one of .. */
#define LOOK_RARELY  16	  /* .. so many: at most 15 of 1,024 are then at a wrong place */
#define SYS_fcntl    72
#define SYS_clone    56
#define SYS_vfork    58
#define SYS_clone3   435
#define SYS_execve   59
#define SYS_execveat 322
#define F_GETLK	     5 /* F_SETLK is between it and F_SETLKW */
#define F_SETLKW     7
#define F_OFD_GETLK  36
#define F_OFD_SETLKW 38
#define SEEK_CUR     1
#define PF_EXITING   0x4

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, OBSERVATION_RING);
} ring SEC(".maps");

const volatile __u32 ring_size = OBSERVATION_RING;

/* 1 + the argument; 0: none. */
const volatile __u8 argument_path[OBSERVATION_CALLS], argument_given[OBSERVATION_CALLS],
	argument_made[OBSERVATION_CALLS];

/*
 * Arguments of ATTACH: the process, and the task of attach_task.  Then counts of its threads:
 * found, with a watch made; watched now; refused; and changed meanwhile.
 */
__u32 attach_pid, attach_step;
__u32 attach_found, attach_added, attach_refused, attach_changed;
__u64 lost;

/* Reserves the room, and fills in everything but the time. */
static __always_inline void *observation_reserve(const struct task_struct *task, __u32 kind,
						 __u64 size)
{
	struct observation *head = bpf_ringbuf_reserve(&ring, size, 0);

	if (!head) {
		__sync_fetch_and_add(&lost, 1);
		return NULL;
	}
	head->kind = kind;
	head->size = size;
	head->pid = task->tgid;
	head->tid = task->pid;
	head->arg = 0;
	return head;
}

static __always_inline void *observation(__u32 kind, __u64 size)
{
	struct observation *head = observation_reserve(bpf_get_current_task_btf(), kind, size);

	if (head)
		head->time = bpf_ktime_get_ns();
	return head;
}

/* The reader looks every few milliseconds by itself. */
static __always_inline void submit(void *record)
{
	bool full = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > ring_size / 16;

	bpf_ringbuf_submit(record, full ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* Submits a call's observation.  Checks the ring's fill level only once in a while. */
static __always_inline void submit_call(struct watched *it, void *record)
{
	if (++it->submitted % LOOK_CALLS)
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	else
		submit(record);
}

/* Stops watching the current task, which was `former` until now, and reports that. */
static void watched_drop(struct task_struct *task, int former)
{
	struct observation *dropped;

	watched_delete(task);
	dropped = observation(OBSERVE_DROPPED, sizeof(*dropped));
	if (dropped) {
		dropped->arg = former;
		submit(dropped);
	}
}

/* Asks anew whether the current task may be watched, whose credentials or memory are new. */
static bool watched_asked(struct watched *it, struct task_struct *task)
{
	watched_note(it, task);
	if (task_allowed(task))
		return true;
	if (!watched_give_up(it))
		watched_drop(task, task->pid);
	else
		watched_delete(task);
	return false;
}

/* --- Attaching ----------------------------------------------------------------------- */

/*
 * Makes a watch that is not armed.  An exiting task gets none: its end would not be reported.
 */
static void attach_find(struct task_struct *task)
{
	struct watched *it;

	if (task->flags & PF_EXITING) {
		/*
		 * One that is not dead yet may be on its way to give its number to another thread.
		 */
		attach_changed += !task->exit_state;
		return;
	}
	if (!task_allowed(task)) {
		if (*(volatile unsigned int *)&task->flags & PF_EXITING)
			attach_changed++;
		else
			attach_refused++;
		return;
	}
	it = watched_create(task, __sync_fetch_and_add(&programs, 1));
	if (!it || *(volatile unsigned int *)&task->flags & PF_EXITING) {
		watched_delete(task);
		attach_changed++;
		return;
	}
	attach_found++;
}

/* Asks again now that an execve of the task would find the watch, and arms it. */
static void attach_arm(struct task_struct *task, struct watched *it)
{
	__u64 state = *(volatile __u64 *)&it->state;
	struct observation *told;

	if (state == WATCH_OVER || state == WATCH_ARMED)
		return;
	/* Before the question, so that a change after it is noticed in the next call. */
	watched_note(it, task);
	if (!task_allowed(task)) {
		attach_refused++;
		if (watched_give_up(it))
			watched_delete(task);
		return;
	}
	/* Its place in the ring is before that of its end, if it begins to end just then. */
	told = observation(OBSERVE_ATTACHED, sizeof(*told));
	if (!told) {
		if (watched_give_up(it))
			watched_delete(task);
		return;
	}
	stacks_forget(it, task->mm);
	it->ended = told->time;
	it->ended_away = it->away;
	it->since = bpf_core_field_exists(task->on_cpu) && !task->on_cpu ? told->time : 0;
	if (__sync_val_compare_and_swap(&it->state, state, WATCH_ARMED) != state) {
		bpf_ringbuf_discard(told, 0);
		return;
	}
	attach_added++;
	told->pid = task->tgid;
	told->tid = task->pid;
	submit(told);
}

/* Called for each task there is, at each step of an ATTACH. */
SEC("iter/task")
int attach_task(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct watched *it;

	if (!task || (__u32)task->tgid != attach_pid)
		return 0;
	only_user_ns = (__u64)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), real_cred,
					    user_ns);
	it = watched_get(task);
	if (!it && attach_step == ATTACH_FIND)
		attach_find(task);
	if (it && attach_step == ATTACH_ARM)
		attach_arm(task, it);
	if (it && attach_step == ATTACH_GIVE_UP && watched_give_up(it))
		watched_delete(task);
	return 0;
}

/* --- Calls ------------------------------------------------------------------------- */

static struct call_begun *call_of(struct watched *it, bool nested)
{
	return nested ? &it->calls[1] : &it->calls[0];
}

/*
 * Functions that are not static are verified once, whatever calls them; the verifier follows a
 * static one anew for each path to each of its calls, which made loading take ten times as long.
 */
__noinline __u32 memory_digest(__u64 address, __u64 size)
{
	__u64 words[DIGEST_WORDS] = {};

	if (!address || !size)
		return 0;
	if (size > DIGEST_BYTES)
		size = DIGEST_BYTES;
	if (bpf_probe_read_user(words, size, (void *)address))
		return 0;
	return digest_words(words, size);
}

/* Returns which argument of a call a table names, from 1; 0: none. */
static __u32 argument_of(const volatile __u8 *table, __u32 nr)
{
	return nr < NUMBERS ? table[nr] : 0;
}

static __u64 argument_value(const struct call_begun *call, __u32 argument)
{
	/* clang must not know better than the verifier how large it is. */
	asm volatile("" : "+r"(argument));
	return call->args[argument & 7];
}

/*
 * Returns the ns on the processor from the end of the call before until `time`, when the task had
 * been off it for `away`.  A task that runs meanwhile may make it less than none.
 */
static __u64 gap_until(const struct watched *it, __u64 time, __u64 away)
{
	__u64 took = time - it->ended, off = away - it->ended_away;

	return it->ended && time > it->ended && took > off ? took - off : 0;
}

/*
 * Returns the gap of a task that makes no further call: until now, or until a call that does not
 * end.
 */
static __u64 gap_open(const struct watched *it)
{
	const struct call_begun *call = &it->calls[0];
	__u64 now = bpf_ktime_get_ns(), since = it->since;

	if (call->in)
		return gap_until(it, call->time, call->away);
	return gap_until(it, now, it->away + (since && now > since ? now - since : 0));
}

/* True if the call is an fcntl that locks from the file's position. */
static bool call_from_position(const struct call_begun *call)
{
	/* struct flock's l_type and l_whence. */
	__u16 lock[2] = {0};

	if (call->nr != SYS_fcntl ||
	    !((call->args[2] >= F_GETLK && call->args[2] <= F_SETLKW) ||
	      (call->args[2] >= F_OFD_GETLK && call->args[2] <= F_OFD_SETLKW)))
		return false;
	return !bpf_probe_read_user(lock, sizeof(lock), (const void *)call->args[3]) &&
	       lock[1] == SEEK_CUR;
}

/*
 * Fills everything but the stack and the path.  The verifier wants pointers compared to NULL, and a
 * number returned.
 */
__noinline int call_fill(struct observed_call *told, const struct call_begun *call,
			 const struct watched *it, long ret)
{
	__u32 argument;

	if (!told || !call || !it)
		return 0;
	told->head.time = call->time;
	told->head.arg = ret;
	told->nr = call->nr;
	told->flags = (it->voluntary != call->voluntary ? OBSERVED_SLEPT : 0) |
		      (call_from_position(call) ? OBSERVED_FROM_POSITION : 0);
	told->away = it->away - call->away;
	told->gap = gap_until(it, call->time, call->away);
	__builtin_memcpy(told->args, call->args + 1, sizeof(told->args));
	told->path_size = 0;
	told->given = told->made = 0;
	argument = argument_of(argument_given, call->nr);
	if (argument)
		told->given = memory_digest(argument_value(call, argument),
					    argument_value(call, argument + 1));
	argument = argument_of(argument_made, call->nr);
	if (argument && ret > 0)
		told->made = memory_digest(argument_value(call, argument), ret);
	return 0;
}

/*
 * Fills it with the thread's own registers, not a compound's.  If all of the stack cannot be read,
 * read up to the end of its page.
 */
static void stack_fill(struct observed_stack *told, const struct pt_regs *regs)
{
	__u32 page = 4096 - (regs->sp & 4095);

	told->ip = regs->ip;
	told->sp = regs->sp;
	told->bp = regs->bp;
	told->words = OBSERVATION_WORDS;
	if (!bpf_probe_read_user(told->word, sizeof(told->word), (void *)told->sp))
		return;
	told->words = 0;
	if (page <= sizeof(told->word) && !bpf_probe_read_user(told->word, page, (void *)told->sp))
		told->words = page / 8;
}

/*
 * Returns a digest of `place` and of the words at the stack's upper end that may be return
 * addresses into the program or near the caller; 0: the stack cannot be read.  The other words are
 * data, which differ in each call.
 */
__noinline __u64 stack_key(__u64 place, __u64 sp, __u64 ip, __u64 code, __u64 code_size)
{
	__u64 word[KEY_WORDS];
	__u64 near = ip - NEAR_CODE, key = place;

	if (bpf_probe_read_user(word, sizeof(word), (void *)sp))
		return 0;
#pragma unroll
	for (int i = 0; i < KEY_WORDS; i++)
		if (word[i] - code < code_size || word[i] - near < 2 * NEAR_CODE)
			key = (key ^ word[i]) * 0xff51afd7ed558ccdULL;
	return (key ^ key >> 32) | OBSERVATION_KNOWN;
}

/* True if the client already has the stack of that key, by its number. */
static __always_inline bool stack_told(const struct watched *it, __u64 key)
{
	return it->keys[key % OBSERVATION_KNOWN] == key;
}

/*
 * Returns the key of the stack.  If calls with the same registers have had the same stack for long,
 * only some calls read it, because reading costs more than all the rest.  A call that does not read
 * its stack must not send it: it may differ from the key's.
 */
static __always_inline __u64 stack_known(struct watched *it, const struct pt_regs *regs,
					 bool *looked)
{
	__u64 place = (regs->sp ^ regs->ip << 20 ^ it->program << 48) * 0x9e3779b97f4a7c15ULL;
	struct sure *sure = &it->sure[(place >> 32) % SURE_PLACES];
	__u64 look = sure->times < SURER_CALLS ? LOOK_STACKS : LOOK_RARELY;
	bool same = sure->place == place;
	__u64 key;

	if (!*looked && same && sure->times >= SURE_CALLS && ++sure->times & (look - 1) &&
	    stack_told(it, sure->key))
		return sure->key;
	*looked = true;
	key = stack_key(place, regs->sp, regs->ip, it->code, it->code_size);
	if (same && sure->key == key) {
		sure->times += sure->times < SURE_CALLS;
	} else {
		sure->place = place;
		sure->key = key;
		sure->times = 0;
	}
	return key;
}

static void path_fill(struct observed_call *told, char *path, const struct call_begun *call,
		      __u32 argument)
{
	long size = bpf_probe_read_user_str(path, OBSERVATION_PATH,
					    (void *)argument_value(call, argument));

	told->path_size = size > 0 ? size : 0;
}

/* Records, before the call, the data that a successful execve destroys. */
static void call_leaving(const struct call_begun *call, const struct watched *it,
			 const struct pt_regs *regs)
{
	struct observed_call_stack_path *told =
		observation(OBSERVE_LEAVING, sizeof(struct observed_call_stack_path));

	if (!told)
		return;
	told->call.took = 0;
	call_fill(&told->call, call, it, 0);
	told->call.known = OBSERVATION_KNOWN;
	stack_fill(&told->stack, regs);
	path_fill(&told->call, told->path, call, argument_of(argument_path, call->nr));
	submit(told);
}

/* How a call ended. */
struct call_ended {
	const struct pt_regs *regs; /* the thread's own */
	__u64 now;
	long ret;
	__u64 key; /* of its stack */
	__u32 path;
	bool nested;
};

/* Sends the observation of a call; `stack` and `path` are constants where it is inlined. */
static __always_inline void call_tell(struct task_struct *task, struct watched *it,
				      const struct call_begun *call, const struct call_ended *end,
				      const bool stack, const bool path)
{
	void *told = stack  ? path ? observation_reserve(task, OBSERVE_CALL_STACK_PATH,
							 sizeof(struct observed_call_stack_path))
				   : observation_reserve(task, OBSERVE_CALL_STACK,
							 sizeof(struct observed_call_stack))
		      : path ? observation_reserve(task, OBSERVE_CALL_PATH,
						   sizeof(struct observed_call_path))
			    : observation_reserve(task, OBSERVE_CALL, sizeof(struct observed_call));
	struct observed_call *its = told;

	if (!told)
		return;
	its->took = end->now - call->time;
	call_fill(its, call, it, end->ret);
	if (end->nested)
		its->flags |= OBSERVED_NESTED;
	its->known = end->key ? end->key % OBSERVATION_KNOWN : OBSERVATION_KNOWN;
	if (stack) {
		stack_fill(&((struct observed_call_stack *)told)->stack, end->regs);
		if (end->key)
			it->keys[end->key % OBSERVATION_KNOWN] = end->key;
	}
	if (path)
		path_fill(its,
			  stack ? ((struct observed_call_stack_path *)told)->path
				: ((struct observed_call_path *)told)->path,
			  call, end->path);
	submit_call(it, told);
}

static int call_begin(struct pt_regs *regs, __u32 nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct watched *it = watched_get(task);
	struct call_begun *call;

	if (!it || !watched_is_armed(it))
		return 0;
	if (confined && !watched_noted(it, task) && !watched_asked(it, task))
		return 0;
	call = call_of(it, (long)regs != bpf_task_pt_regs(task));
	call->args[1] = regs->di;
	call->args[2] = regs->si;
	call->args[3] = regs->dx;
	call->args[4] = regs->r10;
	call->args[5] = regs->r8;
	call->args[6] = regs->r9;
	call->nr = nr;
	call->in = 1;
	call->away = it->away;
	call->voluntary = it->voluntary;
	if (nr == SYS_execve || nr == SYS_execveat)
		call_leaving(call, it, regs);
	call->time = bpf_ktime_get_ns();
	return 0;
}

static int call_end(struct pt_regs *from, long ret)
{
	struct call_ended end = {.now = bpf_ktime_get_ns(), .ret = ret};
	struct task_struct *task = bpf_get_current_task_btf();
	struct watched *it = watched_get(task);
	struct call_begun *call;
	bool known, deep, looked;

	if (!it)
		return 0;
	if (confined && !watched_noted(it, task) && !watched_asked(it, task))
		return 0;
	end.regs = (struct pt_regs *)bpf_task_pt_regs(task);
	end.nested = from != end.regs;
	call = call_of(it, end.nested);
	if (!call->in)
		return 0;
	call->in = 0;
	end.path = argument_of(argument_path, call->nr);
	/* Frames of fork and its like are larger than the part that makes a key. */
	looked = deep = call->nr >= SYS_clone && call->nr <= SYS_vfork;
	end.key = stack_known(it, end.regs, &looked);
	known = end.key && !deep && stack_told(it, end.key) &&
		(++it->known < TELL_CALLS || !looked);
	if (!known)
		it->known = 0;
	if (known && end.path)
		call_tell(task, it, call, &end, false, true);
	else if (known)
		call_tell(task, it, call, &end, false, false);
	else if (end.path)
		call_tell(task, it, call, &end, true, true);
	else
		call_tell(task, it, call, &end, true, false);
	if (!end.nested) {
		it->ended_away = it->away;
		it->ended = bpf_ktime_get_ns();
	}
	return 0;
}

SEC("fentry/x64_sys_call")
int fentry_begin(__u64 *context)
{
	return call_begin((struct pt_regs *)context[0], context[1]);
}

SEC("fexit/x64_sys_call")
int fentry_end(__u64 *context)
{
	return call_end((struct pt_regs *)context[0], context[2]);
}

SEC("tp_btf/sys_enter")
int tracepoint_begin(__u64 *context)
{
	return call_begin((struct pt_regs *)context[0], context[1]);
}

SEC("tp_btf/sys_exit")
int tracepoint_end(__u64 *context)
{
	return call_end((struct pt_regs *)context[0], context[1]);
}

/* --- Processor, births, other programs, deaths -------------------------------------- */

/* Also counts for a watch that is not armed, because nothing is sent here. */
SEC("tp_btf/sched_switch")
int task_switched(__u64 *context)
{
	bool preempted = context[0];
	struct watched *off = watched_get((struct task_struct *)context[1]);
	struct watched *on = watched_get((struct task_struct *)context[2]);

	if (off) {
		off->since = bpf_ktime_get_ns();
		off->voluntary += !preempted;
	}
	if (on && on->since) {
		on->away += bpf_ktime_get_ns() - on->since;
		on->since = 0;
	}
	return 0;
}

static __u64 clone_flags(const struct watched *parent)
{
	const struct call_begun *call = &parent->calls[0];
	__u64 flags = 0;

	if (call->in && call->nr == SYS_clone)
		return call->args[1];
	if (call->in && call->nr == SYS_clone3)
		bpf_probe_read_user(&flags, sizeof(flags), (void *)call->args[1]);
	return flags;
}

SEC("tp_btf/sched_process_fork")
int task_forked(__u64 *context)
{
	struct task_struct *parent = (struct task_struct *)context[0];
	struct task_struct *child = (struct task_struct *)context[1];
	struct watched *it = watched_get(parent), *its;
	struct observed_fork *told;

	/*
	 * The child has not run yet, so nothing of it changes.  Perhaps ATTACH has found it
	 * already.
	 */
	if (!it || !watched_is_armed(it) || !task_allowed(child) || watched_get(child))
		return 0;
	its = watched_create(child, WATCH_ARMED);
	if (!its) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	watched_note(its, child);
	stacks_forget(its, child->mm);
	its->since = its->ended = bpf_ktime_get_ns();
	told = observation(OBSERVE_FORK, sizeof(*told));
	if (told) {
		told->head.pid = child->tgid;
		told->head.tid = child->pid;
		told->head.arg = parent->tgid;
		told->flags = clone_flags(it);
		told->thread = child->tgid == parent->tgid;
		submit(told);
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int task_execed(__u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	struct linux_binprm *program = (struct linux_binprm *)context[2];
	struct mm_struct *mm = task->mm;
	struct observed_exec *told;
	struct watched *it;

	if ((int)context[1] != task->pid)
		watched_renamed(task);
	it = watched_get_settled(task);
	if (!it)
		return 0;
	if (watched_give_up(it)) {
		watched_delete(task);
		return 0;
	}
	watched_note(it, task);
	/* A security module's change of domain shows by AT_SECURE alone. */
	if (!task_allowed(task) ||
	    (confined && BPF_CORE_READ_BITFIELD_PROBED(program, secureexec))) {
		watched_drop(task, (int)context[1]);
		return 0;
	}
	stacks_forget(it, mm);
	told = observation(OBSERVE_EXEC, sizeof(*told));
	if (!told)
		return 0;
	told->head.arg = (int)context[1];
	told->path[0] = 0;
	if (bpf_core_read(told->auxv, sizeof(told->auxv), &mm->saved_auxv))
		told->auxv[0] = 0;
	bpf_probe_read_kernel_str(told->path, sizeof(told->path), BPF_CORE_READ(program, interp));
	submit(told);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int task_exited(__u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	struct watched *it = watched_get_settled(task);
	struct observed_gap *told;

	if (!it)
		return 0;
	if (watched_give_up(it)) {
		watched_delete(task);
		return 0;
	}
	told = observation(OBSERVE_EXIT, sizeof(*told));
	if (told) {
		told->head.arg = !BPF_CORE_READ(task, signal, live.counter);
		told->gap = gap_open(it);
		submit(told);
	}
	watched_delete(task);
	return 0;
}

/* Called for each task when the recording ends: sends the last gap of tasks that continue. */
SEC("iter/task")
int release_task(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct watched *it = task ? watched_get(task) : NULL;
	struct observed_gap *told;

	if (!it)
		return 0;
	if (watched_give_up(it)) {
		watched_delete(task);
		return 0;
	}
	told = observation(OBSERVE_RUNNING, sizeof(*told));
	if (told) {
		told->head.pid = task->tgid;
		told->head.tid = task->pid;
		told->gap = gap_open(it);
		submit(told);
	}
	watched_delete(task);
	return 0;
}
