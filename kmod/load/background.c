// SPDX-License-Identifier: GPL-2.0
/*
 * background.c - compiles compounds for the user's next process, in a thread of the kernel.
 *
 * A process that would not live long enough to profit hands its compound over and goes on.  The
 * compound is compiled as a LOAD of that process would have compiled it: all that the kernel asks
 * of a process on the way is answered for the one that has handed it over, which may have ended.
 * These are its credentials (whether constants are blinded, the limit of the JIT's memory, locked
 * memory), its memory cgroup, its namespaces and its RLIMIT_MEMLOCK.  The thread has no signals, so
 * a compilation that has begun ends.  Its length is bounded by COSY_MAX_INSNS, and by none being
 * begun for a memory cgroup that is near a limit: there an allocation may sleep for seconds.
 *
 * Processor time is not charged to the process's cgroup, so it is bounded: one thread, of the lowest
 * priority, and for each user so many instructions of compounds a second (credit.c).
 */
#include <linux/cred.h>
#include <linux/freezer.h>
#include <linux/jhash.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "load/background.h"
#include "load/cache.h"
#include "load/image.h"
#include "reject.h"
#include "stats.h"
#include "users.h"

/* Compounds of all users that wait at most. */
#define MAX_WAITING 64
/*
 * How long a compound waits at least, so that a short process which has handed it over is over: a
 * thread that wakes up may take its processor for a tick, whatever its priority.
 */
#define DELAY (HZ / 20)

/* A compound that waits; constant, but for the list. */
struct job {
	struct list_head node;
	struct cosy_user *user; /* a reference; so are these */
	const struct cred *cred;
	struct mem_cgroup *memcg;
	struct cosy_cache_caller caller;
	struct cosy_target target;
	void *data; /* the container, of kvmalloc */
	u32 len;
	u64 digest;
	unsigned long due; /* jiffies */
};

static struct task_struct *thread;
static DECLARE_WAIT_QUEUE_HEAD(arrived);
/* Jobs in the order of their arrival; the first one may be under way. */
static LIST_HEAD(jobs);
static unsigned int job_cnt;
static DEFINE_SPINLOCK(lock);

/*
 * Identifies a compound of a user in a container, by its ends.  If two are taken for one, only these
 * are compiled too late.
 */
static u64 digest_of(const void *data, u32 len, const struct cosy_target *target,
		     const struct cosy_cache_caller *caller)
{
	const u32 some = min(len, 512u);
	const u32 spaces = jhash(caller->spaces, sizeof(caller->spaces), target->size);
	const u32 first = jhash(data, some, len ^ spaces);
	const u32 last = jhash(data + len - some, some, first + target->ordinary);

	/* 0 is none. */
	return ((u64)first << 32 | last) | 1;
}

static void job_free(struct job *job)
{
	kvfree(job->data);
	mem_cgroup_put(job->memcg);
	put_cred(job->cred);
	cosy_user_put(job->user);
	kfree(job);
}

static struct cosy_credit *job_credit(const struct job *job)
{
	return &cosy_user_cache(job->user)->credit;
}

/* --- Handing over ----------------------------------------------------------------------------- */

static bool job_is_queued(const struct job *job)
{
	const struct job *other;

	list_for_each_entry(other, &jobs, node) {
		/* After a FORGET a job from before it comes to nothing. */
		if (other->user == job->user && other->digest == job->digest &&
		    other->caller.epoch == job->caller.epoch &&
		    !memcmp(other->caller.spaces, job->caller.spaces, sizeof(job->caller.spaces)))
			return true;
	}
	return false;
}

/* Queues a job, unless it must not be; `insns` is what it costs.  Under the lock. */
static int job_queue(struct job *job, u32 insns)
{
	int error;

	if (job_is_queued(job))
		return -EALREADY;
	if (job_cnt >= MAX_WAITING)
		return -EBUSY;
	error = cosy_credit_take(job_credit(job), job->digest, insns);
	if (error)
		return error;
	job_cnt++;
	list_add_tail(&job->node, &jobs);
	return 0;
}

/* Makes a job of the calling process's; the container is not its own yet. */
static struct job *job_create(struct cosy_user *user, const struct cosy_cache_caller *caller,
			      const struct cosy_target *target)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	job->user = cosy_user_hold(user);
	job->cred = get_current_cred();
	job->memcg = get_mem_cgroup_from_mm(current->mm);
	job->caller = *caller;
	job->target = *target;
	job->due = jiffies + DELAY;
	return job;
}

