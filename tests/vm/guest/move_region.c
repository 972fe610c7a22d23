/* SPDX-License-Identifier: MIT */
/*
 * Tests loan, transfer, flush, look and pass as operations of compounds: with the results, errors
 * and signals of the plain calls, whatever their arguments are, and with the bytes as they were
 * lent.
 */
#include "move.h"
#include <pthread.h>
#include <sys/socket.h>

#define PAGES 16UL /* as many as a pipe has buffers */
#define SIZE  (PAGES * PAGE)

static char got[SIZE];

static struct pair pipe_new(void)
{
	int fds[2];

	MUST(!pipe(fds));
	return (struct pair){ fds[0], fds[1] };
}

/* --- One operation, as a region --------------------------------------------------------------- */

static long region_loan(int fd, void *memory, size_t count, int flags, int *error)
{
	long ret;
	int code;

	COSY_START;
	errno = 0;
	ret = cosy_loan(fd, memory, count, flags);
	code = errno;
	COSY_END;
	*error = code;
	return ret;
}

static long region_transfer(int fd, void *memory, size_t count, int flags, int *error)
{
	long ret;
	int code;

	COSY_START;
	errno = 0;
	ret = cosy_transfer(fd, memory, count, flags);
	code = errno;
	COSY_END;
	*error = code;
	return ret;
}

static long region_flush(void *memory, size_t count, int *error)
{
	long ret;
	int code;

	COSY_START;
	errno = 0;
	ret = cosy_flush(memory, count);
	code = errno;
	COSY_END;
	*error = code;
	return ret;
}

static long region_pass(int port, size_t at, void *memory, size_t count, int how, int *error)
{
	long ret;
	int code;

	COSY_START;
	errno = 0;
	ret = cosy_pass(port, at, memory, count, how);
	code = errno;
	COSY_END;
	*error = code;
	return ret;
}

static void region_look(void *to, const void *memory, size_t count)
{
	COSY_START;
	cosy_look(to, memory, count);
	COSY_END;
}

/* Checks the result and errno of region_NAME. */
#define CHECK_REGION(want, code, name, ...)                                                        \
	do {                                                                                       \
		int error_;                                                                        \
		long ret_ = region_##name(__VA_ARGS__, &error_);                                   \
		CHECK(ret_ == (long)(want) && error_ == (code), "%ld: %s", ret_,                   \
		      strerror(error_));                                                           \
	} while (0)

/* --- Bytes ------------------------------------------------------------------------------------ */

static void moved(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES), *to = move_alloc(PAGES), head[64];
	struct cosy_stats before = counts(), now;

	(void)unused;
	for (int turn = 0; turn < 3; turn++) {
		move_fill(from, SIZE, 1);
		CHECK_REGION(SIZE, 0, loan, p.to, from, SIZE, 0);
		move_fill(from, SIZE, 2);
		CHECK_REGION(SIZE, 0, transfer, p.from, to, SIZE, turn ? COSY_WILL_WRITE : 0);
		region_look(head, to + PAGE - 32, sizeof(head));
		CHECK(!memcmp(head, to + PAGE - 32, sizeof(head)), "look, across pages");
		CHECK(move_differs(to, SIZE, 1) < 0, "what was lent has changed");
	}
	now = counts();
	if (moves())
		CHECK(now.loaned - before.loaned == 3 * PAGES &&
			      now.transferred - before.transferred == 3 * PAGES &&
			      now.move_refused == before.move_refused,
		      "%llu lent, %llu transferred",
		      (unsigned long long)(now.loaned - before.loaned),
		      (unsigned long long)(now.transferred - before.transferred));
	CHECK_KERNEL(before, 9, 6);
	/* What is given, and flushed, is zeros. */
	CHECK_REGION(SIZE, 0, loan, p.to, from, SIZE, COSY_GIVE);
	CHECK(move_is_zero(from, SIZE), "given");
	read_all(p.from, got, SIZE);
	CHECK(move_differs(got, SIZE, 2) < 0, "what was given");
	CHECK_REGION(0, 0, flush, to, SIZE);
	CHECK(move_is_zero(to, SIZE), "flushed");
	/* Read what was lent, and take what was written. */
	move_fill(from, SIZE, 3);
	CHECK_REGION(SIZE, 0, loan, p.to, from, SIZE, 0);
	move_fill(from, SIZE, 4);
	read_all(p.from, got, SIZE);
	CHECK(move_differs(got, SIZE, 3) < 0, "read");
	MUST(write(p.to, got, SIZE) == (ssize_t)SIZE);
	CHECK_REGION(SIZE, 0, transfer, p.from, to, SIZE, 0);
	CHECK(move_differs(to, SIZE, 3) < 0, "written");
	cosy_move_free(from, SIZE);
	cosy_move_free(to, SIZE);
	pair_close(p);
}

