/* SPDX-License-Identifier: MIT */
/*
 * Tests what a program can do to arenas by requests of its own, mappings, protection and debuggers:
 * nothing gets at memory beyond an arena, at pages that were lent or at others', and what is refused
 * leaves nothing.
 */
#include "move.h"
#include "raw.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define PAGES 8UL
#define SIZE  (PAGES * PAGE)
#define HUGE  (2UL << 20)

static int raw_fd;
static char got[SIZE];

static long move_request(uint32_t operation, const void *memory, uint64_t length, int fd,
			 uint32_t flags)
{
	struct cosy_move move = { .size = sizeof(move),
				  .operation = operation,
				  .address = (uintptr_t)memory,
				  .length = length,
				  .fd = fd,
				  .flags = flags };

	return raw_ioctl(raw_fd, COSY_IOC_MOVE, &move);
}

static long pass_request(const void *memory, uint64_t length, int fd, uint64_t at, uint32_t how)
{
	struct cosy_move move = { .size = sizeof(move),
				  .operation = COSY_MOVE_PASS,
				  .address = (uintptr_t)memory,
				  .length = length,
				  .fd = fd,
				  .at = at,
				  .how = how };

	return raw_ioctl(raw_fd, COSY_IOC_MOVE, &move);
}

static long arena_request(uint64_t length, uint32_t flags)
{
	struct cosy_arena_request request = { .size = sizeof(request),
					      .flags = flags,
					      .length = length };

	return raw_ioctl(raw_fd, COSY_IOC_ARENA, &request);
}

static struct cosy_moving moving_now(void)
{
	struct cosy_moving moving = { .size = sizeof(moving) };

	do
		MUST(!raw_ioctl(raw_fd, COSY_IOC_MOVING, &moving));
	while (moving.cursor[0] | moving.cursor[1]);
	return moving;
}

#define CHECK_IS(memory, size, message, what)                                                      \
	CHECK(move_differs(memory, size, message) < 0, "%s: word %ld is another", what,            \
	      move_differs(memory, size, message))

