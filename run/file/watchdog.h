/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - has leases returned while the whole program is stopped.
 *
 * A stopped program cannot return a lease, so each writer would wait for it until the kernel takes
 * the lease away (/proc/sys/fs/lease-break-time, 45 s).  So a program that has had leases for a
 * second gets a watchdog: a process of the command `cosy` outside of the program, which looks
 * twice a second whether the thread that returns leases is stopped.  If it is, the watchdog does
 * what that thread would do: it changes the guard words of all leases, then returns these.
 *
 * Both have a page in common.  The program puts into it which descriptors have leases; what the
 * two do there is ordered like this:
 *
 *	program					watchdog
 *	look at `turn`: odd means no lease	turn++ (odd)
 *	word = WATCHDOG_HELD, fd		for each fd: fetch the descriptor (pidfd_getfd)
 *	F_SETLEASE				  is the fd still there?  word = 0
 *	look again: changed means return it	  F_UNLCK
 *	...					turn++ (even)
 *	fd = 0, F_UNLCK
 *
 * So the watchdog returns no lease of which the program does not learn: one that was taken before
 * `turn` became odd has its word and its fd there, and none is kept that was taken after.  A reader
 * looks at the word after its copy, as at those of cosyd (cosyd/protocol.h says why that is
 * enough).
 *
 * The command is found from the library's own path, by which the dynamic linker has loaded it.
 *
 * Without the right to fetch descriptors, or without memory or processes to be had, there is no
 * watchdog, and nothing else changes.  Nor is there one under a filter of system calls, nor for a
 * program whose children are in another PID namespace.
 */
#ifndef COSY_RUN_WATCHDOG_H
#define COSY_RUN_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "file/file.h"

#pragma GCC visibility push(hidden)

#define WATCHDOG_NAME "cosy-watchdog" /* argv[0]; the process's number follows */

/* A word while there is a lease; no word of cosyd's has this value. */
#define WATCHDOG_HELD (~0ULL)

#define WATCHDOG_VERSION 1

struct watchdog_page {
	uint32_t version;   /* WATCHDOG_VERSION; library and command may be of two releases */
	uint32_t turn;	    /* odd while the watchdog returns leases; only it writes this */
	uint32_t number;    /* of the watchdog's process while it runs */
	int32_t fds[FILES]; /* 1 + a descriptor with a lease, by the file's number; 0: none */
	uint64_t words[FILES];
};

/* The watchdog's descriptors. */
enum {
	WATCHDOG_PROCESS = 10, /* a pidfd of the program */
	WATCHDOG_STAT,	       /* /proc/PID/task/TID/stat of the thread that returns leases */
	WATCHDOG_PAGE,
	WATCHDOG_LIFE, /* a pipe that ends with that thread */
};

/*
 * In the thread that returns leases: start a watchdog for `process`, which the descriptor `self`
 * stands for, unless there is one; and look after it now and then.  `tell` stores `made` at `page`
 * and calls watchdog_tell for each lease, both under lease.c's lock.
 */
void watchdog_start(int process, int self,
		    void (*tell)(struct watchdog_page **page, struct watchdog_page *made));
void watchdog_tend(void);

/* Forgets, when that thread begins, a watchdog of an earlier one, which has ended with that. */
void watchdog_begin(void);

/*
 * Surround the taking of a lease, under LOCKED and lease.c's lock.  The first is called before; the
 * second, when the kernel has granted it: false, it must be returned at once.  Without a watchdog
 * they do nothing.
 */
bool watchdog_taking(struct file *file, int fd, uint32_t *turn);
bool watchdog_taken(uint32_t turn);

/* Has the watchdog know a lease that was taken before there was one; under lease.c's lock. */
void watchdog_tell(struct file *file);

/* To be called before a lease is returned, and when it was refused. */
void watchdog_forget(const struct file *file);

/* Notes that the program itself says who may trace it: the watchdog does without. */
void watchdog_leave_tracer(void);

/* To be called in the child of a fork. */
void watchdog_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_WATCHDOG_H */