static void take_check(int port, char *window, size_t at, size_t size, uint64_t message)
{
	size_t where = 1;

	CHECK(cosy_take(port, window, SIZE, &where, 0) == (ssize_t)size && where == at,
	      "at %zu: %s", where, strerror(errno));
	CHECK(move_differs(window + at, size, message) < 0, "message %llu",
	      (unsigned long long)message);
}

/* Passes messages, whole ones and others, from memory that moves and other memory. */
static void passed(void *unused)
{
	char *memory = move_alloc(PAGES), *window = move_alloc(PAGES), *plain = malloc(SIZE);
	struct cosy_stats before = counts(), now;
	int port[2];

	(void)unused;
	MUST(plain && !cosy_port(SIZE, port));
	MUST(!fcntl(port[1], F_SETFL, O_NONBLOCK));
	for (int how = COSY_COPY; how <= COSY_DONATE_ZERO; how++) {
		move_fill(memory, SIZE, 1);
		CHECK_REGION(SIZE, 0, pass, port[1], 0, memory, SIZE, how);
		MUST(how != COSY_DONATE || !cosy_flush(memory, SIZE));
		CHECK(how == COSY_COPY || move_is_zero(memory, SIZE), "donated");
		memset(memory, 2, SIZE);
		if (moves())
			CHECK_REGION(-1, EAGAIN, pass, port[1], 0, memory, SIZE, how);
		take_check(port[0], window, 0, SIZE, 1);
	}
	now = counts();
	if (moves())
		CHECK(now.passed - before.passed == 3 * PAGES, "%llu passed",
		      (unsigned long long)(now.passed - before.passed));
	CHECK_KERNEL(before, 6, 6);
	move_fill(memory, SIZE, 3);
	CHECK_REGION(PAGE + 8, 0, pass, port[1], PAGE, memory, PAGE + 8, COSY_COPY);
	take_check(port[0], window, PAGE, PAGE + 8, 3);
	move_fill(plain, SIZE, 4);
	CHECK_REGION(SIZE, 0, pass, port[1], 0, plain, SIZE, COSY_COPY);
	take_check(port[0], window, 0, SIZE, 4);
	CHECK_REGION(-1, EINVAL, pass, port[1], 8, memory, PAGE, COSY_COPY);
	CHECK_REGION(-1, EINVAL, pass, port[1], SIZE, memory, PAGE, COSY_COPY);
	CHECK_REGION(-1, EINVAL, pass, port[1], 0, memory, 0, COSY_COPY);
	CHECK_REGION(-1, EINVAL, pass, port[1], 0, memory, PAGE, COSY_SHARE);
	CHECK_REGION(-1, EINVAL, pass, port[1], 0, memory, PAGE, -1);
	CHECK_REGION(-1, EINVAL, pass, port[1], 0, memory + 8, PAGE, COSY_DONATE);
	CHECK_REGION(-1, EFAULT, pass, port[1], 0, (void *)8, PAGE, COSY_COPY);
	CHECK_REGION(-1, EBADF, pass, -1, 0, memory, PAGE, COSY_COPY);
	CHECK_REGION(-1, EBADF, pass, port[0], 0, memory, PAGE, COSY_COPY);
	CHECK(move_differs(memory, SIZE, 3) < 0, "what was refused has gone");
	close(port[0]);
	CHECK_REGION(-1, EPIPE, pass, port[1], 0, memory, PAGE, COSY_COPY);
	close(port[1]);
	free(plain);
	cosy_move_free(memory, SIZE);
	cosy_move_free(window, SIZE);
}

