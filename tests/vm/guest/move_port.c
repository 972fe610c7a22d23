/* SPDX-License-Identifier: MIT */
/*
 * Tests ports of <cosy/move.h>: messages come whole, in their order, and stay as they were passed;
 * who waits goes on when there is room, a message, or nobody at the other end; whatever is written,
 * unmapped, forked, executed, killed or closed.
 */
#include "move.h"
#include <poll.h>
#include <pthread.h>

#define PAGES 16UL
#define SIZE  (PAGES * PAGE)

static char *from, *window;
static int ends[2];

static void fresh(void)
{
	from = move_alloc(PAGES);
	window = move_alloc(PAGES);
	move_fill(from, SIZE, 1);
	move_fill(window, SIZE, 7);
	MUST(!cosy_port(SIZE, ends));
	for (int i = 0; i < 2; i++)
		CHECK(fcntl(ends[i], F_GETFD) == FD_CLOEXEC, "end %d is not close-on-exec", i);
}

static void done(void)
{
	close(ends[0]);
	close(ends[1]);
	cosy_move_free(from, SIZE);
	cosy_move_free(window, SIZE);
}

static void set_blocking(int fd, bool blocks)
{
	MUST(!fcntl(fd, F_SETFL, (fcntl(fd, F_GETFL) & ~O_NONBLOCK) | (blocks ? 0 : O_NONBLOCK)));
}

static void pass(size_t at, void *memory, size_t count, enum cosy_how how)
{
	ssize_t went = cosy_pass(ends[1], at, memory, count, how);

	CHECK(went == (ssize_t)count, "%zd of %zu: %s", went, count, strerror(errno));
}

#define TAKE(at_, count_, flags) take(at_, count_, flags, __LINE__)

static void take(size_t at, size_t count, int flags, int line)
{
	size_t where = 99;
	ssize_t came = cosy_take(ends[0], window, SIZE, &where, flags);

	CHECK(came == (ssize_t)count && where == at, "line %d: %zd at %zu: %s", line, came, where,
	      strerror(errno));
}

/* --- Messages -------------------------------------------------------------------------- */

static void messages(void *unused)
{
	const int flags[] = { 0, COSY_POPULATE, COSY_WILL_WRITE };
	(void)unused;
	for (int turn = 0; turn < 9; turn++) {
		enum cosy_how how = (enum cosy_how)(COSY_COPY + turn / 3);

		fresh();
		pass(0, from, SIZE, how);
		if (how == COSY_COPY)
			CHECK(move_differs(from, SIZE, 1) < 0, "the sender's bytes are others");
		else if (how == COSY_DONATE_ZERO)
			CHECK(move_is_zero(from, SIZE), "what was donated is there");
		else
			CHECK(WIFSIGNALED(in_child(move_touch, from + PAGE)),
			      "what was donated is there");
		if (how == COSY_DONATE)
			MUST(!cosy_flush(from, SIZE));
		move_fill(from, SIZE, 2);
		CHECK(move_differs(window, SIZE, 7) < 0, "a message shows before it is taken");
		TAKE(0, SIZE, flags[turn % 3]);
		CHECK(move_differs(window, SIZE, 1) < 0, "the sender's writes show");
		move_fill(from, SIZE, 3);
		CHECK(move_differs(window, SIZE, 1) < 0, "the sender's writes show later");
		move_fill(window, SIZE, 4);
		CHECK(move_differs(from, SIZE, 3) < 0, "the receiver's writes show");
		done();
	}
}