/* Checks that a request is refused. */
#define REFUSED(request, error)                                                                    \
	do {                                                                                       \
		long ret_ = (request);                                                             \
		CHECK(ret_ == -(error), "%s: %ld", #request, ret_);                                \
	} while (0)

/* Reads what a pipe has left. */
static void pipe_drop(int fd)
{
	MUST(!fcntl(fd, F_SETFL, O_NONBLOCK));
	while (read(fd, got, SIZE) > 0)
		;
}

/* --- Mappings --------------------------------------------------------------------------- */

static char *map_arena(long fd, uint64_t length, int rights, int flags, off_t at)
{
	return mmap(NULL, length, rights, flags, (int)fd, at);
}

#define UNMAPPABLE(fd, length, rights, flags, at, error)                                           \
	CHECK(map_arena(fd, length, rights, flags, at) == MAP_FAILED && errno == (error),          \
	      #length " at " #at ", " #rights ", " #flags ": %s", strerror(errno))

/* An arena is mapped whole, shared, without a right to execute, once, and by who made it. */
static void mapped(void *unused)
{
	const int both = PROT_READ | PROT_WRITE;
	long fd;
	int status, other = epoll_create1(EPOLL_CLOEXEC), no_code;
	char *memory;
	pid_t pid;

	(void)unused;
	/* Later kernels refuse code from what has no name in any file system before they ask cosy.ko. */
	MUST(other >= 0 && mmap(NULL, PAGE, PROT_EXEC, MAP_SHARED, other, 0) == MAP_FAILED);
	no_code = errno == EPERM ? EPERM : EINVAL;
	close(other);
	raw_fd = raw_open();
	REFUSED(arena_request(0, 0), EINVAL);
	REFUSED(arena_request(PAGE + 1, 0), EINVAL);
	REFUSED(arena_request(COSY_MAX_ARENA + PAGE, 0), EINVAL);
	REFUSED(arena_request(PAGE, 2), EINVAL);
	for (uint32_t flags = 0; flags <= COSY_ARENA_PINNABLE; flags++) {
		fd = arena_request(SIZE, flags);
		MUST(fd >= 0);
		UNMAPPABLE(fd, SIZE + PAGE, both, MAP_SHARED, 0, EINVAL);
		UNMAPPABLE(fd, SIZE - PAGE, both, MAP_SHARED, 0, EINVAL);
		UNMAPPABLE(fd, SIZE, both, MAP_SHARED, PAGE, EINVAL);
		UNMAPPABLE(fd, SIZE - PAGE, both, MAP_SHARED, PAGE, EINVAL);
		UNMAPPABLE(fd, SIZE, both, MAP_PRIVATE, 0, EINVAL);
		UNMAPPABLE(fd, SIZE, both | PROT_EXEC, MAP_SHARED, 0, no_code);
		pid = child_start();
		if (!pid) {
			UNMAPPABLE(fd, SIZE, both, MAP_SHARED, 0, EXDEV);
			_exit(check_end());
		}
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK_CHILD(status);
		memory = map_arena(fd, SIZE, both, MAP_SHARED, 0);
		MUST(memory != MAP_FAILED);
		UNMAPPABLE(fd, SIZE, both, MAP_SHARED, 0, EBUSY);
		move_fill(memory, SIZE, 1);
		CHECK_IS(memory, SIZE, 1, "an arena of one's own");
		CHECK(mremap(memory, 0, SIZE, MREMAP_MAYMOVE) == MAP_FAILED, "a second mapping");
		CHECK(mremap(memory, SIZE, SIZE + PAGE, MREMAP_MAYMOVE) == MAP_FAILED,
		      "a mapping grew");
		MUST(!munmap(memory, SIZE));
		UNMAPPABLE(fd, SIZE, both, MAP_SHARED, 0, EBUSY);
		close((int)fd);
	}
}

/* Maps memory for the page's protection key and forbids the thread that. */
static void keys(void *unused)
{
	char *memory = move_alloc(PAGES);
	int key, fds[2];

	(void)unused;
	raw_fd = raw_open();
	move_fill(memory, SIZE, 1);
	MUST(!pipe(fds));
	key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
	if (key < 0) {
		printf("protection keys: not tried, %s\n", strerror(errno));
		return;
	}
	MUST(!pkey_mprotect(memory, SIZE, PROT_READ | PROT_WRITE, key));
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, fds[1], 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_COPY, memory, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_FLUSH, memory, SIZE, -1, 0), EFAULT);
	MUST(!pkey_mprotect(memory, SIZE, PROT_READ | PROT_WRITE, 0));
	CHECK_IS(memory, SIZE, 1, "memory that was forbidden");
}

/* --- Rights ----------------------------------------------------------------------------- */

struct kind {
	const char *name;
	size_t size;
	unsigned int flags;
};

/* Reads memory that may not be written, whose entry that makes, and writes it. */
static void write_read_only(void *arg)
{
	const struct kind *kind = arg;
	struct rlimit none = { 0, 0 };
	char *memory = cosy_move_alloc(kind->size, kind->flags);

	setrlimit(RLIMIT_CORE, &none);
	MUST(memory && !mprotect(memory, kind->size, PROT_READ));
	*(volatile char *)memory = *(volatile char *)memory;
	_exit(0);
}

