/* SPDX-License-Identifier: MIT */
/*
 * Tests <cosy/move.h>: lent bytes stay as they were, whatever the sender, the receiver, their
 * children and their mappings do; and every call has the results of the plain one.
 */
#include "move.h"
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PAGES 16UL /* as many as a pipe has buffers */
#define SIZE  (PAGES * PAGE)

static char got[SIZE];

static struct pair pipe_new(void)
{
	int fds[2];

	MUST(!pipe2(fds, O_CLOEXEC));
	return (struct pair){ fds[0], fds[1] };
}

/* Sends `memory` as message 1, and overwrites it. */
static void lend(struct pair p, char *memory)
{
	move_fill(memory, SIZE, 1);
	MUST(cosy_loan(p.to, memory, SIZE, 0) == (ssize_t)SIZE);
	move_fill(memory, SIZE, 2);
}

static void check_read(struct pair p, const char *what)
{
	read_all(p.from, got, SIZE);
	CHECK(move_differs(got, SIZE, 1) < 0, "%s: word %ld is another", what,
	      move_differs(got, SIZE, 1));
}

/* --- The sender writes after it has lent --------------------------------------------------- */

static void scribble(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES), *to = move_alloc(PAGES);
	struct cosy_stats before, now;

	(void)unused;
	before = counts();
	lend(p, from);
	check_read(p, "read");
	lend(p, from);
	transfer_all(p.from, to, SIZE, 0);
	CHECK(move_differs(to, SIZE, 1) < 0, "transfer");
	lend(p, from);
	transfer_all(p.from, to, SIZE, COSY_POPULATE);
	CHECK(move_differs(to, SIZE, 1) < 0, "transfer, present");
	lend(p, from);
	transfer_all(p.from, to, SIZE, COSY_WILL_WRITE);
	CHECK(move_differs(to, SIZE, 1) < 0, "transfer, writable");
	CHECK(move_differs(from, SIZE, 2) < 0, "what the sender wrote");
	/* The receiver writes to pages that both have, and gives them back. */
	move_fill(from, SIZE, 1);
	MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
	transfer_all(p.from, to, SIZE, 0);
	move_fill(to, SIZE, 3);
	CHECK(move_differs(from, SIZE, 1) < 0, "the receiver's writes show");
	MUST(!cosy_flush(to, SIZE));
	for (size_t i = 0; i < SIZE; i++)
		CHECK(!to[i], "byte %zu is not zero after a flush", i);
	/* Lend twice. */
	MUST(cosy_loan(p.to, from, SIZE / 2, 0) == (ssize_t)SIZE / 2);
	MUST(cosy_loan(p.to, from, SIZE / 2, 0) == (ssize_t)SIZE / 2);
	transfer_all(p.from, to, SIZE / 2, 0);
	to[0]++;
	read_all(p.from, got, SIZE / 2);
	CHECK(move_differs(got, SIZE / 2, 1) < 0, "lent twice");
	now = counts();
	if (moves()) {
		CHECK(now.loaned - before.loaned == 6 * PAGES, "%llu pages lent",
		      (unsigned long long)(now.loaned - before.loaned));
		CHECK(now.transferred - before.transferred == 4 * PAGES + PAGES / 2,
		      "%llu pages transferred",
		      (unsigned long long)(now.transferred - before.transferred));
	}
	cosy_move_free(from, SIZE);
	cosy_move_free(to, SIZE);
	pair_close(p);
}

static void gives(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES);

	(void)unused;
	move_fill(from, SIZE, 1);
	MUST(cosy_loan(p.to, from, SIZE - 100, COSY_GIVE) == (ssize_t)SIZE - 100);
	for (size_t i = 0; i < SIZE - PAGE; i++)
		CHECK(!from[i], "byte %zu was given and is still there", i);
	read_all(p.from, got, SIZE - 100);
	CHECK(move_differs(got, SIZE - 104, 1) < 0, "what was given is another");
	CHECK(!memcmp(from + SIZE - PAGE, got + SIZE - PAGE, PAGE - 100), "the last, part of one");
	pair_close(p);
}