/* Passes from places to others, in parts, of pages that are not whole, and of any memory. */
static void places(void *unused)
{
	char *plain = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *arena;
	size_t at;

	(void)unused;
	MUST(plain != MAP_FAILED);
	fresh();
	for (size_t k = 0; k < 4; k++)
		move_fill(from + k * PAGE, PAGE, 10 + k);
	pass(3 * PAGE, from, PAGE, COSY_COPY);
	pass(PAGE, from + PAGE, 2 * PAGE, COSY_COPY);
	pass(0, from + 3 * PAGE, PAGE, COSY_DONATE_ZERO);
	TAKE(3 * PAGE, PAGE, 0);
	TAKE(PAGE, 2 * PAGE, 0);
	CHECK(move_differs(window, PAGE, 7) < 0, "the third message shows");
	TAKE(0, PAGE, 0);
	for (size_t k = 0; k < 4; k++)
		CHECK(move_differs(window + k * PAGE, PAGE, 10 + (k % 3 ? k : 3 - k)) < 0,
		      "page %zu", k);
	/* Parts of pages: nothing of the rest is seen. */
	move_fill(from, SIZE, 1);
	pass(PAGE, from, PAGE + 104, COSY_COPY);
	TAKE(PAGE, PAGE + 104, 0);
	CHECK(move_differs(window + PAGE, PAGE + 104, 1) < 0, "a page and a part");
	CHECK(move_is_zero(window + 2 * PAGE + 104, PAGE - 104), "behind a part");
	pass(0, from, 8, COSY_COPY);
	TAKE(0, 8, 0);
	CHECK(move_differs(window, 8, 1) < 0 && move_is_zero(window + 8, PAGE - 8), "a word");
	pass(0, from + 8, 2 * PAGE, COSY_COPY);
	TAKE(0, 2 * PAGE, 0);
	CHECK(!memcmp(window, from + 8, 2 * PAGE), "from within a page");
	/* Ordinary memory, on either side. */
	for (int how = COSY_COPY; how <= COSY_DONATE_ZERO; how++) {
		move_fill(plain, SIZE, 20);
		pass(0, plain, SIZE, (enum cosy_how)how);
		if (how == COSY_DONATE_ZERO)
			CHECK(move_is_zero(plain, SIZE), "what was donated is there");
		if (how == COSY_DONATE)
			CHECK(WIFSIGNALED(in_child(move_touch, plain)),
			      "what was donated is there");
		MUST(!cosy_flush(plain, SIZE));
		TAKE(0, SIZE, COSY_WILL_WRITE);
		CHECK(move_differs(window, SIZE, 20) < 0, "from ordinary memory");
		arena = window;
		window = plain;
		move_fill(from, SIZE, 21);
		pass(2 * PAGE, from, 4 * PAGE + 8, COSY_COPY);
		TAKE(2 * PAGE, 4 * PAGE + 8, COSY_WILL_WRITE);
		CHECK(move_is_zero(plain, 2 * PAGE) &&
			      move_differs(plain + 2 * PAGE, 4 * PAGE + 8, 21) < 0,
		      "into ordinary memory");
		window = arena;
	}
	/* A window over two mappings, and a source. */
	MUST(!mprotect(from + PAGE, PAGE, PROT_READ) &&
	     !mprotect(window + 2 * PAGE, PAGE, PROT_READ));
	MUST(!mprotect(window + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE));
	pass(0, from, SIZE, COSY_COPY);
	TAKE(0, SIZE, 0);
	CHECK(move_differs(window, SIZE, 21) < 0, "over two mappings");
	/* A message that does not fit stays. */
	move_fill(from + 4 * PAGE, PAGE, 30);
	pass(4 * PAGE, from + 4 * PAGE, PAGE, COSY_COPY);
	CHECK(cosy_take(ends[0], window, 4 * PAGE, &at, 0) == -1 && errno == EMSGSIZE, "%s",
	      strerror(errno));
	TAKE(4 * PAGE, PAGE, 0);
	CHECK(move_differs(window + 4 * PAGE, PAGE, 30) < 0, "after EMSGSIZE");
	munmap(plain, SIZE);
	done();
}