/* Looks at what is untouched, present, not present, and no arena's. */
static void looks(void *unused)
{
	char *memory = move_alloc(PAGES), *other = move_alloc(PAGES), *plain = malloc(SIZE),
	     *to = malloc(SIZE);
	int parcel;

	(void)unused;
	memset(to, 1, SIZE);
	region_look(to, memory, SIZE);
	CHECK(move_is_zero(to, SIZE), "untouched");
	move_fill(memory, SIZE, 1);
	region_look(to, memory, SIZE);
	CHECK(move_differs(to, SIZE, 1) < 0, "present");
	parcel = cosy_export(memory, SIZE, COSY_DONATE_ZERO);
	MUST(parcel >= 0);
	MUST(cosy_import(parcel, other, SIZE, 0) == (ssize_t)SIZE);
	close(parcel);
	memset(to, 1, SIZE);
	region_look(to, other, SIZE);
	CHECK(move_differs(to, SIZE, 1) < 0, "not present");
	free(to);
	/* To where faults have to be served: fresh memory, and an arena's. */
	to = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(to != MAP_FAILED);
	region_look(to + 5, other + 3, SIZE - 5);
	CHECK(!memcmp(to + 5, other + 3, SIZE - 5), "to fresh memory");
	region_look(memory + 3, other + 5, SIZE - 5);
	CHECK(!memcmp(memory + 3, other + 5, SIZE - 5), "from one arena to another");
	move_fill(plain, SIZE, 2);
	region_look(memory, plain, SIZE);
	CHECK(move_differs(memory, SIZE, 2) < 0, "at no arena's memory");
	region_look(NULL, NULL, 0);
	munmap(to, SIZE);
	free(plain);
}

static void look_bad(void *memory)
{
	char c;

	region_look(&c, memory, 1);
	_exit(c);
}

static void look_to_bad(void *to)
{
	region_look(to, move_alloc(PAGES), SIZE);
	_exit(0);
}

/* A look at what is gone, or nowhere, is a SIGSEGV, as memcpy's is; so is one to there. */
static void faults(void *unused)
{
	char *memory = move_alloc(PAGES);
	void *const bad[] = { memory, (void *)8, (void *)-8, (void *)(1ul << 47) };
	int parcel;

	(void)unused;
	move_fill(memory, SIZE, 1);
	parcel = cosy_export(memory, SIZE, COSY_DONATE);
	MUST(parcel >= 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int status = in_child(look_bad, bad[i]);

		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "at %p: status %#x",
		      bad[i], (unsigned int)status);
		status = in_child(look_to_bad, bad[i]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "to %p: status %#x",
		      bad[i], (unsigned int)status);
	}
	close(parcel);
}

/* --- Arguments -------------------------------------------------------------------------------- */

static volatile int signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