/* Takes over data of write(2); reads what is no whole page. */
static void written(void *unused)
{
	struct pair p = pipe_new();
	char *to = move_alloc(PAGES);

	(void)unused;
	move_fill(got, SIZE, 1);
	MUST(write(p.to, got, 4 * PAGE) == (ssize_t)(4 * PAGE));
	move_fill(got, SIZE, 2);
	transfer_all(p.from, to, 4 * PAGE, COSY_WILL_WRITE);
	CHECK(move_differs(to, 4 * PAGE, 1) < 0, "what was written is another");
	MUST(write(p.to, got, 3 * PAGE + 80) == (ssize_t)(3 * PAGE + 80));
	transfer_all(p.from, to, 3 * PAGE + 80, 0);
	CHECK(move_differs(to, 3 * PAGE + 80, 2) < 0, "what was written in part is another");
	/* A reader may write a page that two pipes have. */
	{
		struct pair other = pipe_new();

		MUST(write(p.to, got, 2 * PAGE) == (ssize_t)(2 * PAGE));
		MUST(tee(p.from, other.to, 2 * PAGE, 0) == (ssize_t)(2 * PAGE));
		transfer_all(p.from, to, 2 * PAGE, COSY_WILL_WRITE);
		move_fill(to, 2 * PAGE, 5);
		read_all(other.from, got, 2 * PAGE);
		CHECK(move_differs(got, 2 * PAGE, 2) < 0, "the other pipe's data are others");
		pair_close(other);
	}
	/* A page that its owner can still write must not be taken. */
	{
		char *mine = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		struct iovec piece = { mine, 4 * PAGE };

		move_fill(mine, 4 * PAGE, 1);
		MUST(vmsplice(p.to, &piece, 1, 0) == (ssize_t)(4 * PAGE));
		transfer_all(p.from, to, 4 * PAGE, COSY_WILL_WRITE);
		move_fill(mine, 4 * PAGE, 6);
		CHECK(move_differs(to, 4 * PAGE, 1) < 0, "a vmspliced page was taken");
		munmap(mine, SIZE);
	}
	pair_close(p);
}

/*
 * --- A thread that writes all the time ---------------------------------------------------------
 */

static volatile bool stop;

static void *writes(void *memory)
{
	for (uint64_t k = 1; !stop; k++)
		for (size_t i = 0; i < PAGES; i++)
			*(volatile uint64_t *)((char *)memory + i * PAGE + k % 512 * 8) = k;
	return NULL;
}

static void racing(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES), *to = move_alloc(PAGES);
	pthread_t thread;

	(void)unused;
	stop = false;
	memset(from, 1, SIZE);
	MUST(!pthread_create(&thread, NULL, writes, from));
	for (int turn = 0; turn < 150; turn++) {
		char *seen = turn % 2 ? to : got;

		MUST(cosy_loan(p.to, from, SIZE, turn % 5 ? 0 : COSY_GIVE) == (ssize_t)SIZE);
		if (turn % 3 == 0) {
			/* Another reader gets the same pages, later. */
			MUST(cosy_loan(p.to, from, 0, 0) == 0);
			sched_yield();
		}
		transfer_all(p.from, to, SIZE, turn % 4 == 1 ? COSY_POPULATE : 0);
		memcpy(got, to, SIZE);
		sched_yield();
		sleep_ms(turn % 7 == 0);
		CHECK(!memcmp(got, to, SIZE), "turn %d: a write shows after the message came",
		      turn);
		(void)seen;
	}
	stop = true;
	MUST(!pthread_join(thread, NULL));
	pair_close(p);
}

/*
 * --- Mappings ----------------------------------------------------------------------------------
 */

/* Checks that a page that is out does not become writable by a change of rights alone. */
static void rights(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES);
	volatile char sum = 0;

	(void)unused;
	for (int turn = 0; turn < 4; turn++) {
		move_fill(from, SIZE, 1);
		/*
		 * Write, so that the entries are dirty; then make them read-only, before or after
		 * the loan.
		 */
		if (turn & 1)
			MUST(!mprotect(from, SIZE, PROT_READ));
		MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
		for (size_t i = 0; i < PAGES; i++)
			sum += from[i * PAGE];
		if (turn & 2) {
			MUST(!mprotect(from, SIZE / 2, PROT_NONE));
			MUST(!mprotect(from, SIZE / 2, PROT_READ));
		}
		MUST(!mprotect(from, SIZE, PROT_READ));
		for (size_t i = 0; i < PAGES; i++)
			sum += from[i * PAGE];
		MUST(!mprotect(from, SIZE, PROT_READ | PROT_WRITE));
		move_fill(from, SIZE, 2);
		check_read(p, "after mprotect");
	}
	/*
	 * Memory without a right to read cannot be lent, nor without a right to write received
	 * into.
	 */
	MUST(!mprotect(from, SIZE, PROT_NONE));
	CHECK(cosy_loan(p.to, from, SIZE, 0) == -1 && errno == EFAULT, "%s", strerror(errno));
	MUST(!mprotect(from, SIZE, PROT_READ));
	/* Not all of it goes: a write(2) that failed may have left a buffer of no bytes. */
	MUST(cosy_loan(p.to, from, SIZE / 2, 0) == (ssize_t)SIZE / 2);
	CHECK(cosy_transfer(p.from, from, SIZE, 0) == -1 && errno == EFAULT, "%s", strerror(errno));
	pair_close(p);
}