/* Passes what is lent and what nobody has touched; lends, and passes on, what was taken. */
static void others(void *unused)
{
	char *empty = move_alloc(PAGES);
	int fds[2];

	(void)unused;
	fresh();
	pass(0, empty, SIZE, COSY_DONATE_ZERO);
	TAKE(0, SIZE, COSY_WILL_WRITE);
	CHECK(move_is_zero(window, SIZE), "empty ones");
	MUST(!pipe(fds));
	MUST(cosy_loan(fds[1], from, SIZE, 0) == (ssize_t)SIZE);
	pass(0, from, SIZE, COSY_DONATE_ZERO);
	TAKE(0, SIZE, COSY_WILL_WRITE);
	CHECK(move_differs(window, SIZE, 1) < 0, "lent and donated");
	move_fill(window, SIZE, 6);
	read_all(fds[0], empty, SIZE);
	CHECK(move_differs(empty, SIZE, 1) < 0, "the receiver's writes show in the pipe");
	MUST(cosy_loan(fds[1], window, SIZE, 0) == (ssize_t)SIZE);
	pass(0, window, SIZE, COSY_COPY);
	move_fill(window, SIZE, 8);
	transfer_all(fds[0], from, SIZE, 0);
	CHECK(move_differs(from, SIZE, 6) < 0, "lent from the window");
	TAKE(0, SIZE, 0);
	CHECK(move_differs(window, SIZE, 6) < 0, "passed to itself");
	close(fds[0]);
	close(fds[1]);
	cosy_move_free(empty, SIZE);
	done();
}

/* --- Waiting --------------------------------------------------------------------------- */

static int events(int fd)
{
	struct pollfd poller = { fd, POLLIN | POLLOUT, 0 };

	MUST(poll(&poller, 1, 0) >= 0);
	return poller.revents;
}

static void room(void *unused)
{
	size_t passed, at;
	ssize_t came;

	(void)unused;
	fresh();
	set_blocking(ends[0], false);
	set_blocking(ends[1], false);
	CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == -1 && errno == EAGAIN, "%s",
	      strerror(errno));
	CHECK(!(events(ends[0]) & POLLIN) && events(ends[1]) & POLLOUT, "%#x, %#x",
	      (unsigned int)events(ends[0]), (unsigned int)events(ends[1]));
	for (passed = 0; passed < 4096; passed++) {
		move_fill(from, SIZE, 100 + passed);
		came = cosy_pass(ends[1], PAGE, from, 2 * PAGE, COSY_DONATE_ZERO);
		if (came < 0)
			break;
	}
	CHECK(came == -1 && errno == EAGAIN, "%s", strerror(errno));
	CHECK(move_differs(from, SIZE, 100 + passed) < 0, "what was refused has gone");
	CHECK(passed >= 1 && events(ends[0]) & POLLIN && !(events(ends[1]) & POLLOUT), "%zu passed",
	      passed);
	for (size_t k = 0; k < passed; k++) {
		TAKE(PAGE, 2 * PAGE, 0);
		CHECK(move_differs(window + PAGE, 2 * PAGE, 100 + k) < 0, "message %zu", k);
	}
	CHECK(events(ends[1]) & POLLOUT && !(events(ends[0]) & POLLIN), "after taking all");
	/* Nobody is there any more. */
	pass(0, from, PAGE, COSY_COPY);
	close(ends[1]);
	CHECK(events(ends[0]) & POLLIN, "a message and the end");
	TAKE(0, PAGE, 0);
	CHECK((events(ends[0]) & (POLLIN | POLLHUP)) == (POLLIN | POLLHUP), "the end: %#x",
	      (unsigned int)events(ends[0]));
	CHECK(!cosy_take(ends[0], window, SIZE, &at, 0), "the end: %s", strerror(errno));
	done();
	fresh();
	pass(0, from, PAGE, COSY_DONATE_ZERO);
	close(ends[0]);
	CHECK(events(ends[1]) & POLLHUP, "%#x", (unsigned int)events(ends[1]));
	CHECK(cosy_pass(ends[1], PAGE, from, PAGE, COSY_COPY) == -1 && errno == EPIPE, "%s",
	      strerror(errno));
	done();
}

