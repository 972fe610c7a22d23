/* SPDX-License-Identifier: MIT */
/*
 * Tests memory whose pages others may pin: ordinary calls get at it as at any memory, and what was
 * lent, copied or given away stays as it was, whoever has a pin and writes by it.
 *
 * The pin is process_vm_writev's.  It pins the pages and then reads what is to be written, from
 * memory that userfaultfd fills: so the page is pinned until the test fills that.
 */
#include "move.h"
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define PAGES 8UL
#define SIZE  (PAGES * PAGE)

static char got[SIZE], other[SIZE];

static struct pair pipe_new(void)
{
	int fds[2];

	MUST(!pipe2(fds, O_CLOEXEC));
	return (struct pair){ fds[0], fds[1] };
}

static char *pinnable_new(void)
{
	char *memory = cosy_move_alloc(SIZE, COSY_MOVE_PINNABLE);

	MUST(memory);
	return memory;
}

#define CHECK_IS(memory, size, message, what)                                                      \
	CHECK(move_differs(memory, size, message) < 0, "%s: word %ld is another", what,            \
	      move_differs(memory, size, message))

/* --- A pin that lasts ------------------------------------------------------------------------- */

struct pin {
	pthread_t thread;
	int uffd;
	char *memory; /* SIZE bytes, pinned to be written */
	char *source; /* of what will be written */
};

static void *pin_write(void *arg)
{
	struct pin *pin = arg;
	struct iovec local = { pin->source, SIZE }, remote = { pin->memory, SIZE };

	MUST(process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)SIZE);
	return NULL;
}

/* Pins SIZE bytes to be written. */
static struct pin *pin_new(char *memory)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct pin *pin = calloc(1, sizeof(*pin));
	struct uffd_msg message;

	pin->memory = memory;
	pin->source = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(pin->source != MAP_FAILED);
	pin->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	MUST(pin->uffd >= 0);
	range.range.start = (uintptr_t)pin->source;
	range.range.len = SIZE;
	MUST(!ioctl(pin->uffd, UFFDIO_API, &api) && !ioctl(pin->uffd, UFFDIO_REGISTER, &range));
	MUST(!pthread_create(&pin->thread, NULL, pin_write, pin));
	MUST(read(pin->uffd, &message, sizeof(message)) == (ssize_t)sizeof(message));
	MUST(message.event == UFFD_EVENT_PAGEFAULT);
	return pin;
}

/* Has a message written by the pin, which ends it. */
static void pin_end(struct pin *pin, uint64_t message)
{
	struct uffdio_copy copy = { .dst = (uintptr_t)pin->source,
				    .src = (uintptr_t)other,
				    .len = SIZE };

	move_fill(other, SIZE, message);
	MUST(!ioctl(pin->uffd, UFFDIO_COPY, &copy) && copy.copy == SIZE);
	MUST(!pthread_join(pin->thread, NULL));
	close(pin->uffd);
	munmap(pin->source, SIZE);
	free(pin);
}

/* --- What ordinary calls can do --------------------------------------------------------------- */

static void pages_spliced(char *memory)
{
	struct iovec piece = { memory, SIZE };
	struct pair p = pipe_new();

	move_fill(memory, SIZE, 1);
	MUST(vmsplice(p.to, &piece, 1, 0) == (ssize_t)SIZE);
	read_all(p.from, got, SIZE);
	CHECK_IS(got, SIZE, 1, "vmsplice");
	pair_close(p);
}

static void processes_access(char *memory)
{
	struct iovec local = { got, SIZE }, remote = { memory, SIZE };

	move_fill(memory, SIZE, 2);
	MUST(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)SIZE);
	CHECK_IS(got, SIZE, 2, "process_vm_readv");
	move_fill(got, SIZE, 3);
	MUST(process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)SIZE);
	CHECK_IS(memory, SIZE, 3, "process_vm_writev");
}

/* Direct I/O is with a disk only; elsewhere this is read and write. */
static void file_direct(char *memory)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_DIRECT, 0600);

	if (fd < 0)
		fd = open(".", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		return;
	move_fill(memory, SIZE, 4);
	MUST(pwrite(fd, memory, SIZE, 0) == (ssize_t)SIZE);
	move_fill(memory, SIZE, 5);
	MUST(pread(fd, memory, SIZE, 0) == (ssize_t)SIZE);
	CHECK_IS(memory, SIZE, 4, "direct I/O");
	close(fd);
}

