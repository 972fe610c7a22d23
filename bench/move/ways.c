// SPDX-License-Identifier: MIT
/*
 * ways.c - one message through each way, both ends in one process, so that no switch of processes
 * is counted: sent, received, one word of each page read, and one word of each rewritten by the
 * sender.
 */
#include <fcntl.h>
#include <liburing.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "move.h"

#define TURNS	8
#define MAX_TCP (1 << 20) /* bytes, with room for a whole message */
#define HUGE	(2UL << 20)

static int the_pipe[2], the_unix[2], the_tcp[2], the_zerocopy[2], descriptors[2], the_port[2];
static char *from, *to;		     /* ordinary */
static char *lender, *taker;	     /* of cosy_move_alloc */
static char *pin_lender, *pin_taker; /* the same, pinnable */
static char *ring;		     /* shared, as between two processes */
static struct io_uring uring;

enum after {
	NOTHING,
	READS,		/* the receiver reads a word of each page */
	READS_REWRITES, /* and the sender rewrites one */
	READS_FLUSHES,	/* the same, with a flush before, and the pages made ready after it */
	RETURNS,	/* the receiver writes, and sends the pages back, which is not counted */
	RETURNS_UNTOUCHED,
};

struct way {
	const char *name;
	void (*move)(const struct way *way, char *a, char *b, size_t bytes);
	char **a, **b;
	enum after after;
	size_t max;
	const int *ends;   /* of the stream that has the message, if one does */
	int flags;	   /* of the transfer or import */
	enum cosy_how how; /* the parcel is made, or the message passed */
	bool huge;	   /* the message has 2 MB to itself, or several, and memory of its own */
};

/* --- Ways: each leaves the message in the memory that it is given ----------------------------- */

static void by_stream(const struct way *way, char *a, char *b, size_t bytes)
{
	write_all(way->ends[1], a, bytes);
	read_all(way->ends[0], b, bytes);
}

static void by_stream_loan(const struct way *way, char *a, char *b, size_t bytes)
{
	loan_all(way->ends[1], a, bytes);
	read_all(way->ends[0], b, bytes);
}

static void by_loan(const struct way *way, char *a, char *b, size_t bytes)
{
	loan_all(way->ends[1], a, bytes);
	transfer_all(way->ends[0], b, bytes, way->flags);
}

static void by_parcel(const struct way *way, char *a, char *b, size_t bytes)
{
	int fd = (int)TRY(cosy_export(a, bytes, way->how)), other;

	fd_send(way->ends[1], fd);
	close(fd);
	other = fd_receive(way->ends[0]);
	TRY(cosy_import(other, b, bytes, way->flags));
	close(other);
}

static void by_parcel_alone(const struct way *way, char *a, char *b, size_t bytes)
{
	int fd = (int)TRY(cosy_export(a, bytes, way->how));

	TRY(cosy_import(fd, b, bytes, way->flags));
	close(fd);
}

static void by_port(const struct way *way, char *a, char *b, size_t bytes)
{
	size_t at;

	TRY(cosy_pass(way->ends[1], 0, a, bytes, way->how));
	TRY(cosy_take(way->ends[0], b, MAX_BYTES, &at, way->flags));
}

static void by_vmsplice(const struct way *way, char *a, char *b, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		struct iovec piece = {a + done, bytes - done};

		done += (size_t)TRY(vmsplice(way->ends[1], &piece, 1, 0));
	}
	read_all(way->ends[0], b, bytes);
}

static void by_process_vm(const struct way *way, char *a, char *b, size_t bytes)
{
	struct iovec mine = {b, bytes}, other = {a, bytes};

	(void)way;
	TRY(process_vm_readv(getpid(), &mine, 1, &other, 1, 0));
}

/* As one is told to: the kernel says when the pages may be written again. */
static void zerocopy_wait(int sock)
{
	char control[128];
	struct msghdr message = {.msg_control = control, .msg_controllen = sizeof(control)};

	while (recvmsg(sock, &message, MSG_ERRQUEUE) < 0) {
		if (errno != EAGAIN)
			fail("MSG_ERRQUEUE");
	}
}

