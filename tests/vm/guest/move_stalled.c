/* SPDX-License-Identifier: MIT */
/*
 * Has the reader of a parcel, or who passes or takes a message, wait in a page fault, which nobody
 * serves: others who hold the parcel or the port go on all the same, and who waited gets what is left
 * then.
 */
#include "move.h"
#include "raw.h"
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PAGES	   8UL
#define SIZE	   (PAGES * PAGE)
#define HUGE_PAGES 512UL

/* Where the fault is, which userfaultfd is to fill. */
static char *missing;
static size_t missing_size;
static int uffd;

/* Makes memory that has no pages, in place of other if `where` is not NULL. */
static void missing_new(char *where, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	missing = mmap(where, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
	missing_size = size;
	MUST(missing != MAP_FAILED);
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uintptr_t)missing;
	range.range.len = size;
	MUST(uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api) && !ioctl(uffd, UFFDIO_REGISTER, &range));
}

/* Has an event when the request has ended; -1: none was started. */
static int request_ended = -1;

/* Waits until another thread is in its fault; one that fails before ends the test. */
static void wait_for_fault(void)
{
	struct pollfd either[] = { { uffd, POLLIN, 0 }, { request_ended, POLLIN, 0 } };
	struct uffd_msg message;

	MUST(poll(either, COUNT(either), -1) > 0 && either[0].revents);
	MUST(read(uffd, &message, sizeof(message)) == (ssize_t)sizeof(message));
	MUST(message.event == UFFD_EVENT_PAGEFAULT);
}

/* Serves the fault, and all that follow. */
static void serve(void)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)missing, missing_size } };

	MUST(!ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
}

struct reader {
	pthread_t thread;
	int parcel;
	char *to; /* the first page is there */
	ssize_t result;
};

static void *read_parcel(void *arg)
{
	struct reader *reader = arg;

	reader->result = read(reader->parcel, reader->to, SIZE);
	return NULL;
}

static void import_and_compare(void *parcel)
{
	char *to = move_alloc(PAGES);
	ssize_t came = cosy_import(*(int *)parcel, to, SIZE, 0);

	_exit(came != (ssize_t)SIZE || move_differs(to, SIZE, 1) >= 0);
}

static void reader_stalls(enum cosy_how how, const char *what, ssize_t left)
{
	char *from = move_alloc(PAGES);
	struct reader reader = { .result = -1 };

	move_fill(from, SIZE, 1);
	reader.to = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(reader.to != MAP_FAILED);
	reader.to[0] = 1;
	missing_new(reader.to + PAGE, SIZE - PAGE);
	reader.parcel = cosy_export(from, SIZE, how);
	MUST(reader.parcel >= 0);
	MUST(!pthread_create(&reader.thread, NULL, read_parcel, &reader));
	wait_for_fault();
	/* If it had to wait for the reader this would not end. */
	CHECK_CHILD(in_child(import_and_compare, &reader.parcel));
	serve();
	MUST(!pthread_join(reader.thread, NULL));
	CHECK(reader.result == left, "%s: %zd bytes were left", what, reader.result);
	CHECK(left <= 0 || move_differs(reader.to, SIZE, 1) < 0, "%s: others were read", what);
	close(reader.parcel);
	close(uffd);
	munmap(reader.to, SIZE);
	cosy_move_free(from, SIZE);
}

static void copies(void *unused)
{
	(void)unused;
	reader_stalls(COSY_COPY, "a copy", SIZE);
}

static void donations(void *unused)
{
	(void)unused;
	reader_stalls(COSY_DONATE, "a donation", 0);
}

/* --- Ports ------------------------------------------------------------------------------ */

static int raw_fd, ends[2];

/* A TAKE or a PASS of another thread's. */
struct request {
	pthread_t thread;
	struct cosy_move move;
	long result;
};

static void *make_request(void *arg)
{
	struct request *request = arg;

	request->result = raw_ioctl(raw_fd, COSY_IOC_MOVE, &request->move);
	eventfd_write(request_ended, 1);
	return NULL;
}

/* Starts a request, which has to wait in its fault. */
static void request_start(struct request *request, uint32_t operation, char *memory, size_t length,
			  uint64_t at)
{
	request->move =
		(struct cosy_move){ .size = sizeof(request->move),
				    .operation = operation,
				    .address = (uintptr_t)memory,
				    .length = length,
				    .fd = ends[operation == COSY_MOVE_PASS],
				    .at = at,
				    .how = operation == COSY_MOVE_PASS ? COSY_MOVE_COPY : 0 };
	request_ended = eventfd(0, EFD_CLOEXEC);
	MUST(request_ended >= 0);
	MUST(!pthread_create(&request->thread, NULL, make_request, request));
	wait_for_fault();
}

/* Has the fault served, and returns the request's result. */
static long request_end(struct request *request)
{
	serve();
	MUST(!pthread_join(request->thread, NULL));
	close(uffd);
	close(request_ended);
	request_ended = -1;
	return request->result;
}

static void pass(size_t at, char *memory, size_t size, enum cosy_how how)
{
	MUST(cosy_pass(ends[1], at, memory, size, how) == (ssize_t)size);
}