static void mappings(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES), *moved;
	struct iovec piece = { from, PAGE };

	(void)unused;
	move_fill(from, SIZE, 1);
	MUST(cosy_loan(p.to, from, SIZE, 0) == (ssize_t)SIZE);
	moved = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(from, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, moved);
	MUST(moved != MAP_FAILED);
	CHECK(move_differs(moved, SIZE, 1) < 0, "moved");
	move_fill(moved, SIZE, 2);
	check_read(p, "after mremap");
	/* Move one piece of it, and unmap another. */
	lend(p, moved);
	from = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	from = mremap(moved + 4 * PAGE, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, from);
	MUST(from != MAP_FAILED);
	MUST(!munmap(moved + 12 * PAGE, 2 * PAGE));
	memset(from, 7, 4 * PAGE);
	memset(moved, 8, 4 * PAGE);
	check_read(p, "in pieces");
	CHECK(cosy_loan(p.to, moved + 12 * PAGE, 2 * PAGE, 0) == -1 && errno == EFAULT,
	      "memory that is gone was lent");
	MUST(cosy_loan(p.to, from, 4 * PAGE, 0) == (ssize_t)(4 * PAGE));
	read_all(p.from, got, 4 * PAGE);
	CHECK(got[0] == 7 && got[4 * PAGE - 1] == 7, "the piece that moved");
	if (!moves()) {
		pair_close(p);
		return;
	}
	/* No mapping can be doubled, grown or pinned. */
	CHECK(mremap(moved, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "a second mapping");
	CHECK(mremap(moved, PAGE, 8 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "a mapping grew");
	CHECK(mprotect(moved, PAGE, PROT_READ | PROT_EXEC) == -1, "executable");
	piece.iov_base = moved;
	CHECK(vmsplice(p.to, &piece, 1, 0) == -1 && errno == EFAULT, "vmsplice pins");
	pair_close(p);
}

/*
 * --- Processes ----------------------------------------------------------------------------------
 */

static void forks(void *unused)
{
	struct pair p = pipe_new();
	char *memory = move_alloc(PAGES);
	int status;
	pid_t pid;

	(void)unused;
	for (int turn = 0; turn < 6; turn++) {
		move_fill(memory, SIZE, 1);
		if (turn & 1)
			MUST(cosy_loan(p.to, memory, SIZE, 0) == (ssize_t)SIZE);
		/* Split it into two mappings, each of which gets an arena of its own. */
		if (turn & 2)
			MUST(!mprotect(memory + SIZE / 2, SIZE / 2, PROT_READ));
		pid = child_start();
		if (!pid) {
			sleep_ms(turn & 1);
			CHECK(move_differs(memory, SIZE, 1) < 0, "turn %d: the child's memory",
			      turn);
			MUST(!mprotect(memory, SIZE, PROT_READ | PROT_WRITE));
			if (turn & 1)
				check_read(p, "in the child");
			lend(p, memory);
			_exit(check_end());
		}
		MUST(!mprotect(memory, SIZE, PROT_READ | PROT_WRITE));
		move_fill(memory, SIZE, 9);
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK_CHILD(status);
		check_read(p, "what a child lent that has ended");
		CHECK(move_differs(memory, SIZE, 9) < 0, "turn %d: the child's writes show", turn);
	}
	pair_close(p);
}

/* Kills the child while it lends, or later: what came is whole pages of one message or another. */
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

			close(p.from);
			for (;;) {
				for (size_t i = 0; i < PAGES; i++)
					move_fill(memory + i * PAGE, PAGE, 1);
				cosy_loan(p.to, memory, SIZE, 0);
				memset(memory, 0xee, SIZE);
			}
		}
		close(p.to);
		while (had < (size_t)turn * 2 * PAGE) {
			now = cosy_transfer(p.from, to, 2 * PAGE, 0);
			MUST(now > 0);
			had += (size_t)now;
			CHECK(now != (ssize_t)(2 * PAGE) || move_differs(to + PAGE, PAGE, 1) < 0,
			      "a page is no message's");
		}
		MUST(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
		while ((now = cosy_transfer(p.from, to, SIZE, COSY_WILL_WRITE)) > 0)
			for (ssize_t i = 0; i + (ssize_t)PAGE <= now; i += (ssize_t)PAGE)
				CHECK(move_differs(to + i, PAGE, 1) < 0,
				      "after the sender's death");
		CHECK(!now, "no end of file: %s", strerror(errno));
		cosy_move_free(to, SIZE);
		close(p.from);
	}
}