static void sent_uncopied(char *memory)
{
	struct pair tcp = tcp_new();
	int one = 1;

	move_fill(memory, SIZE, 6);
	MUST(!setsockopt(tcp.to, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)));
	MUST(send(tcp.to, memory, SIZE, MSG_ZEROCOPY) == (ssize_t)SIZE);
	read_all(tcp.from, got, SIZE);
	CHECK_IS(got, SIZE, 6, "MSG_ZEROCOPY");
	pair_close(tcp);
}

static void debugger_looks(char *memory)
{
	uint64_t word = 0;
	int status;
	pid_t pid;

	move_fill(memory, SIZE, 7);
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(move_word(7, 1) + 1 != *(uint64_t *)(memory + 8));
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	errno = 0;
	word = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, memory + 8, NULL);
	CHECK(!errno && word == move_word(7, 1), "%s", strerror(errno));
	CHECK(!ptrace(PTRACE_POKEDATA, pid, memory + 8, word + 1), "%s", strerror(errno));
	MUST(!ptrace(PTRACE_CONT, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid);
	CHECK(!status, "the child ended with %#x", status);
	CHECK_IS(memory, SIZE, 7, "the parent's, after a debugger wrote to the child's");
}

static void calls(void *unused)
{
	char *memory = pinnable_new();

	(void)unused;
	CHECK(!cosy_move_alloc(SIZE, 2) && errno == EINVAL, "%s", strerror(errno));
	pages_spliced(memory);
	processes_access(memory);
	file_direct(memory);
	sent_uncopied(memory);
	debugger_looks(memory);
	cosy_move_free(memory, SIZE);
}

/* --- Pinned, then moved ----------------------------------------------------------------------- */

/* Lends what is pinned: to a reader, and to a receiver of either kind. */
static void lent(void *unused)
{
	char *to[] = { move_alloc(PAGES), pinnable_new() }, *from = pinnable_new();
	struct pair p = pipe_new();

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct pin *pin;

		move_fill(from, SIZE, 1);
		pin = pin_new(from);
		MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
		if (i < 2)
			transfer_all(p.from, to[i], SIZE, 0);
		pin_end(pin, 2);
		if (i == 2)
			read_all(p.from, got, SIZE);
		CHECK_IS(i < 2 ? to[i] : got, SIZE, 1, "lent while it was pinned");
		CHECK_IS(from, SIZE, 2, "what was written by the pin");
	}
	pair_close(p);
}

/* Exports what is pinned, and imports it before or after it is written. */
static void exported(void *unused)
{
	static const enum cosy_how hows[] = { COSY_COPY, COSY_DONATE, COSY_DONATE_ZERO };
	char *to[] = { move_alloc(PAGES), pinnable_new() }, *from = pinnable_new();

	(void)unused;
	for (unsigned int i = 0; i < 12; i++) {
		enum cosy_how how = hows[i % 3];
		struct pin *pin;
		int parcel;

		move_fill(from, SIZE, 1);
		pin = pin_new(from);
		parcel = cosy_export(from, SIZE, how);
		MUST(parcel >= 0);
		if (i & 4)
			pin_end(pin, 2);
		MUST(cosy_import(parcel, to[i / 6], SIZE, 0) == (ssize_t)SIZE);
		if (!(i & 4))
			pin_end(pin, 2);
		CHECK_IS(to[i / 6], SIZE, 1, "exported while it was pinned");
		if (how == COSY_COPY)
			CHECK_IS(from, SIZE, 2, "what was written by the pin");
		if (how == COSY_DONATE_ZERO)
			CHECK(move_is_zero(from, SIZE), "what was donated shows");
		MUST(!cosy_flush(from, SIZE));
		close(parcel);
	}
}