int cosy_background_queue(struct cosy_user *user, void **data, u32 len,
			  const struct cosy_target *target, struct cosy_reject *why)
{
	struct cosy_cache_caller caller = {};
	struct cosy_container container;
	struct job *job;
	int error;

	if (!cosy_cache_serves(user, &caller) || !cosy_cache_is_kept())
		return -ENOENT;
	if (target->size && (!is_power_of_2(target->size) || target->size < PAGE_SIZE ||
			     target->size > COSY_MAX_BUFFER))
		return -EINVAL;
	error = cosy_image_is_portable(target);
	if (!error)
		error = cosy_compound_open(*data, len, &container, why);
	if (error)
		return error;
	job = job_create(user, &caller, target);
	if (!job)
		return -ENOMEM;
	job->data = *data;
	job->len = len;
	job->digest = digest_of(*data, len, target, &caller);
	spin_lock(&lock);
	error = job_queue(job, container.insn_cnt);
	spin_unlock(&lock);
	if (error) {
		job->data = NULL;
		job_free(job);
		return error == -EALREADY ? -EINPROGRESS : error;
	}
	*data = NULL;
	mutex_lock(&cosy_user_cache(user)->lock);
	cosy_cache_start_ageing(cosy_user_cache(user), user);
	mutex_unlock(&cosy_user_cache(user)->lock);
	cosy_stats_live(COSY_LIVE_BACKGROUND, 1);
	wake_up(&arrived);
	return -EINPROGRESS;
}

/* --- The thread ----------------------------------------------------------------------------- */

#ifdef CONFIG_MEMCG
/* Pages that a compilation of so many instructions may be charged, with what is charged in advance. */
static unsigned long pages_needed(u32 insns)
{
	return 4 * MEMCG_CHARGE_BATCH + insns / 4;
}

/*
 * Returns whether the job's memory cgroup has room for its compilation.  Without, the thread would
 * reclaim for it, or sleep, while other users wait.
 */
static bool job_has_room(const struct job *job, u32 insns)
{
	struct mem_cgroup *memcg;

	for (memcg = job->memcg; memcg; memcg = parent_mem_cgroup(memcg)) {
		struct page_counter *memory = &memcg->memory;
		const unsigned long limit = min(READ_ONCE(memory->max), READ_ONCE(memory->high));

		if (page_counter_read(memory) + pages_needed(insns) > limit)
			return false;
	}
	return true;
}

/* Takes back what the kernel would have this thread do for a cgroup above memory.high. */
static void debt_clear(void)
{
	current->memcg_nr_pages_over_high = 0;
}
#else
static bool job_has_room(const struct job *job, u32 insns)
{
	return true;
}

static void debt_clear(void) {}
#endif

/* Compiles the job's container with the rights of its process.  1: it is there; 0 or an error. */
static int job_compile(struct job *job)
{
	struct cosy_reject why = {};
	struct cosy_container container;
	struct cosy_image *image;
	u32 evicted = 0;
	int error = cosy_compound_open(job->data, job->len, &container, &why);

	if (error)
		return error;
	if (!job_has_room(job, container.insn_cnt))
		return -ENOMEM;
	/* A process may have loaded it meanwhile. */
	if (cosy_cache_has(job->user, job->data, job->len, &job->target, &job->caller))
		return 1;
	image = cosy_image_create(job->user, &container, &job->target, &why);
	if (IS_ERR(image))
		return PTR_ERR(image);
	image->entry.unproven = job->digest;
	if (cosy_cache_add(image, job->data, job->len, &job->target, &job->caller, &evicted))
		job->data = NULL;
	else
		error = -ENOSPC;
	cosy_image_put(image);
	return error;
}

static void job_do(struct job *job)
{
	const struct cred *own;
	struct mem_cgroup *memcg;
	int error = 0;

	if (cosy_cache_is_forgotten(job->user, &job->caller))
		return;
	own = override_creds(job->cred);
	memcg = set_active_memcg(job->memcg);
	error = job_compile(job);
	set_active_memcg(memcg);
	revert_creds(own);
	debt_clear();
	if (error > 0 || cosy_cache_is_forgotten(job->user, &job->caller))
		return;
	cosy_stats_event(error ? COSY_EVENT_COMPILE_FAILED : COSY_EVENT_COMPILED);
	if (error)
		cosy_credit_failed(job_credit(job), job->digest);
}

/* Returns the first job, which stays in the queue; or NULL. */
static struct job *job_first(void)
{
	struct job *job;

	spin_lock(&lock);
	job = list_first_entry_or_null(&jobs, struct job, node);
	spin_unlock(&lock);
	return job;
}

static void job_end(struct job *job)
{
	spin_lock(&lock);
	list_del(&job->node);
	job_cnt--;
	spin_unlock(&lock);
	cosy_credit_end(job_credit(job));
	cosy_stats_live(COSY_LIVE_BACKGROUND, -1);
	job_free(job);
}

static int background_run(void *unused)
{
	struct job *job;
	long early;

	set_user_nice(current, MAX_NICE);
	set_freezable();
	while (!kthread_should_stop()) {
		wait_event_freezable(arrived, job_first() || kthread_should_stop());
		job = kthread_should_stop() ? NULL : job_first();
		if (!job)
			continue;
		early = job->due - jiffies;
		if (early > 0) {
			wait_event_freezable_timeout(arrived, kthread_should_stop(), early);
			continue;
		}
		job_do(job);
		job_end(job);
		cond_resched();
		try_to_freeze();
	}
	return 0;
}

u64 cosy_background_time(void)
{
	return READ_ONCE(thread->se.sum_exec_runtime);
}

int __init cosy_background_init(void)
{
	thread = kthread_run(background_run, NULL, "cosy_compile");
	return PTR_ERR_OR_ZERO(thread);
}

void cosy_background_exit(void)
{
	struct job *job;

	kthread_stop(thread);
	while ((job = job_first()))
		job_end(job);
}