static void *takes_late(void *unused)
{
	(void)unused;
	for (int k = 0; k < 40; k++) {
		size_t at;
		ssize_t came;

		sleep_ms(k % 4 ? 0 : 5);
		came = cosy_take(ends[0], window, SIZE, &at, k % 3 ? COSY_WILL_WRITE : 0);
		CHECK(came == (ssize_t)SIZE && !at && move_differs(window, SIZE, 200 + k) < 0,
		      "message %d: %zd at %zu", k, came, at);
		move_fill(window, SIZE, 3);
	}
	return NULL;
}

/* Passes and takes as fast as either can. */
static void waits(void *unused)
{
	pthread_t thread;

	(void)unused;
	fresh();
	MUST(!pthread_create(&thread, NULL, takes_late, NULL));
	for (int k = 0; k < 40; k++) {
		move_fill(from, SIZE, 200 + k);
		if (k % 5 == 0)
			sleep_ms(7);
		pass(0, from, SIZE, k % 2 ? COSY_COPY : COSY_DONATE_ZERO);
	}
	MUST(!pthread_join(thread, NULL));
	done();
}

static void no_action(int sig)
{
	(void)sig;
}

/* Interrupts both that wait. */
static void interrupted(void *unused)
{
	size_t at;
	ssize_t went;

	(void)unused;
	fresh();
	handle(SIGALRM, no_action, 0);
	alarm_us(20000, 20000);
	CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == -1 && errno == EINTR, "%s",
	      strerror(errno));
	do
		went = cosy_pass(ends[1], 0, from, PAGE, COSY_COPY);
	while (went > 0);
	CHECK(went == -1 && errno == EINTR, "%s", strerror(errno));
	alarm_us(0, 0);
	done();
}

/* --- Other processes ------------------------------------------------------------------- */

/* Passes for ever what it gets from a socket the port of, and writes to what it has passed. */
static void sends(int sock)
{
	int port = receive_fd(sock);
	char *memory = move_alloc(PAGES);

	MUST(port >= 0);
	for (size_t turn = 0;; turn++) {
		size_t page = turn % (PAGES - 1);

		for (size_t i = 0; i < 2; i++)
			move_fill(memory + (page + i) * PAGE, PAGE, 50 + page);
		if (cosy_pass(port, page * PAGE, memory + page * PAGE, 2 * PAGE,
			      turn % 2 ? COSY_COPY : COSY_DONATE_ZERO) != (ssize_t)(2 * PAGE))
			_exit(errno == EPIPE ? 0 : 1);
		memset(memory, 0xee, SIZE);
	}
}

static pid_t sender_start(void)
{
	int socks[2];
	pid_t pid;

	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(ends[0]);
		close(ends[1]);
		close(socks[0]);
		sends(socks[1]);
	}
	close(socks[1]);
	send_fd(socks[0], ends[1]);
	close(socks[0]);
	return pid;
}