static void passed(void *unused)
{
	char *window = move_alloc(PAGES), *from = pinnable_new();
	size_t at;
	int ends[2];

	(void)unused;
	MUST(!cosy_port(SIZE, ends));
	for (int i = 0; i < 2; i++) {
		enum cosy_how how = i ? COSY_DONATE_ZERO : COSY_COPY;
		struct pin *pin;

		move_fill(from, SIZE, 1);
		pin = pin_new(from);
		MUST(cosy_pass(ends[1], 0, from, SIZE, how) == (ssize_t)SIZE);
		MUST(cosy_take(ends[0], window, SIZE, &at, COSY_WILL_WRITE) == (ssize_t)SIZE);
		pin_end(pin, 2);
		CHECK_IS(window, SIZE, 1, "passed while it was pinned");
		MUST(!cosy_flush(from, SIZE));
	}
}

/* Gives away what is pinned. */
static void given(void *unused)
{
	char *to = move_alloc(PAGES), *from = pinnable_new();
	struct pair p = pipe_new();
	struct pin *pin;

	(void)unused;
	move_fill(from, SIZE, 1);
	pin = pin_new(from);
	MUST(cosy_loan(p.to, from, SIZE, COSY_GIVE) == (ssize_t)SIZE);
	transfer_all(p.from, to, SIZE, COSY_WILL_WRITE);
	pin_end(pin, 2);
	CHECK_IS(to, SIZE, 1, "given while it was pinned");
	CHECK(move_is_zero(from, SIZE), "what was given is there");
	pair_close(p);
}

static void write_remote(char *memory)
{
	struct iovec local = { got, SIZE }, remote = { memory, SIZE };

	move_fill(got, SIZE, 2);
	MUST(process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)SIZE);
}

/* A child has a copy of what is pinned. */
static void forked(void *unused)
{
	struct pair go = pipe_new();
	char *from = pinnable_new(), c = 0;
	struct pin *pin;
	int status;
	pid_t pid;

	(void)unused;
	move_fill(from, SIZE, 1);
	pin = pin_new(from);
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		MUST(read(go.from, &c, 1) == 1);
		CHECK_IS(from, SIZE, 1, "the child's");
		/* It may be pinned as well. */
		write_remote(from);
		CHECK_IS(from, SIZE, 2, "what the child wrote by a pin");
		_exit(check_end());
	}
	pin_end(pin, 2);
	MUST(write(go.to, &c, 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "the child ended with %#x", status);
	CHECK_IS(from, SIZE, 2, "what was written by the pin");
	pair_close(go);
}

/* What is shared is written by a pin for both. */
static void shared(void *unused)
{
	char *to = move_alloc(PAGES), *from = pinnable_new();
	struct pin *pin;
	int parcel;

	(void)unused;
	move_fill(from, SIZE, 1);
	parcel = cosy_export(from, SIZE, COSY_SHARE);
	MUST(parcel >= 0 && cosy_import(parcel, to, SIZE, 0) == (ssize_t)SIZE);
	pin = pin_new(from);
	pin_end(pin, 2);
	CHECK_IS(to, SIZE, 2, "shared");
	close(parcel);
}

/* Mappings come, go and change while pages are pinned, and the pages stay. */
static void remapped(void *unused)
{
	char *from = pinnable_new(), *there;
	struct pair p = pipe_new();
	struct pin *pin;

	(void)unused;
	move_fill(from, SIZE, 1);
	pin = pin_new(from);
	MUST(!mprotect(from, SIZE, PROT_READ));
	CHECK_IS(from, SIZE, 1, "read-only");
	MUST(!mprotect(from, SIZE, PROT_NONE) && !mprotect(from, SIZE, PROT_READ | PROT_WRITE));
	MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
	there = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(there != MAP_FAILED);
	MUST(mremap(from, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
	pin_end(pin, 2);
	CHECK_IS(there, SIZE, 2, "moved, and written by the pin");
	read_all(p.from, got, SIZE);
	CHECK_IS(got, SIZE, 1, "lent before it moved");
	if (moves()) {
		/* The bytes are the arena's, not the entries'. */
		MUST(!madvise(there, SIZE, MADV_DONTNEED));
		CHECK_IS(there, SIZE, 2, "after MADV_DONTNEED");
		MUST(!cosy_flush(there, SIZE));
		CHECK(move_is_zero(there, SIZE), "flushed where it was moved to");
	}
	pin = pin_new(there);
	MUST(!munmap(there, SIZE));
	pin_end(pin, 3);
	pair_close(p);
}

/* --- Moved, then pinned ----------------------------------------------------------------------- */

static void write_file(char *memory)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_DIRECT, 0600);
	char *aligned = aligned_alloc(PAGE, SIZE);

	if (fd < 0)
		fd = open(".", O_TMPFILE | O_RDWR, 0600);
	MUST(fd >= 0 && aligned);
	move_fill(aligned, SIZE, 2);
	MUST(pwrite(fd, aligned, SIZE, 0) == (ssize_t)SIZE);
	MUST(pread(fd, memory, SIZE, 0) == (ssize_t)SIZE);
	close(fd);
	free(aligned);
}