/* Nothing takes pages from memory that may not be written, or puts any there. */
static void rights(void *unused)
{
	char *memory = move_alloc(PAGES), *pinnable = cosy_move_alloc(SIZE, COSY_MOVE_PINNABLE),
	     *huge = move_alloc(HUGE / PAGE);
	struct kind all[] = { { "an arena", SIZE, 0 },
			      { "a pinnable one", SIZE, COSY_MOVE_PINNABLE },
			      { "2 MB", HUGE, 0 } };
	uint64_t at;
	struct cosy_move take = { .size = sizeof(take),
				  .operation = COSY_MOVE_TAKE,
				  .address = (uintptr_t)pinnable,
				  .length = SIZE,
				  .at = (uintptr_t)&at };
	struct pair port, p;
	int parcel, ends[2], fds[2], status;

	(void)unused;
	raw_fd = raw_open();
	MUST(pinnable && !cosy_port(SIZE, ends) && !pipe(fds));
	port = (struct pair){ ends[0], ends[1] };
	p = (struct pair){ fds[0], fds[1] };
	move_fill(memory, SIZE, 1);
	move_fill(pinnable, SIZE, 1);
	move_fill(huge, HUGE, 1);
	MUST(!mprotect(memory, SIZE, PROT_READ) && !mprotect(pinnable, SIZE, PROT_READ) &&
	     !mprotect(huge, HUGE, PROT_READ));
	for (size_t i = 0; i < COUNT(all); i++) {
		status = in_child(write_read_only, &all[i]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%s is written: %#x",
		      all[i].name, (unsigned int)status);
	}
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, p.to, COSY_MOVE_GIVE), EFAULT);
	REFUSED(move_request(COSY_MOVE_SHARE, memory, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_DONATE, memory, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_DONATE_ZERO, huge, HUGE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_FLUSH, memory, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_READY, memory, SIZE, -1, COSY_MOVE_WILL_WRITE), EFAULT);
	REFUSED(pass_request(memory, SIZE, port.to, 0, COSY_MOVE_DONATE), EFAULT);
	parcel = (int)move_request(COSY_MOVE_COPY, memory, SIZE, -1, 0);
	MUST(parcel >= 0);
	REFUSED(move_request(COSY_MOVE_IMPORT, pinnable, SIZE, parcel, 0), EFAULT);
	MUST(pass_request(memory, SIZE, port.to, 0, COSY_MOVE_COPY) == (long)SIZE);
	take.fd = port.from;
	REFUSED(raw_ioctl(raw_fd, COSY_IOC_MOVE, &take), EFAULT);
	/* Nothing of it is in the pipe. */
	MUST(!fcntl(p.from, F_SETFL, O_NONBLOCK));
	CHECK(read(p.from, got, SIZE) == -1 && errno == EAGAIN, "what was refused was lent");
	MUST(write(p.to, got, PAGE) == (ssize_t)PAGE);
	REFUSED(move_request(COSY_MOVE_TRANSFER, memory, SIZE, p.from, 0), EFAULT);
	MUST(!mprotect(memory, SIZE, PROT_NONE));
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, p.to, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_READY, memory, SIZE, -1, 0), EFAULT);
	MUST(pread(port.from, got, SIZE, 0) == (ssize_t)SIZE);
	REFUSED(pass_request(memory, SIZE, port.to, 0, COSY_MOVE_COPY), EFAULT);
	MUST(!mprotect(memory, SIZE, PROT_READ));
	CHECK_IS(memory, SIZE, 1, "what may not be written");
	CHECK_IS(pinnable, SIZE, 1, "what may not be written, and be pinned");
	CHECK_IS(huge, HUGE, 1, "2 MB that may not be written");
	close(parcel);
	pair_close(port);
	pair_close(p);
}

/* A debugger gets at no page that the program could not, and at none that was lent. */
static void debuggers(void *unused)
{
	char *memory = move_alloc(PAGES), *huge = move_alloc(HUGE / PAGE),
	     *there = move_alloc(HUGE / PAGE);
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC), fds[2], parcel;

	(void)unused;
	MUST(mem >= 0 && !pipe(fds));
	move_fill(memory, SIZE, 1);
	MUST(cosy_loan(fds[1], memory, SIZE, 0) == (ssize_t)SIZE);
	for (size_t i = 0; i < PAGES; i++)
		MUST(pwrite(mem, "x", 1, (off_t)(uintptr_t)(memory + i * PAGE)) == 1);
	CHECK(memory[PAGE] == 'x', "what a debugger wrote");
	read_all(fds[0], got, SIZE);
	CHECK_IS(got, SIZE, 1, "lent, then written by a debugger");
	move_fill(huge, HUGE, 2);
	parcel = cosy_export(huge, HUGE, COSY_COPY);
	MUST(parcel >= 0 && pwrite(mem, "x", 1, (off_t)(uintptr_t)huge) == 1);
	MUST(pwrite(mem, "x", 1, (off_t)(uintptr_t)(huge + PAGE)) == 1);
	CHECK(*huge == 'x' && huge[PAGE] == 'x', "what a debugger wrote");
	MUST(cosy_import(parcel, there, HUGE, 0) == (ssize_t)HUGE);
	CHECK_IS(there, HUGE, 2, "exported, then written by a debugger");
	move_fill(memory, SIZE, 1);
	MUST(!mprotect(memory, SIZE, PROT_READ));
	CHECK(pwrite(mem, "x", 1, (off_t)(uintptr_t)memory) == -1 && errno == EIO, "%s",
	      strerror(errno));
	MUST(!mprotect(memory, SIZE, PROT_NONE));
	CHECK(pread(mem, got, PAGE, (off_t)(uintptr_t)memory) == -1 && errno == EIO, "%s",
	      strerror(errno));
	MUST(!mprotect(memory, SIZE, PROT_READ));
	CHECK_IS(memory, SIZE, 1, "what may not be written");
	close(parcel);
	close(mem);
}

