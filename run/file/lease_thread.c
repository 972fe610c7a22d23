// SPDX-License-Identifier: MIT
/*
 * lease_thread.c - see lease_thread.h.  The thread must not call libc, since it has no TLS of its
 * own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "environment.h"
#include "file/lease_thread.h"
#include "file/watchdog.h"
#include "filter.h"
#include "lock.h"
#include "metadata/metadata.h"
#include "mask.h"
#include "next.h"

/*
 * Seconds between looks at all leases.  They are needed since the kernel sends SIGIO, which looks
 * like the program's own, when the user's queue of signals is full (RLIMIT_SIGPENDING).
 */
#define LOOK_AT_ALL 5

/* Seconds after which a program with leases gets a watchdog. */
#define WATCHDOG_AFTER 1

/* Seconds without a run after which something is wrong; the kernel takes leases after 45. */
#define OVERSLEPT 15

/* Seconds: if the kernel takes leases sooner than this, the times above are divided. */
#define SHORTEST_BREAK 20

#define STACK 16384

/* ns; the shortest that the kernel has. */
#define TURN 100000

/* Highest of all real-time priorities. */
#define MAX_RT_PRIORITY 99

enum { NONE, COMING, READY, REFUSED, ENDING };

/*
 * The thread's state, at the lower end of its stack.  A child that is made by a raw call finds
 * zeros: it has no such thread.
 */
static struct thread {
	uint32_t state; /* a futex */
	uint32_t alive; /* 1; when the thread ends the kernel puts 0 here, and wakes */
	pid_t process, number;
	bool filtered; /* by seccomp: few calls are safe */
	int probe;     /* a descriptor of the program's */
	int self;      /* if it has descriptors of its own: one for the process */
	int timer;     /* below 0: none */
	bool watched;
	long part;	/* the times above are divided by it */
	uint32_t below; /* the program's highest real-time priority; 0: none */
	struct lease_thread_work work;
} *thread;

static bool shares_table;

void lease_thread_share_table(void)
{
	shares_table = true;
}

static bool thread_map(void)
{
	long mapping;

	if (__atomic_load_n(&thread, __ATOMIC_ACQUIRE))
		return true;
	mapping = cosy_syscall6(SYS_mmap, 0, STACK, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0)
		return false;
	if (cosy_syscall3(SYS_madvise, mapping, STACK, MADV_WIPEONFORK) ||
	    !ATOMIC_EXCHANGE(&thread, NULL, (struct thread *)mapping))
		cosy_syscall3(SYS_munmap, mapping, STACK, 0);
	return thread != NULL;
}

static uint32_t thread_state(void)
{
	return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
}

static void thread_set_state(uint32_t state)
{
	__atomic_store_n(&thread->state, state, __ATOMIC_RELEASE);
	futex_wake(&thread->state, INT32_MAX);
}

/* The first version of struct sched_attr, whose header cannot be included beside libc's. */
struct kernel_sched_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Notes a real-time priority of the program's.  True: it is the highest so far. */
static bool thread_note_priority(uint32_t priority)
{
	uint32_t below;

	do
		below = __atomic_load_n(&thread->below, __ATOMIC_RELAXED);
	while (below < priority &&
	       !__atomic_compare_exchange_n(&thread->below, &below, priority, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return below < priority;
}

/*
 * Makes a thread real-time, above `priority` where that is allowed, or else at it; 0: the caller.
 * False: neither is.
 */
static bool thread_go_above(pid_t number, uint32_t priority)
{
	struct kernel_sched_attr attr = {.size = sizeof(attr), .policy = SCHED_FIFO};

	attr.priority = priority + (priority < MAX_RT_PRIORITY);
	if (!cosy_syscall3(SYS_sched_setattr, number, (unsigned long)&attr, 0))
		return true;
	attr.priority = priority;
	return !cosy_syscall3(SYS_sched_setattr, number, (unsigned long)&attr, 0);
}

/*
 * Raises the thread's priority.  False: the thread would wait for a processor, and writers for
 * the thread.
 */
static bool thread_raise_priority(void)
{
	struct kernel_sched_attr attr = {.size = sizeof(attr)};
	bool ordinary, real_time;

	if (cosy_syscall6(SYS_sched_getattr, 0, (unsigned long)&attr, sizeof(attr), 0, 0, 0))
		return false;
	real_time = attr.policy == SCHED_FIFO || attr.policy == SCHED_RR;
	if (real_time)
		thread_note_priority(attr.priority);
	if ((thread->below && thread_go_above(0, thread->below)) || real_time)
		return true;
	ordinary = attr.policy == SCHED_OTHER && attr.nice <= 0;
	if (!ordinary)
		attr.nice = 0;
	attr.policy = SCHED_OTHER;
	/* From Linux 6.12 on, a thread that asks for a short turn gets it sooner. */
	attr.runtime = TURN;
	return !cosy_syscall3(SYS_sched_setattr, 0, (unsigned long)&attr, 0) || ordinary;
}

/* Gives the thread descriptors of its own.  False: that cannot be done here. */
static bool thread_leave_table(void)
{
	long fetched;

	if (cosy_syscall3(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE))
		return false;
	thread->self = cosy_syscall3(SYS_pidfd_open, thread->process, 0, 0);
	if (thread->self < 0)
		return false;
	fetched = lease_thread_fetch(thread->probe);
	if (fetched < 0)
		return false;
	cosy_syscall3(SYS_close, fetched, 0, 0);
	return true;
}

/* Returns the seconds until the kernel takes a lease that is not returned. */
static long break_time(void)
{
	static const char path[] = "/proc/sys/fs/lease-break-time";
	char digits[16] = "";
	long time = 0;
	long fd;

	/* A descriptor in the program's table would be seen. */
	if (shares_table)
		return SHORTEST_BREAK;
	fd = cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)path, O_RDONLY | O_CLOEXEC, 0, 0,
			   0);
	cosy_syscall3(SYS_read, fd, (unsigned long)digits, sizeof(digits) - 1);
	cosy_syscall3(SYS_close, fd, 0, 0);
	for (const char *digit = digits; *digit >= '0' && *digit <= '9'; digit++)
		time = time * 10 + *digit - '0';
	return time ? time : SHORTEST_BREAK;
}