static void write_pinned(char *memory)
{
	pin_end(pin_new(memory), 2);
}

/* Flushes and donates memory of which the kernel has to clear a part otherwise. */
static void mixed(void *unused)
{
	static const char zeros[SIZE];
	char *memory = pinnable_new();
	int fd;

	(void)unused;
	MUST(mmap(memory, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		  0) == memory);
	move_fill(memory, SIZE, 1);
	MUST(!cosy_flush(memory, SIZE));
	CHECK(!memcmp(memory, zeros, SIZE), "flushed memory has bytes");
	move_fill(memory, SIZE, 2);
	fd = cosy_export(memory, SIZE, COSY_DONATE);
	MUST(fd >= 0 && !cosy_flush(memory, SIZE));
	CHECK(!memcmp(memory, zeros, SIZE), "donated memory has bytes");
	MUST(pread(fd, got, SIZE, 0) == (ssize_t)SIZE);
	CHECK_IS(got, SIZE, 2, "donated");
	close(fd);
}

/* Nothing that pins a page to write it shows in what was lent before. */
static void written(void *unused)
{
	static void (*const ways[])(char *) = { write_file, write_remote, write_pinned };
	char *to = move_alloc(PAGES), *from = pinnable_new();
	struct pair p = pipe_new();

	(void)unused;
	for (int i = 0; i < 6; i++) {
		move_fill(from, SIZE, 1);
		MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
		/* A read-only entry is there, or none. */
		if (i & 1)
			CHECK_IS(from, SIZE, 1, "what was lent");
		ways[i / 2](from);
		transfer_all(p.from, to, SIZE, 0);
		CHECK_IS(to, SIZE, 1, "lent, then written by another way");
		CHECK_IS(from, SIZE, 2, "what was written");
	}
	/* The same where the receiver has it, and pins it. */
	move_fill(to, SIZE, 1);
	MUST(cosy_loan(p.to, to, SIZE, 0) == (ssize_t)SIZE);
	transfer_all(p.from, from, SIZE, 0);
	write_pinned(from);
	CHECK_IS(to, SIZE, 1, "the lender's");
	CHECK_IS(from, SIZE, 2, "the receiver's");
	pair_close(p);
}

/* Pages that a pipe has pinned to be read, before or after a loan. */
static void read_pinned(void *unused)
{
	char *to = move_alloc(PAGES), *from = pinnable_new();
	struct pair p = pipe_new(), pins = pipe_new();
	struct iovec piece = { from, SIZE };

	(void)unused;
	for (int i = 0; i < 2; i++) {
		move_fill(from, SIZE, 1);
		if (i)
			MUST(vmsplice(pins.to, &piece, 1, 0) == (ssize_t)SIZE);
		MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
		if (!i)
			MUST(vmsplice(pins.to, &piece, 1, 0) == (ssize_t)SIZE);
		move_fill(from, SIZE, 2);
		transfer_all(p.from, to, SIZE, 0);
		CHECK_IS(to, SIZE, 1, "lent, and pinned by a pipe");
		read_all(pins.from, got, SIZE);
		/* A pin sees later writes, unless the page was lent before. */
		CHECK(move_differs(got, SIZE, i || !moves() ? 2 : 1) < 0, "what the pipe has, %d",
		      i);
		CHECK_IS(from, SIZE, 2, "what was written");
	}
	/* Who takes a page over from vmsplice has a copy. */
	move_fill(from, SIZE, 1);
	MUST(vmsplice(pins.to, &piece, 1, 0) == (ssize_t)SIZE);
	transfer_all(pins.from, to, SIZE, COSY_WILL_WRITE);
	move_fill(from, SIZE, 2);
	CHECK_IS(to, SIZE, 1, "vmspliced, then received");
	pair_close(p);
	pair_close(pins);
}