static void descriptors(void *unused)
{
	const int bad[] = { -1, 9999, INT32_MIN };
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR), socks[2], error;
	char *memory = move_alloc(PAGES);
	struct pair p = pipe_new();

	(void)unused;
	memset(memory, 'm', SIZE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_REGION(-1, EBADF, loan, bad[i], memory, SIZE, 0);
		CHECK_REGION(-1, EBADF, transfer, bad[i], memory, SIZE, 0);
	}
	CHECK_REGION(-1, EBADF, loan, p.from, memory, SIZE, 0);
	CHECK_REGION(-1, EBADF, transfer, p.to, memory, SIZE, 0);
	CHECK_REGION(-1, ENOTSOCK, loan, p.to, memory, SIZE, MSG_DONTWAIT);
	CHECK_REGION(-1, ENOTSOCK, transfer, p.from, memory, SIZE, MSG_DONTWAIT);
	CHECK_REGION(SIZE, 0, loan, null, memory, SIZE, 0);
	CHECK_REGION(SIZE, 0, loan, null, memory, SIZE, COSY_GIVE);
	CHECK(move_is_zero(memory, SIZE), "given to /dev/null");
	memset(memory, 'm', SIZE);
	CHECK_REGION(SIZE, 0, transfer, zero, memory, SIZE, COSY_POPULATE);
	CHECK(move_is_zero(memory, SIZE), "from /dev/zero");
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	memset(memory, 's', 4 * PAGE);
	CHECK_REGION(4 * PAGE, 0, loan, socks[0], memory, 4 * PAGE, MSG_NOSIGNAL);
	CHECK_REGION(-1, EAGAIN, transfer, socks[0], memory, 4 * PAGE, MSG_DONTWAIT);
	read_all(socks[1], got, 4 * PAGE);
	CHECK(got[0] == 's' && got[4 * PAGE - 1] == 's', "by a socket");
	close(socks[1]);
	CHECK_REGION(-1, EPIPE, loan, socks[0], memory, 4 * PAGE, MSG_NOSIGNAL);
	close(socks[0]);
	/* A pipe without a writer, and one without a reader. */
	close(p.to);
	CHECK_REGION(0, 0, transfer, p.from, memory, 4 * PAGE, 0);
	close(p.from);
	p = pipe_new();
	close(p.from);
	signals = 0;
	handle(SIGPIPE, count_signal, 0);
	region_loan(p.to, memory, 4 * PAGE, 0, &error);
	CHECK(error == EPIPE && signals == 1, "%s, %d signals", strerror(error), signals);
	close(p.to);
	close(null);
	close(zero);
}