static void overslept(int signal)
{
	(void)signal;
	thread->work.overslept();
}

/* The kernel's own idea of a handler, since libc's sigaction refuses this signal. */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define FLAG_RESTORER 0x04000000

void lease_thread_restorer(void) __attribute__((visibility("hidden")));

/*
 * Makes the timer, unless libc has a handler of its own, as it has once there are threads: that
 * ignores signals of timers.
 */
static void thread_make_timer(void)
{
	struct kernel_sigaction action = {.handler = overslept,
					  .flags = SA_RESTART | SA_ONSTACK | FLAG_RESTORER,
					  .restorer = lease_thread_restorer,
					  .mask = ~0ULL};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LEASE_SIGNAL};
	struct kernel_sigaction old;
	long time = break_time();

	event._sigev_un._tid = thread->process;
	thread->part = time < SHORTEST_BREAK ? SHORTEST_BREAK / time : 1;
	thread->watched = false;
	if (cosy_syscall6(SYS_rt_sigaction, LEASE_SIGNAL, 0, (unsigned long)&old, sizeof(old.mask),
			  0, 0) ||
	    (old.handler != SIG_DFL && old.handler != overslept) ||
	    cosy_syscall6(SYS_rt_sigaction, LEASE_SIGNAL, (unsigned long)&action, 0,
			  sizeof(action.mask), 0, 0))
		return;
	if (cosy_syscall3(SYS_timer_create, CLOCK_MONOTONIC, (unsigned long)&event,
			  (unsigned long)&thread->timer))
		thread->timer = -1;
}

/* Scales a time that was given in seconds. */
static struct timespec part_of(long seconds)
{
	long ns = seconds * 1000000000 / thread->part;

	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void thread_set_timer(struct timespec from_now)
{
	struct itimerspec time = {.it_value = from_now};

	if (thread->timer >= 0)
		cosy_syscall6(SYS_timer_settime, thread->timer, 0, (unsigned long)&time, 0, 0, 0);
}

void lease_thread_watch(void)
{
	if (thread->watched)
		return;
	thread->watched = true;
	thread_set_timer(part_of(OVERSLEPT));
}

void lease_thread_awake(bool leases)
{
	if (leases)
		thread_set_timer(part_of(OVERSLEPT));
	else if (thread->watched)
		thread_set_timer((struct timespec){0});
	thread->watched = leases;
}

static uint32_t thread_begin(void)
{
	thread->part = 1;
	thread->timer = -1;
	if (!thread->filtered)
		cosy_syscall3(SYS_prctl, PR_SET_NAME, (unsigned long)"cosy-leases", 0);
	watchdog_begin();
	if (!thread_raise_priority())
		return REFUSED;
	if (shares_table || thread_leave_table()) {
		thread_make_timer();
		return READY;
	}
	/* The next thread is to do without a table of its own. */
	shares_table = true;
	return NONE;
}

static int64_t thread_now(void)
{
	struct timespec now;

	cosy_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (unsigned long)&now, 0);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Looks after the watchdog, which needs descriptors of this thread's own. */
static void thread_look(void)
{
	if (shares_table)
		return;
	watchdog_tend();
	if (thread->work.any())
		watchdog_start(thread->process, thread->self, thread->work.tell_watchdog);
}

static int thread_run(void *unused)
{
	const uint64_t signals = 1ULL << (LEASE_SIGNAL - 1);
	uint32_t state = thread_begin();
	struct timespec wait = part_of(WATCHDOG_AFTER);
	int64_t asked = thread_now(); /* when all leases were */

	(void)unused;
	thread_set_state(state);
	while (state == READY) {
		siginfo_t info;
		long signal = cosy_syscall6(SYS_rt_sigtimedwait, (unsigned long)&signals,
					    (unsigned long)&info, (unsigned long)&wait,
					    sizeof(signals), 0, 0);
		int64_t now = thread_now();
		bool all = signal != LEASE_SIGNAL || info.si_code <= 0 ||
			   now - asked >= wait.tv_sec * 1000000000 + wait.tv_nsec;

		state = thread_state();
		if (state == READY)
			thread->work.broken(all ? -1 : info.si_fd);
		if (state == READY && all)
			thread_look();
		if (!all)
			continue;
		wait = part_of(LOOK_AT_ALL);
		asked = now;
	}
	if (thread->timer >= 0)
		cosy_syscall3(SYS_timer_delete, thread->timer, 0, 0);
	return 0;
}

/* True if there is a thread, and in this process: the child of a vfork has its parent's memory. */
static bool thread_is_ours(void)
{
	return __atomic_load_n(&thread, __ATOMIC_ACQUIRE) && thread_state() != NONE &&
	       thread->process == cosy_syscall3(SYS_getpid, 0, 0, 0);
}

void lease_thread_go_above(int priority)
{
	uint32_t state;

	if (!thread_map() || !thread_note_priority(priority) || !thread_is_ours())
		return;
	while ((state = thread_state()) == COMING)
		futex_wait(&thread->state, state);
	if (state == READY)
		thread_go_above(thread->number, thread->below);
}

static bool thread_start(int fd, const struct lease_thread_work *work)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	int error = errno;
	bool started;