/* A page of the other kind of memory cannot be pinned there, and can here. */
static void kinds(void *unused)
{
	char *normal = move_alloc(PAGES), *pinnable = pinnable_new();
	struct iovec piece = { normal, SIZE };
	struct pair p = pipe_new();
	int parcel;

	(void)unused;
	if (!moves())
		return;
	move_fill(normal, SIZE, 1);
	CHECK(vmsplice(p.to, &piece, 1, 0) == -1 && errno == EFAULT, "%s", strerror(errno));
	parcel = cosy_export(normal, SIZE, COSY_DONATE_ZERO);
	MUST(parcel >= 0 && cosy_import(parcel, pinnable, SIZE, 0) == (ssize_t)SIZE);
	close(parcel);
	piece.iov_base = pinnable;
	MUST(vmsplice(p.to, &piece, 1, 0) == (ssize_t)SIZE);
	parcel = cosy_export(pinnable, SIZE, COSY_DONATE_ZERO);
	MUST(parcel >= 0 && cosy_import(parcel, normal, SIZE, 0) == (ssize_t)SIZE);
	close(parcel);
	piece.iov_base = normal;
	CHECK(vmsplice(p.to, &piece, 1, 0) == -1 && errno == EFAULT, "%s", strerror(errno));
	read_all(p.from, got, SIZE);
	CHECK_IS(got, SIZE, 1, "what the pipe has");
	CHECK_IS(normal, SIZE, 1, "there and back");
	pair_close(p);
}

/* --- At the same time ------------------------------------------------------------------------- */

#define ROUNDS 60

static char *racing;
static volatile bool stop;

static void *writes(void *unused)
{
	(void)unused;
	for (uint64_t k = 1; !stop; k++) {
		for (size_t i = 0; i < PAGES; i++)
			*(volatile uint64_t *)(racing + i * PAGE + k % 512 * 8) = k;
		if (k % 8 == 0)
			sched_yield();
	}
	return NULL;
}

static void *pins_and_drops(void *unused)
{
	uint64_t word = 0;

	(void)unused;
	while (!stop) {
		struct iovec local = { &word, 8 }, remote = { racing + word % SIZE / 8 * 8, 8 };

		word += 4104;
		process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
		madvise(racing, SIZE, MADV_DONTNEED);
		sched_yield();
	}
	return NULL;
}

/* What is received does not change, while others write, pin and unmap what was lent. */
static void races(void *unused)
{
	char *to[] = { move_alloc(PAGES), pinnable_new() };
	struct pair p = pipe_new();
	pthread_t threads[2];

	(void)unused;
	/* It would drop the bytes of ordinary memory. */
	if (!moves())
		return;
	racing = pinnable_new();
	MUST(!pthread_create(&threads[0], NULL, writes, NULL));
	MUST(!pthread_create(&threads[1], NULL, pins_and_drops, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		char *there = to[i % 2];

		MUST(cosy_loan(p.to, racing, SIZE, 0) == (ssize_t)SIZE);
		transfer_all(p.from, there, SIZE, i % 4 < 2 ? 0 : COSY_POPULATE);
		memcpy(got, there, SIZE);
		sched_yield();
		CHECK(!memcmp(got, there, SIZE), "round %d: what was received has changed", i);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		MUST(!pthread_join(threads[i], NULL));
	pair_close(p);
}

static const struct part parts[] = {
	{ "calls", .run_in_child = calls },	  { "lent", .run_in_child = lent },
	{ "exported", .run_in_child = exported }, { "passed", .run_in_child = passed },
	{ "given", .run_in_child = given },	  { "forked", .run_in_child = forked },
	{ "shared", .run_in_child = shared },	  { "remapped", .run_in_child = remapped },
	{ "written", .run_in_child = written },	  { "read_pinned", .run_in_child = read_pinned },
	{ "kinds", .run_in_child = kinds },	  { "mixed", .run_in_child = mixed },
	{ "races", .run_in_child = races },
};

int main(int argc, char **argv)
{
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (uffd < 0)
		SKIP("faults of the kernel need root: %s", strerror(errno));
	close(uffd);
	if (process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) < 0)
		SKIP("nothing to pin with, process_vm_readv: %s", strerror(errno));
	MUST(!chdir(getenv("TMPDIR") ?: "/tmp"));
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