static void memories(void *unused)
{
	char *memory = move_alloc(PAGES), *plain = aligned_alloc(PAGE, SIZE), *page;
	struct pair p = pipe_new();
	uint64_t before;

	(void)unused;
	memset(memory, 'm', SIZE);
	memset(plain, 'p', SIZE);
	CHECK_REGION(0, 0, loan, p.to, memory, 0, 0);
	CHECK_REGION(3 * PAGE + 77, 0, loan, p.to, memory, 3 * PAGE + 77, 0);
	CHECK_REGION(3 * PAGE, 0, loan, p.to, memory + 1, 3 * PAGE, 0);
	CHECK_REGION(PAGE, 0, loan, p.to, memory, PAGE, 0);
	CHECK_REGION(2 * PAGE, 0, loan, p.to, plain, 2 * PAGE, COSY_GIVE);
	CHECK(move_is_zero(plain, 2 * PAGE) && plain[2 * PAGE] == 'p', "ordinary memory, given");
	read_all(p.from, got, 9 * PAGE + 77);
	for (size_t i = 0; i < 9 * PAGE + 77; i++)
		CHECK(got[i] == (i < 7 * PAGE + 77 ? 'm' : 'p'), "byte %zu", i);
	/* It is in two mappings, of which one may not be written. */
	MUST(!mprotect(memory + 12 * PAGE, 2 * PAGE, PROT_READ));
	before = counts().loaned;
	CHECK_REGION(6 * PAGE, 0, loan, p.to, memory + 8 * PAGE, 6 * PAGE, 0);
	CHECK(!moves() || counts().loaned == before + 6, "%llu pages of two mappings",
	      (unsigned long long)(counts().loaned - before));
	read_all(p.from, got, 6 * PAGE);
	CHECK(!memcmp(got, memory + 8 * PAGE, 6 * PAGE), "memory in two mappings");
	MUST(!mprotect(memory + 12 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE));
	/* Part of it is no arena's, or may not be reached. */
	page = mmap(memory + 8 * PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	MUST(page == memory + 8 * PAGE);
	memset(page, 'n', PAGE);
	CHECK_REGION(10 * PAGE, 0, loan, p.to, memory, 10 * PAGE, 0);
	read_all(p.from, got, 10 * PAGE);
	CHECK(!memcmp(got, memory, 10 * PAGE), "an arena's memory and other");
	MUST(!mprotect(memory, 4 * PAGE, PROT_NONE));
	CHECK_REGION(-1, EFAULT, loan, p.to, memory, 4 * PAGE, 0);
	CHECK_REGION(-1, EFAULT, loan, p.to, memory, 4 * PAGE, COSY_GIVE);
	CHECK_REGION(-1, EFAULT, loan, p.to, (void *)(1ul << 47), 4 * PAGE, 0);
	CHECK_REGION(-1, EFAULT, loan, p.to, (void *)-PAGE, 4 * PAGE, 0);
	CHECK_REGION(-1, EFAULT, loan, p.to, memory + 4 * PAGE, SIZE_MAX, 0);
	CHECK_REGION(-1, EFAULT, loan, p.to, memory + 4 * PAGE, SIZE_MAX - PAGE + 1, COSY_GIVE);
	CHECK_REGION(-1, EFAULT, transfer, p.from, memory + 4 * PAGE, SIZE_MAX, 0);
	CHECK_REGION(2 * PAGE, 0, loan, p.to, memory + 4 * PAGE, 2 * PAGE, 0);
	CHECK_REGION(-1, EFAULT, transfer, p.from, memory, 4 * PAGE, 0);
	read_all(p.from, got, 2 * PAGE);
	CHECK_REGION(-1, EINVAL, flush, memory + 1, PAGE);
	CHECK_REGION(-1, EINVAL, flush, memory, 1);
	CHECK_REGION(0, 0, flush, memory + 4 * PAGE, 0);
	CHECK_REGION(0, 0, flush, plain, SIZE);
	CHECK(move_is_zero(plain, SIZE), "ordinary memory, flushed");
	CHECK_REGION(0, 0, flush, memory + 4 * PAGE, 8 * PAGE);
	CHECK(move_is_zero(memory + 4 * PAGE, 8 * PAGE), "an arena's memory and other, flushed");
	free(plain);
	pair_close(p);
}

/* What was donated is filled again by a transfer, in whatever way that is made. */
static void gone(void *unused)
{
	char *memory = move_alloc(PAGES), *plain = aligned_alloc(PAGE, SIZE);
	char *const both[] = { memory, plain };
	struct pair p = pipe_new();

	(void)unused;
	for (int i = 0; i < 2; i++) {
		int parcel;

		move_fill(both[i], SIZE, 1);
		parcel = cosy_export(both[i], SIZE, COSY_DONATE);
		MUST(parcel >= 0);
		close(parcel);
		CHECK_REGION(-1, EFAULT, loan, p.to, both[i], SIZE, 0);
		move_fill(got, SIZE, 2);
		MUST(write(p.to, got, SIZE / 2) == (ssize_t)SIZE / 2);
		CHECK_REGION(SIZE / 2, 0, transfer, p.from, both[i], SIZE / 2, 0);
		CHECK(move_differs(both[i], SIZE / 2, 2) < 0,
		      "transferred to where pages are gone");
		CHECK_REGION(0, 0, flush, both[i], SIZE);
		CHECK(move_is_zero(both[i], SIZE), "flushed");
	}
	pair_close(p);
}

/* A transfer that fails has taken one message, as the plain call, and not the next one, too. */
static void messages(void *unused)
{
	char text[8] = "";
	int ends[2];

	(void)unused;
	MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	MUST(write(ends[1], "one", 4) == 4 && write(ends[1], "two", 4) == 4 &&
	     write(ends[1], "three", 6) == 6);
	CHECK_REGION(-1, EFAULT, transfer, ends[0], (char *)8, SIZE, 0);
	CHECK(recv(ends[0], text, sizeof(text), MSG_DONTWAIT) == 4 && !strcmp(text, "two"),
	      "the next message is \"%s\"", text);
	close(ends[0]);
	close(ends[1]);
}

/* --- Signals ---------------------------------------------------------------------------------- */

/* Signals end a blocked operation as they end the plain call. */
static void interrupted(void *unused)
{
	struct pair p = pipe_new();
	char *memory = move_alloc(2 * PAGES);

	(void)unused;
	memset(memory, 'm', 2 * SIZE);
	MUST(write(p.to, got, SIZE) == (ssize_t)SIZE);
	signals = 0;
	handle(SIGALRM, count_signal, 0);
	alarm_us(20000, 20000);
	CHECK_REGION(-1, EINTR, loan, p.to, memory, SIZE, 0);
	read_all(p.from, got, SIZE);
	CHECK_REGION(SIZE, 0, loan, p.to, memory, 2 * SIZE, 0);
	read_all(p.from, got, SIZE);
	CHECK_REGION(-1, EINTR, transfer, p.from, memory, SIZE, 0);
	alarm_us(0, 0);
	CHECK(signals >= 3, "%d signals", signals);
	pair_close(p);
}

static int restart_to;

static void write_at_third(int sig)
{
	(void)sig;
	if (++signals == 3)
		MUST(write(restart_to, got, 2 * PAGE) == (ssize_t)(2 * PAGE));
}

static void restarted(void *unused)
{
	struct pair p = pipe_new();
	char *memory = move_alloc(PAGES);

	(void)unused;
	memset(got, 'r', SIZE);
	restart_to = p.to;
	signals = 0;
	handle(SIGALRM, write_at_third, SA_RESTART);
	alarm_us(20000, 20000);
	CHECK_REGION(2 * PAGE, 0, transfer, p.from, memory, SIZE, 0);
	alarm_us(0, 0);
	CHECK(signals >= 3 && memory[0] == 'r', "%d signals", signals);
	pair_close(p);
}

/* --- Threads and processes -------------------------------------------------------------------- */

#define HEAD	 64
#define MESSAGES 40

/* Passes messages on, and adds up the first bytes of each. */
static long relay(struct pair in, struct pair out, char *memory, long *sum)
{
	long passed = 0, had, n, total = 0;

	COSY_START;
	for (;;) {
		unsigned char head[HEAD];

		for (had = 0; had < (long)SIZE; had += n) {
			n = cosy_transfer(in.from, memory + had, SIZE - (size_t)had, 0);
			if (n <= 0)
				break;
		}
		if (had < (long)SIZE)
			break;
		cosy_look(head, memory, HEAD);
		for (int i = 0; i < HEAD; i++)
			total += head[i];
		if (cosy_loan(out.to, memory, SIZE, 0) != (long)SIZE)
			break;
		passed += SIZE;
	}
	COSY_END;
	*sum = total;
	return passed;
}

static void sender(struct pair in)
{
	char *memory = move_alloc(PAGES);

	close(in.from);
	for (uint64_t k = 0; k < MESSAGES; k++) {
		move_fill(memory, SIZE, k);
		MUST(cosy_loan(in.to, memory, SIZE, 0) == (ssize_t)SIZE);
		memset(memory, 0xee, SIZE);
	}
	_exit(0);
}

static void receiver(struct pair out)
{
	char *memory = move_alloc(PAGES);

	close(out.to);
	check_failures = 0;
	for (uint64_t k = 0; k < MESSAGES; k++) {
		transfer_all(out.from, memory, SIZE, 0);
		CHECK(move_differs(memory, SIZE, k) < 0, "message %llu", (unsigned long long)k);
	}
	_exit(check_end());
}

static void relays(void *unused)
{
	struct pair in = pipe_new(), out = pipe_new();
	char *memory = move_alloc(PAGES);
	struct cosy_stats before = counts();
	long passed, sum, want = 0;
	pid_t pids[2];
	int status;

	(void)unused;
	fflush(stdout);
	pids[0] = fork();
	MUST(pids[0] >= 0);
	if (!pids[0])
		sender(in);
	close(in.to);
	pids[1] = fork();
	MUST(pids[1] >= 0);
	if (!pids[1]) {
		close(in.from);
		receiver(out);
	}
	passed = relay(in, out, memory, &sum);
	CHECK(passed == MESSAGES * (long)SIZE, "%ld bytes", passed);
	for (uint64_t k = 0; k < MESSAGES; k++)
		for (int i = 0; i < HEAD; i++)
			want += (long)(move_word(k, (uint64_t)i / 8) >> i % 8 * 8 & 0xff);
	CHECK(sum == want, "the heads' sum is %ld, not %ld", sum, want);
	if (moves())
		CHECK(counts().transferred - before.transferred == MESSAGES * PAGES, "%llu pages",
		      (unsigned long long)(counts().transferred - before.transferred));
	CHECK_KERNEL(before, 1, 2 * MESSAGES);
	for (int i = 0; i < 2; i++) {
		MUST(waitpid(pids[i], &status, 0) == pids[i]);
		CHECK_CHILD(status);
	}
	close(in.from);
	pair_close(out);
}

/* Kills one that lends in a region, wherever it is: what came are whole pages of its messages. */
static void killed(void *unused)
{
	(void)unused;
	for (int turn = 0; turn < 20; turn++) {
		struct pair p = pipe_new();
		char *to = move_alloc(PAGES);
		size_t had = 0;
		ssize_t now;
		pid_t pid;

		pid = child_start();
		if (!pid) {
			char *memory = move_alloc(PAGES);
			int error;

			close(p.from);
			for (;;) {
				for (size_t i = 0; i < PAGES; i++)
					move_fill(memory + i * PAGE, PAGE, 1);
				region_loan(p.to, memory, SIZE, turn % 2 ? COSY_GIVE : 0, &error);
				memset(memory, 0xee, SIZE);
			}
		}
		close(p.to);
		while (had < (size_t)turn * 2 * PAGE) {
			now = cosy_transfer(p.from, to, 2 * PAGE, 0);
			MUST(now > 0);
			had += (size_t)now;
		}
		MUST(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
		while ((now = cosy_transfer(p.from, to, SIZE, 0)) > 0)
			for (ssize_t i = 0; i + (ssize_t)PAGE <= now; i += (ssize_t)PAGE)
				CHECK(move_differs(to + i, PAGE, 1) < 0, "after its death");
		CHECK(!now, "no end of file: %s", strerror(errno));
		cosy_move_free(to, SIZE);
		close(p.from);
	}
}

static volatile bool stop;

/* Writes, flushes, donates and protects what the regions lend and look at. */
static void *disturbs(void *memory)
{
	for (uint64_t k = 1; !stop; k++) {
		int parcel;

		for (size_t i = 0; i < PAGES; i++)
			*(volatile uint64_t *)((char *)memory + i * PAGE + k % 512 * 8) = k;
		switch (k % 8) {
		case 1:
			cosy_flush((char *)memory + 2 * PAGE, 4 * PAGE);
			break;
		case 3:
			parcel = cosy_export(memory, 4 * PAGE, COSY_DONATE_ZERO);
			if (parcel >= 0)
				close(parcel);
			break;
		case 5:
			mprotect((char *)memory + 8 * PAGE, 2 * PAGE, PROT_READ);
			mprotect((char *)memory + 8 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE);
		}
	}
	return NULL;
}

/* A message does not change once it came, whatever another thread does to what was lent. */
static void disturbed(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES), *to = move_alloc(PAGES);
	pthread_t thread;

	(void)unused;
	stop = false;
	MUST(!pthread_create(&thread, NULL, disturbs, from));
	for (int turn = 0; turn < 150; turn++) {
		int error;

		MUST(region_loan(p.to, from, SIZE, 0, &error) == (long)SIZE);
		for (size_t had = 0; had < SIZE;) {
			long now = region_transfer(p.from, to + had, SIZE - had, 0, &error);

			MUST(now > 0);
			had += (size_t)now;
		}
		region_look(got, to, SIZE);
		sched_yield();
		CHECK(!memcmp(got, to, SIZE), "turn %d: a write shows", turn);
		region_look(got, from, SIZE);
	}
	stop = true;
	MUST(!pthread_join(thread, NULL));
	pair_close(p);
}

static const struct part parts[] = {
	{ "moved", .run_in_child = moved },
	{ "passed", .run_in_child = passed },
	{ "looks", .run_in_child = looks },
	{ "faults", .run_in_child = faults },
	{ "descriptors", .run_in_child = descriptors },
	{ "memories", .run_in_child = memories },
	{ "gone", .run_in_child = gone },
	{ "messages", .run_in_child = messages },
	{ "interrupted", .run_in_child = interrupted },
	{ "restarted", .run_in_child = restarted },
	{ "relays", .run_in_child = relays },
	{ "killed", .run_in_child = killed },
	{ "disturbed", .run_in_child = disturbed },
};

int main(int argc, char **argv)
{
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