/* Kills the sender after some messages: what it has passed comes whole, and then the end. */
static void senders(void *unused)
{
	(void)unused;
	for (int turn = 0; turn < 12; turn++) {
		ssize_t came;
		size_t at;
		pid_t pid;

		fresh();
		pid = sender_start();
		close(ends[1]);
		for (int k = 0;; k++) {
			if (k == turn)
				MUST(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
			came = cosy_take(ends[0], window, SIZE, &at, k % 3 ? COSY_WILL_WRITE : 0);
			if (!came)
				break;
			CHECK(came == (ssize_t)(2 * PAGE), "%zd: %s", came, strerror(errno));
			for (size_t i = 0; came > 0 && i < 2; i++)
				CHECK(move_differs(window + at + i * PAGE, PAGE, 50 + at / PAGE) <
					      0,
				      "message %d of turn %d at %zu", k, turn, at);
			move_fill(window, SIZE, 4);
			if (came < 0)
				break;
		}
		done();
	}
}

/* Closes the receiver's end, or has it killed, while two senders pass and wait. */
static void receivers(void *unused)
{
	(void)unused;
	for (int turn = 0; turn < 8; turn++) {
		pid_t pid[2], receiver;
		int status;

		fresh();
		pid[0] = sender_start();
		pid[1] = sender_start();
		fflush(stdout);
		receiver = fork();
		MUST(receiver >= 0);
		if (!receiver) {
			size_t at;

			for (int k = 0; turn % 2 || k < turn; k++)
				MUST(cosy_take(ends[0], window, SIZE, &at, COSY_POPULATE) > 0);
			_exit(0);
		}
		close(ends[0]);
		if (turn % 2) {
			sleep_ms(2 * turn);
			MUST(!kill(receiver, SIGKILL));
		}
		MUST(waitpid(receiver, NULL, 0) == receiver);
		for (int i = 0; i < 2; i++) {
			MUST(waitpid(pid[i], &status, 0) == pid[i]);
			CHECK_CHILD(status);
		}
		CHECK(cosy_pass(ends[1], 0, from, PAGE, COSY_COPY) == -1 && errno == EPIPE, "%s",
		      strerror(errno));
		done();
	}
}

/* Takes the message of the first pages, for which there was no memory: the module has it still. */
static void still_waits(size_t size)
{
	if (!moves())
		return;
	TAKE(0, size, 0);
	CHECK(move_differs(window, size, 1) < 0, "a message that was taken late");
}

/* Passes from memory that is gone, and takes into a window that is gone, moved, or read only. */
static void unmapped(void *unused)
{
	char *elsewhere;
	size_t at;

	(void)unused;
	fresh();
	elsewhere = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(elsewhere != MAP_FAILED);
	pass(0, from, SIZE / 2, COSY_COPY);
	munmap(window, SIZE);
	CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == -1 && errno == EFAULT, "%s",
	      strerror(errno));
	window = move_alloc(PAGES);
	still_waits(SIZE / 2);
	move_fill(window, SIZE, 7);
	pass(SIZE / 2, from + SIZE / 2, SIZE / 2, COSY_DONATE_ZERO);
	MUST(mremap(window, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == elsewhere);
	window = elsewhere;
	TAKE(SIZE / 2, SIZE / 2, 0);
	CHECK(move_differs(window, SIZE / 2, 7) < 0, "a lost message shows");
	move_fill(from, SIZE / 2, 1);
	pass(0, from, SIZE / 2, COSY_COPY);
	MUST(!mprotect(window, SIZE, PROT_READ));
	CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == -1 && errno == EFAULT, "%s",
	      strerror(errno));
	CHECK(move_differs(window, SIZE / 2, 7) < 0, "a read-only window has changed");
	MUST(!mprotect(window, SIZE, PROT_READ | PROT_WRITE));
	still_waits(SIZE / 2);
	munmap(from + PAGE, PAGE);
	CHECK(cosy_pass(ends[1], 0, from, 3 * PAGE, COSY_DONATE_ZERO) == -1 && errno == EFAULT,
	      "%s", strerror(errno));
	CHECK(move_differs(from, PAGE, 1) < 0, "a refused message has gone");
	pass(0, from, PAGE, COSY_DONATE);
	CHECK(cosy_pass(ends[1], PAGE, from, PAGE, COSY_COPY) == -1 && errno == EFAULT, "%s",
	      strerror(errno));
	TAKE(0, PAGE, 0);
	CHECK(move_differs(window, PAGE, 1) < 0, "after all that");
	done();
}