	/* A thread that could do nothing may still be about to end, on the same stack. */
	while (__atomic_load_n(&thread->alive, __ATOMIC_ACQUIRE))
		cosy_syscall6(SYS_futex, (unsigned long)&thread->alive, FUTEX_WAIT, 1, 0, 0, 0);
	thread->process = cosy_syscall3(SYS_getpid, 0, 0, 0);
	thread->probe = fd;
	thread->work = *work;
	thread->filtered = filter_is_there();
	shares_table |= thread->filtered;
	metadata_before_thread();
	thread->alive = 1;
	started = NEXT(clone)(thread_run, (char *)thread + STACK, flags, NULL, &thread->number,
			      NULL, &thread->alive) >= 0;
	if (!started) {
		thread->alive = 0;
		thread_set_state(NONE);
	}
	errno = error;
	return started;
}

enum lease_thread lease_thread_ask(int fd, const struct lease_thread_work *work)
{
	uint32_t state;

	if (!thread_map())
		return LEASE_THREAD_NONE;
	for (;;) {
		state = thread_state();
		if (state == READY)
			return LEASE_THREAD_READY;
		if (state == REFUSED || state == ENDING)
			return LEASE_THREAD_NONE;
		if (state == NONE && ATOMIC_EXCHANGE(&thread->state, NONE, COMING) &&
		    !thread_start(fd, work))
			return LEASE_THREAD_NONE;
		if (!environment_get(ENVIRONMENT_EAGER))
			return LEASE_THREAD_COMING;
		futex_wait(&thread->state, COMING);
	}
}

bool lease_thread_ready(void)
{
	return __atomic_load_n(&thread, __ATOMIC_ACQUIRE) && thread_state() == READY;
}

pid_t lease_thread_number(void)
{
	return thread->number;
}

int lease_thread_fetch(int fd)
{
	return shares_table ? fd : cosy_syscall3(SYS_pidfd_getfd, thread->self, fd, 0);
}

void lease_thread_put(int fd)
{
	if (fd >= 0 && !shares_table)
		cosy_syscall3(SYS_close, fd, 0, 0);
}

/* Sleeps for a moment. */
static void thread_await(void)
{
	const struct timespec moment = {.tv_nsec = 20000};

	cosy_syscall3(SYS_nanosleep, (unsigned long)&moment, 0, 0);
}

static void thread_end(void)
{
	uint32_t state;

	do {
		state = thread_state();
		if (state == NONE)
			return;
		if (state == COMING || state == ENDING)
			futex_wait(&thread->state, state);
	} while (state == COMING || state == ENDING ||
		 !ATOMIC_EXCHANGE(&thread->state, state, ENDING));
	while (__atomic_load_n(&thread->alive, __ATOMIC_ACQUIRE)) {
		cosy_syscall3(SYS_tgkill, thread->process, thread->number, LEASE_SIGNAL);
		cosy_syscall6(SYS_futex, (unsigned long)&thread->alive, FUTEX_WAIT, 1, 0, 0, 0);
	}
	/* It counts as a thread until it has no number any more. */
	while (!cosy_syscall3(SYS_tgkill, thread->process, thread->number, 0))
		thread_await();
	thread_set_state(NONE);
}

void lease_thread_end(void)
{
	uint64_t signals;

	if (!thread_is_ours())
		return;
	/* A handler that forks, and so ends the thread, would wait for what it has interrupted. */
	signals = mask_block_all();
	thread_end();
	mask_set(signals);
}
