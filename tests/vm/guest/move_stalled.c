/* SPDX-License-Identifier: MIT */
/*
 * Has the reader of a parcel wait in a page fault, which nobody serves: others who hold the parcel
 * get its pages all the same, and the reader what is left then.
 */
#include "move.h"
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PAGES 8UL
#define SIZE  (PAGES * PAGE)

/* Where the reader reads to, which userfaultfd is to fill. */
static char *missing;
static int uffd;

static void missing_new(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	missing = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(missing != MAP_FAILED);
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uintptr_t)missing;
	range.range.len = SIZE;
	MUST(uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api) && !ioctl(uffd, UFFDIO_REGISTER, &range));
}

/* Waits until the reader is in its fault. */
static void wait_for_fault(void)
{
	struct uffd_msg message;

	MUST(read(uffd, &message, sizeof(message)) == (ssize_t)sizeof(message));
	MUST(message.event == UFFD_EVENT_PAGEFAULT);
}

/* Serves the fault, and all that follow. */
static void serve(void)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)missing, SIZE } };

	MUST(!ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
}

struct reader {
	pthread_t thread;
	int parcel;
	ssize_t result;
};

static void *read_parcel(void *arg)
{
	struct reader *reader = arg;

	reader->result = read(reader->parcel, missing, SIZE);
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
	missing_new();
	reader.parcel = cosy_export(from, SIZE, how);
	MUST(reader.parcel >= 0);
	MUST(!pthread_create(&reader.thread, NULL, read_parcel, &reader));
	wait_for_fault();
	/* If it had to wait for the reader this would not end. */
	CHECK_CHILD(in_child(import_and_compare, &reader.parcel));
	serve();
	MUST(!pthread_join(reader.thread, NULL));
	CHECK(reader.result == left, "%s: %zd bytes were left", what, reader.result);
	CHECK(left <= 0 || move_differs(missing, SIZE, 1) < 0, "%s: others were read", what);
	close(reader.parcel);
	close(uffd);
	munmap(missing, SIZE);
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

static const struct part parts[] = {
	{ "copies", .run_in_child = copies },
	{ "donations", .run_in_child = donations },
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