/*
 * --- The plain call's results ------------------------------------------------------------------
 */

static volatile int signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

static void results(void *unused)
{
	struct pair p = pipe_new();
	char *memory = move_alloc(2 * PAGES);
	int fd;

	(void)unused;
	memset(memory, 'm', 2 * SIZE);
	MUST(!fcntl(p.from, F_SETFL, O_NONBLOCK) && !fcntl(p.to, F_SETFL, O_NONBLOCK));
	CHECK(cosy_transfer(p.from, memory, SIZE, 0) == -1 && errno == EAGAIN, "empty: %s",
	      strerror(errno));
	CHECK(cosy_loan(p.to, memory, 2 * SIZE, 0) == (ssize_t)SIZE, "in part: %s",
	      strerror(errno));
	CHECK(cosy_loan(p.to, memory, SIZE, 0) == -1 && errno == EAGAIN, "full: %s",
	      strerror(errno));
	CHECK(cosy_loan(p.from, memory, SIZE, 0) == -1 && errno == EBADF, "%s", strerror(errno));
	CHECK(cosy_transfer(p.to, memory, SIZE, 0) == -1 && errno == EBADF, "%s", strerror(errno));
	CHECK(cosy_loan(-1, memory, SIZE, 0) == -1 && errno == EBADF, "%s", strerror(errno));
	CHECK(cosy_loan(p.to, memory, SIZE, MSG_DONTWAIT) == -1 && errno == ENOTSOCK, "%s",
	      strerror(errno));
	/* A signal ends a blocked call: nothing is sent, or a part. */
	MUST(!fcntl(p.from, F_SETFL, 0) && !fcntl(p.to, F_SETFL, 0));
	handle(SIGALRM, count_signal, 0);
	alarm_us(20000, 20000);
	CHECK(cosy_loan(p.to, memory, SIZE, 0) == -1 && errno == EINTR, "%s", strerror(errno));
	read_all(p.from, got, 4 * PAGE);
	CHECK(cosy_loan(p.to, memory, SIZE, 0) == (ssize_t)(4 * PAGE), "%s", strerror(errno));
	read_all(p.from, got, SIZE);
	CHECK(cosy_transfer(p.from, memory, SIZE, 0) == -1 && errno == EINTR, "%s",
	      strerror(errno));
	alarm_us(0, 0);
	CHECK(signals >= 3, "%d signals", signals);
	/* Lend part of a page at the end. */
	MUST(cosy_loan(p.to, memory, 3 * PAGE + 77, 0) == (ssize_t)(3 * PAGE + 77));
	MUST(cosy_loan(p.to, memory + 1, 3 * PAGE, 0) == (ssize_t)(3 * PAGE));
	transfer_all(p.from, memory, 6 * PAGE + 77, 0);
	for (size_t i = 0; i < 6 * PAGE + 77; i++)
		CHECK(memory[i] == 'm', "byte %zu", i);
	/* Try other kinds of files. */
	fd = open("/dev/null", O_WRONLY);
	CHECK(cosy_loan(fd, memory, SIZE, COSY_GIVE) == (ssize_t)SIZE && !memory[0], "/dev/null");
	close(fd);
	fd = open("/dev/zero", O_RDONLY);
	memory[SIZE - 1] = 'x';
	CHECK(cosy_transfer(fd, memory, SIZE, 0) == (ssize_t)SIZE && !memory[SIZE - 1],
	      "/dev/zero");
	close(fd);
	/* Close the writing end, then the reading end. */
	close(p.to);
	CHECK(!cosy_transfer(p.from, memory, SIZE, 0), "%s", strerror(errno));
	close(p.from);
	p = pipe_new();
	close(p.from);
	signals = 0;
	handle(SIGPIPE, count_signal, 0);
	CHECK(cosy_loan(p.to, memory, SIZE, 0) == -1 && errno == EPIPE && signals == 1, "%s",
	      strerror(errno));
	close(p.to);
	errno = 0;
	CHECK(!cosy_move_alloc(0, 0) && errno == EINVAL, "of size 0");
	CHECK(!cosy_move_alloc(PAGE, 2) && errno == EINVAL, "an unknown flag");
	CHECK(cosy_flush(memory + 1, PAGE) == -1 && errno == EINVAL, "part of a page");
	CHECK(cosy_ready(memory, PAGE, COSY_GIVE) == -1 && errno == EINVAL, "a flag of another");
	CHECK(!cosy_ready(memory, SIZE, COSY_WILL_WRITE), "%s", strerror(errno));
	cosy_move_free(memory, 2 * SIZE);
}