/* --- What is shared --------------------------------------------------------------------- */

static char *from, *to;

static void share(void)
{
	int parcel = cosy_export(from, SIZE, COSY_SHARE);

	MUST(parcel >= 0 && cosy_import(parcel, to, SIZE, 0) == (ssize_t)SIZE);
	close(parcel);
}

/* Receives a message into memory that is shared. */
static void receive(char *memory, uint64_t message)
{
	char *other = move_alloc(PAGES);
	int fds[2];

	move_fill(other, SIZE, message);
	MUST(!pipe(fds) && cosy_loan(fds[1], other, SIZE, 0) == (ssize_t)SIZE);
	transfer_all(fds[0], memory, SIZE, 0);
	close(fds[0]);
	close(fds[1]);
	cosy_move_free(other, SIZE);
}

static void receive_in_child(void *memory)
{
	receive(memory, 4);
}

/* What comes is written into shared pages, on whichever side, and in a child. */
static void shared(void *unused)
{
	char *third = move_alloc(PAGES);
	int copy;

	(void)unused;
	from = move_alloc(PAGES);
	to = move_alloc(PAGES);
	move_fill(from, SIZE, 1);
	share();
	receive(from, 2);
	CHECK_IS(to, SIZE, 2, "received by who shared it");
	receive(to, 3);
	CHECK_IS(from, SIZE, 3, "received by who imported it");
	CHECK_CHILD(in_child(receive_in_child, from));
	CHECK_IS(from, SIZE, 4, "received by a child of who shared it");
	CHECK_IS(to, SIZE, 4, "received by a child of who shared it");
	/* A copy is each receiver's own. */
	copy = cosy_export(from, SIZE, COSY_COPY);
	MUST(copy >= 0 && cosy_import(copy, third, SIZE, 0) == (ssize_t)SIZE);
	MUST(cosy_import(copy, to, SIZE, 0) == (ssize_t)SIZE);
	move_fill(third, SIZE, 5);
	CHECK_IS(to, SIZE, 4, "what another receiver of a copy has");
	move_fill(to, SIZE, 6);
	MUST(cosy_import(copy, third, SIZE, 0) == (ssize_t)SIZE);
	CHECK_IS(third, SIZE, 4, "a copy of what is shared");
	close(copy);
}

/* What was shared, and is not any more, is lent as a copy; what was lent is not shared. */
static void once_shared(void *unused)
{
	int fds[2];

	(void)unused;
	MUST(!pipe(fds));
	from = move_alloc(PAGES);
	to = move_alloc(PAGES);
	move_fill(from, SIZE, 1);
	share();
	MUST(!cosy_flush(to, SIZE));
	MUST(cosy_loan(fds[1], from, SIZE, 0) == (ssize_t)SIZE);
	move_fill(from, SIZE, 2);
	read_all(fds[0], got, SIZE);
	CHECK_IS(got, SIZE, 1, "lent by the last who shares it");
	cosy_move_free(from, SIZE);
	from = move_alloc(PAGES);
	move_fill(from, SIZE, 1);
	MUST(cosy_loan(fds[1], from, SIZE, 0) == (ssize_t)SIZE);
	share();
	move_fill(to, SIZE, 3);
	CHECK_IS(from, SIZE, 3, "lent, and then shared");
	move_fill(from, SIZE, 4);
	CHECK_IS(to, SIZE, 4, "lent, and then shared");
	read_all(fds[0], got, SIZE);
	CHECK_IS(got, SIZE, 1, "what was lent before it was shared");
	close(fds[0]);
	close(fds[1]);
}

/* --- What is refused -------------------------------------------------------------------- */

/* Checks that nobody but the arenas has any of their pages. */
#define NONE_UNDER_WAY(what)                                                                       \
	CHECK(!moving_now().under_way, what ": %llu pages are under way", moving_now().under_way)