/* Takes a message while another taker has seen it: that one gets the next message, whole. */
static void takes(void *unused)
{
	char *from = move_alloc(PAGES), *window = move_alloc(PAGES), *other = move_alloc(PAGES);
	struct request request;
	size_t at;
	long came;

	(void)unused;
	raw_fd = raw_open();
	MUST(!cosy_port(SIZE, ends));
	move_fill(from, SIZE, 1);
	move_fill(window, SIZE, 7);
	pass(0, from, 2 * PAGE, COSY_COPY);
	missing_new(NULL, PAGE);
	request_start(&request, COSY_MOVE_TAKE, window, SIZE, (uintptr_t)missing);
	MUST(cosy_take(ends[0], other, SIZE, &at, 0) == (ssize_t)(2 * PAGE) && !at);
	CHECK(move_differs(other, 2 * PAGE, 1) < 0, "the first message");
	move_fill(from, SIZE, 2);
	pass(4 * PAGE, from, PAGE, COSY_COPY);
	came = request_end(&request);
	CHECK(came == (long)PAGE && *(uint64_t *)missing == 4 * PAGE, "%ld at %#llx", came,
	      *(unsigned long long *)missing);
	CHECK(move_differs(window, 4 * PAGE, 7) < 0, "a message that another took shows");
	CHECK(move_differs(window + 4 * PAGE, PAGE, 2) < 0, "the next message");
	/* All places are free. */
	MUST(!fcntl(ends[1], F_SETFL, O_NONBLOCK));
	pass(0, from, SIZE, COSY_COPY);
}

/* The same where the next message is as long and for the same place, but not of 2 MB. */
static void takes_alike(void *unused)
{
	char *from = move_alloc(HUGE_PAGES), *window = move_alloc(HUGE_PAGES),
	     *other = move_alloc(HUGE_PAGES);
	const size_t size = HUGE_PAGES * PAGE;
	struct request request;
	size_t at;

	(void)unused;
	raw_fd = raw_open();
	MUST(!cosy_port(size, ends));
	for (int turn = 0; turn < 2; turn++) {
		/* A page of its own is not of 2 MB any more. */
		MUST(!cosy_flush(from, turn ? PAGE : size));
		move_fill(from, size, 1);
		pass(0, from, size, COSY_DONATE_ZERO);
		missing_new(NULL, PAGE);
		request_start(&request, COSY_MOVE_TAKE, window, size, (uintptr_t)missing);
		MUST(cosy_take(ends[0], other, size, &at, 0) == (ssize_t)size && !at);
		MUST(!cosy_flush(from, turn ? size : PAGE));
		move_fill(from, size, 2);
		pass(0, from, size, COSY_DONATE_ZERO);
		CHECK(request_end(&request) == (long)size, "%ld", request.result);
		CHECK(move_differs(other, size, 1) < 0, "the first message");
		CHECK(move_differs(window, size, 2) < 0, "the next message");
	}
}

/* Unmaps the window of who has seen a message: it is not lost. */
static void window_goes(void *unused)
{
	char *from = move_alloc(PAGES), *window = move_alloc(PAGES), *other = move_alloc(PAGES);
	struct request request;
	size_t at;

	(void)unused;
	raw_fd = raw_open();
	MUST(!cosy_port(SIZE, ends));
	move_fill(from, SIZE, 1);
	pass(0, from, SIZE, COSY_DONATE_ZERO);
	missing_new(NULL, PAGE);
	request_start(&request, COSY_MOVE_TAKE, window, SIZE, (uintptr_t)missing);
	cosy_move_free(window, SIZE);
	CHECK(request_end(&request) == -EFAULT, "%ld", request.result);
	MUST(cosy_take(ends[0], other, SIZE, &at, 0) == (ssize_t)SIZE && !at);
	CHECK(move_differs(other, SIZE, 1) < 0, "the message");
}

/* Returns how many pages of this user's arenas others have, too. */
static unsigned long long under_way(void)
{
	struct cosy_moving moving = { .size = sizeof(moving) };

	do
		MUST(!raw_ioctl(raw_fd, COSY_IOC_MOVING, &moving));
	while (moving.cursor[0] | moving.cursor[1]);
	return moving.under_way;
}

/* Closes the end that takes while a message is being passed: nobody has its pages. */
static void taker_goes(void *unused)
{
	char *from = move_alloc(PAGES), *window = move_alloc(PAGES);
	struct request request;
	size_t at;

	(void)unused;
	raw_fd = raw_open();
	MUST(!cosy_port(SIZE, ends));
	move_fill(from, SIZE, 1);
	/* The last bytes are copied first. */
	missing_new(from + 4 * PAGE, PAGE);
	request_start(&request, COSY_MOVE_PASS, from, 4 * PAGE + 8, 0);
	/* It has its places, but is not there yet. */
	MUST(!fcntl(ends[0], F_SETFL, O_NONBLOCK) && !fcntl(ends[1], F_SETFL, O_NONBLOCK));
	CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == -1 && errno == EAGAIN, "%s",
	      strerror(errno));
	CHECK(cosy_pass(ends[1], PAGE, from, PAGE, COSY_COPY) == -1 && errno == EAGAIN, "%s",
	      strerror(errno));
	close(ends[0]);
	CHECK(request_end(&request) == 4 * PAGE + 8, "%ld", request.result);
	CHECK(!under_way(), "%llu pages are under way", under_way());
	CHECK(cosy_pass(ends[1], 0, from, PAGE, COSY_COPY) == -1 && errno == EPIPE, "%s",
	      strerror(errno));
	close(ends[1]);
	CHECK(move_differs(from, 4 * PAGE, 1) < 0, "the sender's");
}

static const struct part parts[] = {
	{ "copies", .run_in_child = copies },
	{ "donations", .run_in_child = donations },
	{ "takes", .run_in_child = takes },
	{ "takes_alike", .run_in_child = takes_alike },
	{ "window_goes", .run_in_child = window_goes },
	{ "taker_goes", .run_in_child = taker_goes },
};

int main(int argc, char **argv)
{
	int probe = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (probe < 0)
		SKIP("faults of the kernel need root: %s", strerror(errno));
	close(probe);
	if (!moves())
		SKIP("nothing moves here");
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