/* Looks at the memory by way of the kernel. */
static void debuggers(void *unused)
{
	char *memory = move_alloc(PAGES);
	int fd = open("/proc/self/mem", O_RDWR);

	(void)unused;
	MUST(fd >= 0);
	move_fill(memory, PAGE, 1);
	CHECK(pread(fd, got, 2 * PAGE, (off_t)(uintptr_t)memory) == (ssize_t)(2 * PAGE), "%s",
	      strerror(errno));
	CHECK(move_differs(got, PAGE, 1) < 0 && !got[PAGE], "read through /proc/self/mem");
	CHECK(pwrite(fd, "abc", 3, (off_t)(uintptr_t)(memory + 3 * PAGE - 1)) == 3, "%s",
	      strerror(errno));
	CHECK(!memcmp(memory + 3 * PAGE - 1, "abc", 3), "written through /proc/self/mem");
	close(fd);
}

/* True if the memory's pages are lent. */
static bool is_lent(struct pair p, char *memory)
{
	uint64_t before = counts().loaned;

	lend(p, memory);
	check_read(p, "near the limit");
	return counts().loaned > before;
}

/* Above the limit takes ordinary memory, and everything works. */
static void memlock(void *unused)
{
	const struct rlimit limit = { 20 * SIZE, 20 * SIZE };
	struct pair p = pipe_new();
	char *memory[21];
	int made = 0;

	(void)unused;
	become_nobody(true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	do
		memory[made] = move_alloc(PAGES);
	while (is_lent(p, memory[made++]) && made < 21);
	if (!moves())
		return;
	CHECK(made > 1 && made < 21, "%d pieces as large as a twentieth of the limit", made);
	/* Memory that is freed is not charged any more. */
	cosy_move_free(memory[0], SIZE);
	CHECK(is_lent(p, move_alloc(PAGES)), "what was freed is still charged");
	pair_close(p);
}

/* Refuses every third page: calls fail or are made plainly, and nothing shows that should not. */
static void without_memory(void *unused)
{
	struct pair p = pipe_new();
	char *from = move_alloc(PAGES), *to = move_alloc(PAGES);
	int ended = 0, status;

	(void)unused;
	move_fill(from, SIZE, 1);
	if (!moves() || !move_parameter("fail_moved", "3")) {
		printf("no memory: not tried, only root and the module can\n");
		return;
	}
	for (int turn = 0; turn < 10; turn++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (!pid) {
			cosy_loan(p.to, from, SIZE, 0);
			move_fill(from, SIZE, 2);
			cosy_transfer(p.from, to, SIZE, COSY_WILL_WRITE);
			_exit(move_differs(from, SIZE, 2) >= 0);
		}
		MUST(waitpid(pid, &status, 0) == pid);
		/* A fault that found no memory kills. */
		ended += WIFSIGNALED(status);
		CHECK(WIFSIGNALED(status) || !WEXITSTATUS(status), "status %#x", status);
		CHECK(move_differs(from, SIZE, 1) < 0, "the parent's memory");
		MUST(!fcntl(p.from, F_SETFL, O_NONBLOCK));
		while (read(p.from, got, PAGE) == (ssize_t)PAGE)
			;
		MUST(!fcntl(p.from, F_SETFL, 0));
	}
	MUST(move_parameter("fail_moved", "0"));
	printf("no memory: %d of 10 ended\n", ended);
	pair_close(p);
}

static const struct part parts[] = {
	{ "scribble", .run_in_child = scribble },
	{ "gives", .run_in_child = gives },
	{ "written", .run_in_child = written },
	{ "rights", .run_in_child = rights },
	{ "mappings", .run_in_child = mappings },
	{ "forks", .run_in_child = forks },
	{ "results", .run_in_child = results },
	{ "debuggers", .run_in_child = debuggers },
	{ "memlock", .run_in_child = memlock },
	{ "without_memory", .run_in_child = without_memory },
	{ "killed", .run_in_child = killed },
	{ "racing", .run_in_child = racing },
};

int main(int argc, char **argv)
{
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