static void by_zerocopy(const struct way *way, char *a, char *b, size_t bytes)
{
	long calls = 0;

	for (size_t done = 0; done < bytes; calls++)
		done += (size_t)TRY(send(way->ends[1], a + done, bytes - done, MSG_ZEROCOPY));
	read_all(way->ends[0], b, bytes);
	zerocopy_wait(way->ends[1]);
}

static void by_uring(const struct way *way, char *a, char *b, size_t bytes)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(&uring);
	struct io_uring_cqe *result;
	size_t sent = 0;
	bool more;

	io_uring_prep_send_zc(entry, way->ends[1], a, bytes, MSG_WAITALL, 0);
	TRY(io_uring_submit(&uring));
	do {
		TRY(-io_uring_wait_cqe(&uring, &result) ? -1 : 0);
		if (result->res < 0) {
			errno = -result->res;
			fail("io_uring send_zc");
		}
		more = result->flags & IORING_CQE_F_MORE;
		if (!(result->flags & IORING_CQE_F_NOTIF)) {
			sent += (size_t)result->res;
			read_all(way->ends[0], b, (size_t)result->res);
		}
		io_uring_cqe_seen(&uring, result);
	} while (more);
	write_all(way->ends[1], a + sent, bytes - sent);
	read_all(way->ends[0], b + sent, bytes - sent);
}

static void by_memfd(const struct way *way, char *a, char *b, size_t bytes)
{
	int fd = (int)TRY(memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING)), other;

	write_all(fd, a, bytes);
	TRY(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW));
	fd_send(way->ends[1], fd);
	close(fd);
	other = fd_receive(way->ends[0]);
	if (mmap(b, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, other, 0) ==
	    MAP_FAILED)
		fail("mmap");
	close(other);
}

/* What the other process wrote is copied once, by the receiver. */
static void by_ring(const struct way *way, char *a, char *b, size_t bytes)
{
	(void)way, (void)a;
	memcpy(b, ring, bytes);
}

/* --- Measuring -------------------------------------------------------------------------------- */

