/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - defines the messages between libcosy-run.so and the lease daemon cosyd.
 *
 * A client connects to the daemon's socket (SOCK_SEQPACKET) and sends one COSYD_HELLO;
 * the answer carries the *guard memory*, a memfd that only the daemon can write.  Then it
 * sends COSYD_TAKE with a descriptor of its own, opened for reading.  The answer contains the
 * number of the file's guard word, and the word's value while there is a lease.  The client
 * reads the word after every copy from a window, which needs no message.  When a lease is
 * broken, the daemon waits for no client: it adds one to the word, then returns the lease.
 *
 * That is enough.  A writer's open returns after the daemon's F_UNLCK, which comes after the
 * store to the word.  A process that has learned of the open reads the word after both, and
 * finds the new value.  A reader that still finds the old value has read it before the
 * writer's open returned.  No value occurs twice, because words only count up.
 *
 * The daemon may die at any moment, and its leases with it.  `keeper` is a robust futex owned
 * by the process with the leases.  When that process dies, in whatever way, the kernel removes
 * its number from the futex before it closes the leased descriptors (exit_mm comes before
 * exit_files).  So, by the same argument, a value counts only while `keeper` has an owner.
 */
#ifndef COSYD_PROTOCOL_H
#define COSYD_PROTOCOL_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

#define COSYD_SOCKET  "/run/cosyd/socket"
#define COSYD_VERSION 1
#define COSYD_SLOTS   8192 /* inodes with a lease at one time */

struct cosyd_memory {
	uint32_t keeper; /* robust futex: the thread that has the leases, none when it is gone */
	uint32_t version;
	uint64_t words[COSYD_SLOTS] __attribute__((aligned(64))); /* odd: there is a lease */
};

enum cosyd_op {
	COSYD_HELLO, /* answered with the guard memory */
	COSYD_TAKE,  /* with a descriptor; answered with slot and value */
	COSYD_DROP,  /* one TAKE of `slot` is over; not answered */
	COSYD_SYNC,  /* answered when all earlier requests are done */
};

/* A request; `version` is COSYD_VERSION. */
struct cosyd_request {
	uint16_t version, op;
	uint32_t slot;
};

/*
 * A reply; `error` is 0 or a negative errno: -EACCES this file cannot have a lease, -EAGAIN
 * somebody has it open for writing, or had a moment ago, -EMFILE a limit, -EINVAL no such
 * request.
 */
struct cosyd_reply {
	int32_t error;
	uint32_t slot;
	uint64_t value; /* of words[slot] while this lease lasts */
};

/* True if the daemon that this memory is from still has its leases. */
static inline bool cosyd_alive(const uint32_t *keeper)
{
	return __atomic_load_n(keeper, __ATOMIC_ACQUIRE) & FUTEX_TID_MASK;
}

#endif /* COSYD_PROTOCOL_H */