/* Takes into memory that is shared, or gone, and there is no room for other. */
static void no_room(void *unused)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *other;
	int parcel;
	size_t at;

	(void)unused;
	fresh();
	MUST(memory != MAP_FAILED);
	other = window;
	window = memory;
	move_fill(window, SIZE, 7);
	parcel = cosy_export(window, SIZE / 2, COSY_SHARE);
	MUST(parcel >= 0 && cosy_import(parcel, other, SIZE, 0) == (ssize_t)(SIZE / 2));
	close(parcel);
	parcel = cosy_export(window + SIZE / 2, SIZE / 2, COSY_DONATE);
	MUST(parcel >= 0);
	close(parcel);
	for (size_t place = PAGE; place < SIZE; place += SIZE / 2) {
		pass(place, from, 3 * PAGE - 8, COSY_COPY);
		move_room(false);
		CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == -1 && errno == ENOMEM, "%s",
		      strerror(errno));
		move_room(true);
		CHECK(move_differs(other, SIZE / 2, 7) < 0, "shared pages are written to");
		CHECK(place > SIZE / 2 || move_differs(window, SIZE / 2, 7) < 0,
		      "a message that was not taken shows");
		TAKE(place, 3 * PAGE - 8, 0);
		CHECK(move_differs(window + place, 3 * PAGE - 8, 1) < 0, "the first message");
		CHECK(move_differs(other, SIZE / 2, 7) < 0, "a message is shared");
	}
	munmap(memory, SIZE);
	window = other;
	done();
}

/* Donates ordinary memory where libcosy has no memory to know that it is gone. */
static void no_memory(void *unused)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *volatile taken;
	int parcel;

	(void)unused;
	fresh();
	MUST(memory != MAP_FAILED);
	move_fill(memory, SIZE, 2);
	move_room(false);
	for (size_t size = 1 << 20; size >= 16; size = size > 256 ? size / 2 : size - 8)
		do
			taken = malloc(size);
		while (taken);
	parcel = cosy_export(memory, SIZE, COSY_DONATE);
	CHECK(parcel == -1 && errno == ENOMEM, "%d: %s", parcel, strerror(errno));
	CHECK(move_differs(memory, SIZE, 2) < 0, "a donation that failed has gone");
	pass(0, memory, SIZE, COSY_DONATE);
	CHECK(move_is_zero(memory, SIZE), "what was passed is left");
	move_room(true);
	TAKE(0, SIZE, 0);
	CHECK(move_differs(window, SIZE, 2) < 0, "passed");
	munmap(memory, SIZE);
	done();
}

/* Takes in a child what the parent passes, and the other way round; has exec close the ends. */
static void forked(void *unused)
{
	int status;
	size_t at;
	pid_t pid;

	(void)unused;
	fresh();
	pass(0, from, SIZE, COSY_COPY);
	pid = child_start();
	if (!pid) {
		TAKE(0, SIZE, COSY_WILL_WRITE);
		CHECK(move_differs(window, SIZE, 1) < 0, "in the child");
		move_fill(window, SIZE, 5);
		pass(0, window, SIZE, COSY_COPY);
		move_fill(window, SIZE, 6);
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(move_differs(window, SIZE, 7) < 0, "the child's window is ours");
	TAKE(0, SIZE, 0);
	CHECK(move_differs(window, SIZE, 5) < 0, "from a child that is gone");
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		execl("/proc/self/exe", "move_port", "none", NULL);
		_exit(1);
	}
	close(ends[1]);
	CHECK(!cosy_take(ends[0], window, SIZE, &at, 0), "exec keeps an end");
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	done();
}