static const struct way ways[] = {
	{"pipe: write, read", by_stream, &from, &to, READS_REWRITES, .max = MAX_BYTES,
	 .ends = the_pipe},
	{"AF_UNIX: write, read", by_stream, &from, &to, READS_REWRITES, .max = MAX_BYTES,
	 .ends = the_unix},
	{"TCP: write, read", by_stream, &from, &to, READS_REWRITES, .max = MAX_TCP,
	 .ends = the_tcp},
	{"vmsplice, read (later writes show)", by_vmsplice, &from, &to, READS_REWRITES,
	 .max = MAX_BYTES, .ends = the_pipe},
	{"process_vm_readv", by_process_vm, &from, &to, READS_REWRITES, .max = MAX_BYTES},
	{"TCP: MSG_ZEROCOPY (later writes show)", by_zerocopy, &from, &to, READS_REWRITES,
	 .max = MAX_TCP, .ends = the_zerocopy},
	{"TCP: io_uring send_zc (later writes show)", by_uring, &from, &to, READS_REWRITES,
	 .max = MAX_TCP, .ends = the_tcp},
	{"sealed memfd, mapped", by_memfd, &from, &to, READS_REWRITES, .max = MAX_BYTES,
	 .ends = descriptors},
	{"shared ring, one copy", by_ring, &ring, &to, READS_REWRITES, .max = MAX_BYTES},
	{"loan, transfer; all", by_loan, &lender, &taker, READS_REWRITES, .max = MAX_BYTES,
	 .ends = the_pipe, .flags = COSY_POPULATE},
	{"loan, transfer; flushed, all", by_loan, &lender, &taker, READS_FLUSHES, .max = MAX_BYTES,
	 .ends = the_pipe, .flags = COSY_POPULATE},
	{"loan, transfer; receiver reads", by_loan, &lender, &taker, READS, .max = MAX_BYTES,
	 .ends = the_pipe, .flags = COSY_POPULATE},
	{"loan, transfer; untouched", by_loan, &lender, &taker, NOTHING, .max = MAX_BYTES,
	 .ends = the_pipe},
	{"AF_UNIX: loan, read", by_stream_loan, &lender, &to, READS_REWRITES, .max = MAX_BYTES,
	 .ends = the_unix},
	{"TCP: loan, read", by_stream_loan, &lender, &to, READS_REWRITES, .max = MAX_TCP,
	 .ends = the_tcp},
	{"AF_UNIX: loan again, read", by_stream_loan, &lender, &to, READS, .max = MAX_BYTES,
	 .ends = the_unix},
	{"TCP: loan again, read", by_stream_loan, &lender, &to, READS, .max = MAX_TCP,
	 .ends = the_tcp},
	{"parcel: copy; all", by_parcel, &lender, &taker, READS_REWRITES, .max = MAX_BYTES,
	 .ends = descriptors, .flags = COSY_POPULATE, .how = COSY_COPY},
	{"parcel: copy; receiver reads", by_parcel, &lender, &taker, READS, .max = MAX_BYTES,
	 .ends = descriptors, .flags = COSY_POPULATE, .how = COSY_COPY},
	{"parcel: donate; written", by_parcel, &lender, &taker, RETURNS, .max = MAX_BYTES,
	 .ends = descriptors, .flags = COSY_WILL_WRITE, .how = COSY_DONATE_ZERO},
	{"parcel: donate; untouched", by_parcel, &lender, &taker, RETURNS_UNTOUCHED,
	 .max = MAX_BYTES, .ends = descriptors, .how = COSY_DONATE_ZERO},
	{"parcel: donate; written; no socket", by_parcel_alone, &lender, &taker, RETURNS,
	 .max = MAX_BYTES, .flags = COSY_WILL_WRITE, .how = COSY_DONATE_ZERO},
	{"port: copy; receiver reads", by_port, &lender, &taker, READS, .max = MAX_BYTES,
	 .ends = the_port, .flags = COSY_POPULATE, .how = COSY_COPY},
	{"port: donate; written", by_port, &lender, &taker, RETURNS, .max = MAX_BYTES,
	 .ends = the_port, .flags = COSY_WILL_WRITE, .how = COSY_DONATE_ZERO},
	{"port: donate; untouched", by_port, &lender, &taker, RETURNS_UNTOUCHED, .max = MAX_BYTES,
	 .ends = the_port, .how = COSY_DONATE_ZERO},
	{"pinnable: loan, transfer; flushed, all", by_loan, &pin_lender, &pin_taker, READS_FLUSHES,
	 .max = MAX_BYTES, .ends = the_pipe, .flags = COSY_POPULATE},
	{"pinnable: loan, transfer; receiver reads", by_loan, &pin_lender, &pin_taker, READS,
	 .max = MAX_BYTES, .ends = the_pipe, .flags = COSY_POPULATE},
	{"pinnable: loan, transfer; untouched", by_loan, &pin_lender, &pin_taker, NOTHING,
	 .max = MAX_BYTES, .ends = the_pipe},
	{"pinnable: port; donate; written", by_port, &pin_lender, &pin_taker, RETURNS,
	 .max = MAX_BYTES, .ends = the_port, .flags = COSY_WILL_WRITE, .how = COSY_DONATE_ZERO},
	{"2 MB at once: copy; receiver reads", by_parcel, &lender, &taker, READS, .max = MAX_BYTES,
	 .ends = descriptors, .how = COSY_COPY, .huge = true},
	{"2 MB at once: donate; written", by_parcel, &lender, &taker, RETURNS, .max = MAX_BYTES,
	 .ends = descriptors, .how = COSY_DONATE_ZERO, .huge = true},
	{"2 MB at once: donate; written; no socket", by_parcel_alone, &lender, &taker, RETURNS,
	 .max = MAX_BYTES, .how = COSY_DONATE_ZERO, .huge = true},
	{"2 MB at once: port; donate; written", by_port, &lender, &taker, RETURNS, .max = MAX_BYTES,
	 .ends = the_port, .flags = COSY_WILL_WRITE, .how = COSY_DONATE_ZERO, .huge = true},
};