/* Exports, passes and donates what has a page that is gone: all or nothing. */
static void halves(void *unused)
{
	char *memory = move_alloc(PAGES), *pinnable = cosy_move_alloc(SIZE, COSY_MOVE_PINNABLE);
	char *const both[] = { memory, pinnable };
	int ends[2], gone, parcel;

	(void)unused;
	raw_fd = raw_open();
	MUST(pinnable && !cosy_port(SIZE, ends));
	for (int i = 0; i < 2; i++) {
		char *last = both[i] + SIZE - PAGE;

		move_fill(both[i], SIZE, 1);
		gone = (int)move_request(COSY_MOVE_DONATE, last, PAGE, -1, 0);
		MUST(gone >= 0);
		close(gone);
		for (uint32_t how = COSY_MOVE_SHARE; how <= COSY_MOVE_DONATE_ZERO; how++) {
			REFUSED(move_request(how, both[i], SIZE, -1, 0), EFAULT);
			if (how != COSY_MOVE_SHARE)
				REFUSED(pass_request(both[i], SIZE, ends[1], 0, how), EFAULT);
			CHECK_IS(both[i], SIZE - PAGE, 1, "what was refused");
			NONE_UNDER_WAY("refused");
		}
		REFUSED(move_request(COSY_MOVE_LOAN, last, PAGE, ends[1], 0), EOPNOTSUPP);
	}
	/* The places are free.  There is no place for a parcel in two mappings. */
	CHECK(pass_request(memory, SIZE - PAGE, ends[1], 0, COSY_MOVE_COPY) == SIZE - PAGE,
	      "after all that");
	close(ends[0]);
	parcel = (int)move_request(COSY_MOVE_COPY, memory, SIZE - PAGE, -1, 0);
	MUST(parcel >= 0 && !cosy_flush(pinnable, SIZE));
	move_fill(pinnable, SIZE, 2);
	MUST(!mprotect(pinnable + PAGE, PAGE, PROT_READ) &&
	     !mprotect(pinnable + PAGE, PAGE, PROT_READ | PROT_WRITE));
	REFUSED(move_request(COSY_MOVE_IMPORT, pinnable, SIZE, parcel, 0), EFAULT);
	CHECK_IS(pinnable, SIZE, 2, "where nothing was imported");
	close(parcel);
	NONE_UNDER_WAY("not imported");
	close(ends[1]);
}

struct receiver {
	pthread_t thread;
	int fd;
	char *memory;
	long result;
	pid_t id;
};

