/* SPDX-License-Identifier: MIT */
/*
 * lease_thread.h - runs the thread that gets the signals of broken leases, and returns the leases.
 *
 * A signal to the program itself would interrupt calls that SA_RESTART does not restart.  It would
 * come late, or never, if the program has blocked it or gets no processor.  So a thread of this
 * library owns the signal (F_SETOWN_EX): no other thread is interrupted, and the program's signal
 * masks do not matter.  The thread waits for signal 33, which libc keeps from programs.  It runs at
 * an ordinary priority even if the program's is lower; for real-time programs, see
 * lease_thread_go_above.
 *
 * The thread has an fd table of its own, empty at first, because each call on a descriptor costs
 * more if two threads share the table.  To return a lease it fetches the descriptor (pidfd_getfd),
 * and closes it afterwards.  If the program started with a seccomp filter, the thread shares the
 * program's table, because such filters often forbid a table of its own.
 */
#ifndef COSY_RUN_LEASE_THREAD_H
#define COSY_RUN_LEASE_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct watchdog_page;

/* SIGSETXID: libc neither blocks it nor lets programs use it, and sends it to its threads only. */
#define LEASE_SIGNAL 33

enum lease_thread {
	LEASE_THREAD_NONE,   /* there is none, and none can be started for now */
	LEASE_THREAD_COMING, /* it is starting */
	LEASE_THREAD_READY,
};

/* Functions of lease.c that the thread calls. */
struct lease_thread_work {
	/* The lease on the file that `fd` named when it was taken is broken; below 0: check all. */
	void (*broken)(int fd);
	/*
	 * Called by a signal handler in the program's first thread: the lease thread has not run
	 * for so long that the kernel may have taken leases.
	 */
	void (*overslept)(void);
	/* Returns whether this process has leases that it took itself. */
	bool (*any)(void);
	/* Makes `made` the watchdog's page, and enters all own leases there. */
	void (*tell_watchdog)(struct watchdog_page **page, struct watchdog_page *made);
};

/*
 * Starts the thread if there is none.  Called with all signals blocked.  `fd` is any open
 * descriptor of the program, by which the thread tests pidfd_getfd.  Returns before the thread is
 * ready, except in tests that want windows at once.
 */
enum lease_thread lease_thread_ask(int fd, const struct lease_thread_work *work);
/* True if the thread runs and can return leases. */
bool lease_thread_ready(void);

/* Returns the thread's kernel thread id.  To be called when it is ready. */
pid_t lease_thread_number(void);

/*
 * Called in that thread.  The first returns a descriptor of the file that the program's `fd` names,
 * or a negative errno.  The second closes such a descriptor, and ignores an error.  With a shared
 * table both leave the program's own descriptor as it is.
 */
int lease_thread_fetch(int fd);
void lease_thread_put(int fd);

/*
 * Run a timer while there are leases.  If the thread has not run for long, for example because the
 * whole program was stopped, the kernel may have taken the leases, and a reader could run before
 * the thread notices.  So the timer's signal calls `overslept` in the program's first thread,
 * before that does anything else.
 *
 * The first is called when a lease was taken, the second when all leases were checked; `leases`:
 * some are left.  Both are called under the lock of leases in lease.c.
 */
void lease_thread_watch(void);
void lease_thread_awake(bool leases);

/* Descriptors that the thread has in a table of its own: the process's pidfd and a fetched one. */
#define LEASE_THREAD_DESCRIPTORS 2

/*
 * Raises the thread, and later ones of this process, above the program's real-time priority
 * `priority` (1 to 99), or to it if the kernel allows no more.
 */
void lease_thread_go_above(int priority);

/* Makes later lease threads of this process share the program's fd table. */
void lease_thread_share_table(void);

/*
 * Ends the thread, and waits until the kernel no longer counts it among the process's threads.  To
 * be called with no lease held; no lease can be taken until this returns.
 */
void lease_thread_end(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_LEASE_THREAD_H */