/* Returns how many bytes move for a message. */
static size_t way_size(const struct way *way, size_t bytes)
{
	return way->huge && bytes < HUGE ? HUGE : bytes;
}

/* Moves one message; returns what it cost. */
static long way_once(const struct way *way, char *a, char *b, size_t bytes)
{
	size_t size = way_size(way, bytes);
	long start, end;

	if (way->after == RETURNS)
		touch(a, bytes);
	start = now();
	way->move(way, a, b, size);
	switch (way->after) {
	case READS:
		look(b, bytes);
		break;
	case READS_REWRITES:
		look(b, bytes);
		touch(a, bytes);
		break;
	case READS_FLUSHES:
		look(b, bytes);
		TRY(cosy_flush(b, bytes));
		TRY(cosy_ready(a, bytes, COSY_WILL_WRITE));
		touch(a, bytes);
		break;
	case RETURNS:
		touch(b, bytes);
		break;
	default:
		break;
	}
	end = now();
	if (way->after == RETURNS || way->after == RETURNS_UNTOUCHED)
		way->move(way, b, a, size);
	return end - start;
}

/* Allocate and free memory of which nothing has been divided into pages of 4 KB. */
static void huge_new(char **a, char **b)
{
	*a = cosy_move_alloc(MAX_BYTES, 0);
	*b = cosy_move_alloc(MAX_BYTES, 0);
}

static void huge_free(char *a, char *b)
{
	cosy_move_free(a, MAX_BYTES);
	cosy_move_free(b, MAX_BYTES);
}

static void way_measure(const struct way *way, size_t bytes)
{
	char *a = *way->a, *b = *way->b;
	long best = -1;

	if (way->huge)
		huge_new(&a, &b);
	fill(a, bytes, bytes);
	way->move(way, a, b, way_size(way, bytes));
	compare(way->name, b, bytes, bytes);
	/* To rewrite what somebody else has makes pages of 4 KB of it. */
	if (way->huge) {
		huge_free(a, b);
		huge_new(&a, &b);
	}
	fill(a, bytes, 1);
	for (int i = 0; i < TURNS; i++) {
		long cost = way_once(way, a, b, bytes);

		if (best < 0 || cost < best)
			best = cost;
	}
	printf(" %7ld", best / (long)(bytes / PAGE));
	fflush(stdout);
	/* What a mapping was put over is ordinary again. */
	if (way->move == by_memfd)
		mmap(b, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);
	if (way->huge)
		huge_free(a, b);
	else if (way->b == &taker || way->b == &pin_taker)
		TRY(cosy_flush(b, MAX_BYTES));
}

void ways_measure(void)
{
	static const size_t sizes[] = {4, 8, 16, 64, 256, 1024, 4096};
	const int one = 1;

	pipe_new(the_pipe);
	unix_new(the_unix);
	tcp_new(the_tcp);
	tcp_new(the_zerocopy);
	TRY(setsockopt(the_zerocopy[1], SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)));
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors));
	TRY(cosy_port(MAX_BYTES, the_port));
	from = memory_new();
	to = memory_new();
	lender = cosy_move_alloc(MAX_BYTES, 0);
	taker = cosy_move_alloc(MAX_BYTES, 0);
	pin_lender = cosy_move_alloc(MAX_BYTES, COSY_MOVE_PINNABLE);
	pin_taker = cosy_move_alloc(MAX_BYTES, COSY_MOVE_PINNABLE);
	ring = mmap(NULL, MAX_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	TRY(io_uring_queue_init(8, &uring, 0));
	printf("Per page of 4 KB, both ends in one process\n%-44s", "KB");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		printf(" %7zu", sizes[i]);
	printf("\n");
	for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
		printf("%-44s", ways[w].name);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			if (sizes[i] << 10 <= ways[w].max)
				way_measure(&ways[w], sizes[i] << 10);
			else
				printf(" %7s", "-");
		}
		printf("\n");
	}
}