static void *receives(void *arg)
{
	struct receiver *receiver = arg;

	__atomic_store_n(&receiver->id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	receiver->result =
		move_request(COSY_MOVE_TRANSFER, receiver->memory, SIZE, receiver->fd, 0);
	return NULL;
}

/* Pages that do not go, or find their memory gone, are nobody's. */
static void lost(void *unused)
{
	char *memory = move_alloc(PAGES);
	struct receiver receiver = { .memory = move_alloc(PAGES) };
	int fds[2], socks[2];

	(void)unused;
	raw_fd = raw_open();
	MUST(!pipe(fds) && fcntl(fds[1], F_SETPIPE_SZ, 4 * PAGE) == 4 * PAGE);
	move_fill(memory, SIZE, 1);
	/* Only some go. */
	MUST(!fcntl(fds[1], F_SETFL, O_NONBLOCK));
	MUST(move_request(COSY_MOVE_LOAN, memory, SIZE, fds[1], 0) == 4 * PAGE);
	CHECK(move_request(COSY_MOVE_LOAN, memory, SIZE, fds[1], 0) == -EAGAIN, "a full pipe");
	CHECK(moving_now().under_way == 4, "%llu pages in a pipe", moving_now().under_way);
	read_all(fds[0], got, 4 * PAGE);
	CHECK_IS(got, 4 * PAGE, 1, "what went");
	NONE_UNDER_WAY("read");
	/* A receiver flushes what it got. */
	MUST(move_request(COSY_MOVE_LOAN, memory, 2 * PAGE, fds[1], 0) == 2 * PAGE);
	MUST(move_request(COSY_MOVE_TRANSFER, receiver.memory, SIZE, fds[0], 0) == 2 * PAGE);
	CHECK(moving_now().under_way == 4, "%llu pages that two arenas have",
	      moving_now().under_way);
	MUST(!move_request(COSY_MOVE_FLUSH, receiver.memory, SIZE, -1, 0));
	NONE_UNDER_WAY("flushed");
	/* Sockets have references of their own. */
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	MUST(move_request(COSY_MOVE_LOAN, memory, 4 * PAGE, socks[1], 0) == 4 * PAGE);
	read_all(socks[0], got, 4 * PAGE);
	CHECK_IS(got, 4 * PAGE, 1, "what a socket had");
	close(socks[0]);
	close(socks[1]);
	NONE_UNDER_WAY("sent to a socket");
	/* The receiver unmaps its memory while it waits. */
	receiver.fd = fds[0];
	MUST(!pthread_create(&receiver.thread, NULL, receives, &receiver));
	while (!__atomic_load_n(&receiver.id, __ATOMIC_ACQUIRE) || !is_asleep(receiver.id))
		sleep_ms(1);
	cosy_move_free(receiver.memory, SIZE);
	MUST(move_request(COSY_MOVE_LOAN, memory, 2 * PAGE, fds[1], 0) == 2 * PAGE);
	MUST(!pthread_join(receiver.thread, NULL));
	CHECK(receiver.result == -EFAULT, "into memory that is gone: %ld", receiver.result);
	pipe_drop(fds[0]);
	NONE_UNDER_WAY("received where there is no memory");
	CHECK_IS(memory, SIZE, 1, "the sender's");
	close(fds[0]);
	close(fds[1]);
}

/* Files that are none of those that a request is for. */
static void kinds(void *unused)
{
	char *memory = move_alloc(PAGES);
	int parcel, frozen, direct[2], fds[2], datagrams[2], ends[2];
	char *buffer;

	(void)unused;
	raw_fd = raw_open();
	move_fill(memory, SIZE, 1);
	MUST(!pipe(fds) && !pipe2(direct, O_DIRECT) && !cosy_port(SIZE, ends));
	MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams));
	/* Frozen pages are lent to sockets, few as they are.  A write is one message there. */
	frozen = (int)move_request(COSY_MOVE_COPY, memory, SIZE, -1, 0);
	MUST(frozen >= 0);
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, direct[1], 0), EOPNOTSUPP);
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, datagrams[1], 0), EOPNOTSUPP);
	REFUSED(move_request(COSY_MOVE_TRANSFER, memory, SIZE, datagrams[0], 0), EOPNOTSUPP);
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, fds[1], COSY_MOVE_DONTWAIT), EOPNOTSUPP);
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, ends[1], 0), EOPNOTSUPP);
	REFUSED(move_request(COSY_MOVE_LOAN, memory, SIZE, raw_fd, 0), EOPNOTSUPP);
	REFUSED(move_request(COSY_MOVE_IMPORT, memory, SIZE, fds[0], 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_IMPORT, memory, SIZE, ends[0], 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_IMPORT, memory, SIZE, raw_fd, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_IMPORT, memory, SIZE, -1, 0), EBADF);
	close(frozen);
	/* Memory of the device that is no arena's. */
	buffer = raw_buffer(raw_fd, SIZE);
	memset(buffer, 'b', SIZE);
	REFUSED(move_request(COSY_MOVE_LOAN, buffer, SIZE, fds[1], 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_COPY, buffer, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_DONATE, buffer, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_FLUSH, buffer, SIZE, -1, 0), EFAULT);
	REFUSED(move_request(COSY_MOVE_FLUSH, got + PAGE - (uintptr_t)got % PAGE, PAGE, -1, 0),
		EFAULT);
	CHECK(buffer[0] == 'b' && buffer[SIZE - 1] == 'b', "the buffer has changed");
	/* What is shared is nobody's to read; donated pages come whole. */
	parcel = (int)move_request(COSY_MOVE_SHARE, memory, SIZE, -1, 0);
	MUST(parcel >= 0);
	CHECK(read(parcel, got, SIZE) == -1 && errno == EOPNOTSUPP, "%s", strerror(errno));
	close(parcel);
	parcel = (int)move_request(COSY_MOVE_DONATE_ZERO, memory, SIZE, -1, 0);
	MUST(parcel >= 0);
	CHECK(read(parcel, got, SIZE - 1) == -1 && errno == EMSGSIZE, "%s", strerror(errno));
	REFUSED(move_request(COSY_MOVE_IMPORT, memory, SIZE - PAGE, parcel, 0), EMSGSIZE);
	CHECK(read(parcel, got, SIZE) == (ssize_t)SIZE, "%s", strerror(errno));
	CHECK_IS(got, SIZE, 1, "donated");
	CHECK(!read(parcel, got, SIZE), "donated twice");
	REFUSED(move_request(COSY_MOVE_IMPORT, memory, SIZE, parcel, 0), ENODATA);
	close(parcel);
	REFUSED(move_request(COSY_MOVE_COPY, memory, PAGE + 1, -1, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_FLUSH, memory, PAGE + 1, -1, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_FLUSH, memory + 1, PAGE, -1, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_FLUSH, (void *)-PAGE, 2 * PAGE, -1, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_FLUSH, (void *)-PAGE, PAGE, -1, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_FLUSH, (void *)(1UL << 62), PAGE, -1, 0), EINVAL);
	REFUSED(move_request(COSY_MOVE_FLUSH, memory, 0, -1, 0), EINVAL);
	/* A message that cannot be read stays. */
	MUST(!move_request(COSY_MOVE_FLUSH, memory, SIZE, -1, 0));
	move_fill(memory, SIZE, 2);
	MUST(!fcntl(ends[0], F_SETFL, O_NONBLOCK) && !fcntl(ends[1], F_SETFL, O_NONBLOCK));
	REFUSED(pass_request(memory, SIZE - 1, ends[1], 0, COSY_MOVE_DONATE), EINVAL);
	MUST(pass_request(memory, SIZE, ends[1], 0, COSY_MOVE_COPY) == (long)SIZE);
	CHECK(pread(ends[0], NULL, SIZE, 0) == -1 && errno == EFAULT, "%s", strerror(errno));
	CHECK(pread(ends[0], got, SIZE, 0) == (ssize_t)SIZE, "%s", strerror(errno));
	CHECK_IS(got, SIZE, 2, "a message that is read again");
	NONE_UNDER_WAY("read");
	/* Nor does one that cannot be copied, or is empty, take its place. */
	CHECK(pwrite(ends[1], memory, 0, 0) == -1 && errno == EINVAL, "%s", strerror(errno));
	CHECK(pwrite(ends[1], NULL, SIZE, 0) == -1 && errno == EFAULT, "%s", strerror(errno));
	CHECK(pwrite(ends[1], memory, SIZE, 0) == (ssize_t)SIZE, "%s", strerror(errno));
}

