/* SPDX-License-Identifier: MIT */
/*
 * lease_thread.h - runs the thread that is told of broken leases, and returns them.
 *
 * A signal to the program itself would interrupt calls that SA_RESTART does not restart, and would
 * come late, or never, where the program has blocked it, or has no processor.  So a thread of this
 * library's owns the signal (F_SETOWN_EX): nobody else is interrupted, no handler is installed, and
 * no mask of the program's matters.  It waits for signal 33, which libc keeps from programs, and at
 * an ordinary priority whatever the program's is.
 *
 * It has descriptors of its own, none at first: a table that two threads share makes each call on a
 * descriptor dearer.  To return a lease it fetches the descriptor (pidfd_getfd), and then closes
 * it.  If a filter of system calls was there before the program, the thread shares the program's
 * table, since such filters often forbid a table of its own.
 */
#ifndef COSY_RUN_LEASE_THREAD_H
#define COSY_RUN_LEASE_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

struct watchdog_page;

/*
 * SIGSETXID: libc neither blocks it nor lets programs use it, and sends it to its own threads only.
 */
#define LEASE_SIGNAL 33

enum lease_thread {
	LEASE_THREAD_NONE, /* and none can be had for now */
	LEASE_THREAD_COMING,
	LEASE_THREAD_READY,
};

/* What the thread does for lease.c, which starts it. */
struct lease_thread_work {
	/* The lease on what `fd` named then has been broken; below 0: look at all leases. */
	void (*broken)(int fd);
	/* In the program's first thread: this one may not have run for longer than the kernel waits. */
	void (*overslept)(void);
	/* True if there are leases of this process's own. */
	bool (*any)(void);
	/* Makes `made` the page of the watchdog, and has that know all own leases. */
	void (*tell_watchdog)(struct watchdog_page **page, struct watchdog_page *made);
};

/*
 * Starts the thread, unless it is there; all signals are blocked.  `fd` names something.  Waits for
 * the thread if tests want windows at once.
 */
enum lease_thread lease_thread_ask(int fd, const struct lease_thread_work *work);
bool lease_thread_ready(void);

/* Returns the thread's number, once it is ready. */
pid_t lease_thread_number(void);

/*
 * In that thread, return a descriptor for what the program's `fd` names, or a negative errno; and
 * close it.
 */
int lease_thread_fetch(int fd);
void lease_thread_put(int fd);

/*
 * While there are leases the thread has to run now and then.  If it has not, as when all of the
 * program is stopped, the program's first thread gets a signal before it does anything else: the
 * kernel may have taken the leases meanwhile, and a reader could know that before the thread does.
 * The first is called when a lease has been taken, the second when all have been asked; lease.c
 * locks both.
 */
void lease_thread_watch(void);
void lease_thread_awake(bool leases);

/* Descriptors that it needs for that, of its own: itself and one. */
#define LEASE_THREAD_DESCRIPTORS 2

/*
 * Raises the thread, and those that come later in this process, above this real-time priority, or
 * at least to it.
 */
void lease_thread_go_above(int priority);

/* Makes later threads share the program's table. */
void lease_thread_share_table(void);

/*
 * Ends the thread, and waits until the process has a thread less.  To be called with no lease held;
 * none is taken until this returns.
 */
void lease_thread_end(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_LEASE_THREAD_H */