static void results(void *unused)
{
	int fds[2], other[2], fd;
	size_t at;

	(void)unused;
	CHECK(cosy_port(0, other) == -1 && errno == EINVAL, "nothing");
	CHECK(cosy_port(PAGE + 1, other) == -1 && errno == EINVAL, "size");
	CHECK(cosy_port((size_t)2 << 30, other) == -1 && errno == EINVAL, "too large");
	fresh();
	MUST(!pipe(fds));
	fd = memfd_create("no port", 0);
#define REFUSED(call, error) CHECK((call) == -1 && errno == (error), #call ": %s", strerror(errno))
	REFUSED(cosy_pass(ends[1], 1, from, PAGE, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(ends[1], 0, from, 0, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(ends[1], 0, from, PAGE, COSY_SHARE), EINVAL);
	REFUSED(cosy_pass(ends[1], 0, from, PAGE, (enum cosy_how)4), EINVAL);
	REFUSED(cosy_pass(ends[1], 0, from, PAGE + 1, COSY_DONATE), EINVAL);
	REFUSED(cosy_pass(ends[1], 0, from + 8, PAGE, COSY_DONATE_ZERO), EINVAL);
	REFUSED(cosy_pass(ends[1], PAGE, from, SIZE, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(ends[1], SIZE, from, PAGE, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(ends[1], -PAGE, from, 2 * PAGE, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(-1, 0, from, PAGE, COSY_COPY), EBADF);
	REFUSED(cosy_pass(fds[1], 0, from, PAGE, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(fd, 0, from, PAGE, COSY_COPY), EINVAL);
	REFUSED(cosy_pass(ends[0], 0, from, PAGE, COSY_COPY), EBADF);
	REFUSED(cosy_take(ends[1], window, SIZE, &at, 0), EBADF);
	CHECK(move_differs(from, SIZE, 1) < 0, "a refused message has gone");
	pass(0, from, PAGE, COSY_COPY);
	REFUSED(cosy_take(ends[0], window + 8, SIZE, &at, 0), EINVAL);
	REFUSED(cosy_take(ends[0], window, PAGE - 1, &at, 0), EINVAL);
	REFUSED(cosy_take(ends[0], window, 0, &at, 0), EINVAL);
	REFUSED(cosy_take(ends[0], window, SIZE, &at, COSY_GIVE), EINVAL);
	REFUSED(cosy_take(-1, window, SIZE, &at, 0), EBADF);
	REFUSED(cosy_take(fds[0], window, SIZE, &at, 0), EINVAL);
	REFUSED(cosy_take(fd, window, SIZE, &at, 0), EINVAL);
	CHECK(move_differs(window, SIZE, 7) < 0, "a refused take has changed the window");
	TAKE(0, PAGE, 0);
	close(fd);
	close(fds[0]);
	close(fds[1]);
	done();
}

/* --- The module ------------------------------------------------------------------------ */

/* Checks what is counted, and that pages move instead of being copied. */
static void counted(void *unused)
{
	struct cosy_stats before;

	(void)unused;
	if (!moves())
		return;
	fresh();
	before = counts();
	for (int k = 0; k < 3; k++) {
		move_fill(from, SIZE, 1);
		pass(0, from, SIZE, (enum cosy_how)(COSY_COPY + k));
		TAKE(0, SIZE, 0);
		MUST(!cosy_flush(from, SIZE));
	}
	CHECK(counts().passed - before.passed == 3 * PAGES, "%llu passed",
	      (unsigned long long)(counts().passed - before.passed));
	CHECK(counts().taken - before.taken == 3 * PAGES, "%llu taken",
	      (unsigned long long)(counts().taken - before.taken));
	done();
}

static const struct part parts[] = {
	{ "messages", .run_in_child = messages },   { "places", .run_in_child = places },
	{ "others", .run_in_child = others },	    { "room", .run_in_child = room },
	{ "waits", .run_in_child = waits },	    { "interrupted", .run_in_child = interrupted },
	{ "senders", .run_in_child = senders },	    { "receivers", .run_in_child = receivers },
	{ "unmapped", .run_in_child = unmapped },   { "no_room", .run_in_child = no_room },
	{ "no_memory", .run_in_child = no_memory }, { "forked", .run_in_child = forked },
	{ "results", .run_in_child = results },	    { "counted", .run_in_child = counted },
};

int main(int argc, char **argv)
{
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