/* --- Who pays --------------------------------------------------------------------------- */

/*
 * Parcels count in what their user has locked, and a child's arenas do, though a fork is never refused
 * for it.
 */
static void charged(void *unused)
{
	const struct rlimit limit = { 8 << 20, 8 << 20 };
	char c = 0, *memory;
	int go[2], status;
	pid_t pid;
	long fd;

	(void)unused;
	become_nobody(true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	raw_fd = raw_open();
	fd = arena_request(5 << 20, 0);
	MUST(fd >= 0 && !pipe(go));
	memory = map_arena(fd, 5 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	MUST(memory != MAP_FAILED);
	close((int)fd);
	REFUSED(move_request(COSY_MOVE_COPY, memory, 4 << 20, -1, 0), ENOMEM);
	for (int i = 0; i < 8; i++) {
		fd = move_request(COSY_MOVE_COPY, memory, 1 << 20, -1, 0);
		CHECK(fd >= 0, "after %d parcels that were closed: %ld", i, fd);
		close((int)fd);
	}
	pid = child_start();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	fd = arena_request(1 << 20, 0);
	CHECK(fd == -ENOMEM, "with a child's arena: %ld", fd);
	close(go[0]);
	close(go[1]);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	fd = arena_request(1 << 20, 0);
	CHECK(fd >= 0, "after the child: %ld", fd);
	close((int)fd);
}

static const struct part parts[] = {
	{ "mapped", .run_in_child = mapped }, { "keys", .run_in_child = keys },
	{ "rights", .run_in_child = rights }, { "debuggers", .run_in_child = debuggers },
	{ "shared", .run_in_child = shared }, { "once_shared", .run_in_child = once_shared },
	{ "halves", .run_in_child = halves }, { "lost", .run_in_child = lost },
	{ "kinds", .run_in_child = kinds },   { "charged", .run_in_child = charged },
};

int main(int argc, char **argv)
{
	close(raw_open());
	return move_main(parts, COUNT(parts), argc, argv);
}
