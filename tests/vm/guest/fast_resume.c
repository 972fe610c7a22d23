/* SPDX-License-Identifier: MIT */
/*
 * Makes read_file and write_file leave before any of their calls, for filters, signals and limits,
 * and go on there from what r1-r5 say, whoever wrote that.
 */
#include "kmod.h"
#include "../../filter_arm.h"
#include <cosy/fast.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 20000, TRIES = 300 };

static char content[SIZE];

/* The place of the compound's one call. */
#define AT_CALL 11

static uint32_t load_file(uint32_t op, int flags, const char *name, void *memory, uint64_t size)
{
	const struct bpf_insn insns[] = {
		WIDE(1, (uint64_t)AT_FDCWD),
		WIDE(2, (uintptr_t)name),
		WIDE(3, (uintptr_t)memory),
		WIDE(4, size),
		WIDE(5, (uint64_t)flags),
		MOV(0, 0),
		CALL_OP(op),
		EXIT,
	};

	return raw_load(fd, insns, COUNT(insns));
}

static uint32_t load_read_file(const char *name, void *to, uint64_t size)
{
	return load_file(RAW_OP_read_file, O_RDONLY, name, to, size);
}

static int free_descriptor(void)
{
	int number = dup(0);

	close(number);
	return number;
}

/*
 * Gives each RUN a nanosecond, in which it makes one call; from point `plain` on there is no limit.
 */
static int stepped_by(uint32_t handle, const char *name, int plain, int64_t want)
{
	int steps = 0, before = free_descriptor();

	raw_run_init(&the_run, handle, NULL);
	do {
		raw_limits(fd, 0, steps < plain);
		the_run.state.kernel_ns = 0;
		MUST(!raw_run(fd, &the_run) && ++steps < 1000);
	} while (the_run.run.status == COSY_LEFT_WORK ||
		 (the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == AT_CALL + 1));
	raw_limits(fd, 0, 0);
	if (the_run.run.status == COSY_ENDED_TIME)
		MUST(!raw_run_to_end(fd, &the_run));
	CHECK(the_run.run.status == COSY_DONE && the_run.run.ret == want,
	      "%s, %d: status %u, %lld, not %lld", name, plain, the_run.run.status,
	      (long long)the_run.run.ret, (long long)want);
	CHECK(free_descriptor() == before, "%s, %d: a descriptor was left", name, plain);
	return steps;
}

static int stepped(const char *name, char *to, uint64_t size, int plain, int64_t want)
{
	return stepped_by(load_read_file(name, to, size), name, plain, want);
}

static int stepped_write(const char *name, char *from, uint64_t size, int flags, int plain,
			 int64_t want)
{
	return stepped_by(load_file(RAW_OP_write_file, flags, name, from, size), name, plain, want);
}

/* The same bytes are in the file wherever write_file was left. */
static void test_every_point_of_a_write(void)
{
	char *from[] = { shared, malloc(SIZE) }, got[SIZE + 1];
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);

	for (size_t i = 0; i < COUNT(from); i++)
		for (int plain = 0; plain < 6; plain++) {
			int file;

			memcpy(from[i], content, SIZE);
			stepped_write("new", from[i], SIZE, O_WRONLY | O_CREAT | O_TRUNC, plain,
				      SIZE);
			MUST((file = open("new", O_RDONLY)) >= 0 && !fstat(file, &st));
			CHECK((st.st_mode & 07777) == (0666 & ~mask), "point %d: mode %o", plain,
			      st.st_mode);
			CHECK(read(file, got, sizeof(got)) == SIZE && !memcmp(got, content, SIZE),
			      "point %d: other bytes", plain);
			close(file);
			stepped_write("new", from[i], 100, O_WRONLY | O_APPEND, plain, 100);
			stepped_write("new", from[i], 0, O_WRONLY, plain, 0);
			stepped_write("new", from[i], 100, O_RDONLY, plain, -EBADF);
			stepped_write("new", NULL, 100, O_WRONLY, plain, -EFAULT);
			stepped_write("none", from[i], 100, O_WRONLY, plain, -ENOENT);
			stepped_write(".", from[i], 100, O_WRONLY, plain, -EISDIR);
			stepped_write("/dev/full", from[i], 100, O_WRONLY, plain, -ENOSPC);
			MUST(!unlink("new"));
		}
	CHECK(stepped_write("new", shared, SIZE, O_WRONLY | O_CREAT, 100, SIZE) >= 3,
	      "openat, write and close are not three steps");
	MUST(!unlink("new"));
	free(from[1]);
}

static void test_every_point(void)
{
	char *to[] = { shared, malloc(SIZE + 1) };

	for (size_t i = 0; i < COUNT(to); i++)
		for (int plain = 0; plain < 6; plain++) {
			memset(to[i], 0, SIZE + 1);
			stepped("whole", to[i], SIZE + 1, plain, SIZE);
			CHECK(!memcmp(to[i], content, SIZE) && !to[i][SIZE],
			      "point %d: other bytes", plain);
			stepped("whole", to[i], 5000, plain, 5000);
			stepped("whole", to[i], 0, plain, 0);
			stepped("none", to[i], 100, plain, -ENOENT);
			stepped(".", to[i], 100, plain, -EISDIR);
			stepped("whole", NULL, 100, plain, -EFAULT);
		}
	CHECK(stepped("whole", shared, SIZE + 1, 100, SIZE) >= 4,
	      "openat, two reads and close are not four steps");
	free(to[1]);
}

/* Checks that nothing in a state is believed without a test. */
static void forged(uint32_t handle)
{
	static const uint64_t words[] = { 0,	      1,     4096,	 1ull << 31,
					  1ull << 63, ~0ull, 1ull << 47, 0x7ffffffff000 };
	uint64_t numbers[] = { 99, ~0ull, 1ull << 32 | 99, 1ull << 31 };

	raw_limits(fd, 0, 1);
	raw_run_init(&the_run, handle, NULL);
	MUST(!raw_run(fd, &the_run) && the_run.run.status == COSY_ENDED_TIME &&
	     COSY_IS_UNDER_WAY(the_run.state.reg[5]));
	close((int)the_run.state.reg[1]);
	raw_limits(fd, 0, 0);
	for (size_t i = 0; i < COUNT(numbers); i++)
		for (size_t k = 0; k < COUNT(words) * COUNT(words); k++) {
			the_run.run.resume = AT_CALL + 1;
			the_run.state.reg[1] = numbers[i];
			the_run.state.reg[2] = 0;
			the_run.state.reg[3] = words[k % COUNT(words)];
			the_run.state.reg[4] = words[k / COUNT(words)];
			the_run.state.reg[5] = COSY_UNDER_WAY;
			CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
				      the_run.run.ret == -EBADF,
			      "status %u, %lld", the_run.run.status, (long long)the_run.run.ret);
		}
}

static void test_forged(void)
{
	forged(load_read_file("whole", shared, SIZE));
}

static void test_forged_write(void)
{
	forged(load_file(RAW_OP_write_file, O_WRONLY, "whole", shared, SIZE));
}

static int ring_writer, rings;

static void on_ring(int sig)
{
	(void)sig;
	if (++rings == 3)
		MUST(write(ring_writer, "def", 3) == 3);
	if (rings == 4)
		close(ring_writer);
}

/* Checks that a waiting read is interrupted and restarted as read(2) is, and the file closed. */
static void test_signal(void)
{
	uint32_t reading = load_read_file("fifo", shared, SIZE);
	int before, keep;
	long ret;

	MUST(!mkfifo("fifo", 0600) && (keep = open("fifo", O_RDWR)) >= 0);
	before = free_descriptor();
	MUST(write(keep, "abc", 3) == 3);
	handle(SIGALRM, on_ring, 0);
	raw_run_init(&the_run, reading, NULL);
	rings = 10;
	alarm_us(50000, 0);
	do
		ret = raw_run(fd, &the_run);
	while (!ret && the_run.run.status == COSY_LEFT_WORK);
	CHECK(ret == -EINTR && the_run.run.status == COSY_LEFT_CALL &&
		      the_run.run.resume == AT_CALL + 1,
	      "RUN %ld, status %u at %d", ret, the_run.run.status, (int)the_run.run.resume - 1);
	CHECK(the_run.state.reg[2] == 3 && the_run.state.reg[4] == SIZE - 3 &&
		      !memcmp(shared, "abc", 3),
	      "%lld bytes", (long long)the_run.state.reg[2]);
	the_run.state.reg[2] = (uint64_t)-EINTR;
	the_run.state.reg[4] = 0;
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
		      the_run.run.ret == -EINTR,
	      "interrupted: status %u, %lld", the_run.run.status, (long long)the_run.run.ret);
	CHECK(free_descriptor() == before, "a descriptor was left");

	handle(SIGALRM, on_ring, SA_RESTART);
	ring_writer = keep;
	rings = 0;
	MUST(write(keep, "abc", 3) == 3);
	raw_run_init(&the_run, reading, NULL);
	alarm_us(50000, 20000);
	ret = raw_run_to_end(fd, &the_run);
	alarm_us(0, 0);
	CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 6 &&
		      !memcmp(shared, "abcdef", 6),
	      "restarted: RUN %ld, status %u, %lld", ret, the_run.run.status,
	      (long long)the_run.run.ret);
	MUST(!unlink("fifo"));
}

static void on_interrupt(int sig)
{
	(void)sig;
}

/* Does the same in a region, with which libcosy goes on: the file is closed as it is natively. */
static void test_region(void)
{
	int before, keep, error;
	ssize_t got;

	MUST(!mkfifo("fifo", 0600) && (keep = open("fifo", O_RDWR)) >= 0 &&
	     write(keep, "abc", 3) == 3);
	/* Opens the context. */
	COSY_START;
	got = cosy_read_file(AT_FDCWD, "whole", content, SIZE, O_RDONLY);
	COSY_END;
	CHECK(got == SIZE, "%zd", got);
	before = free_descriptor();
	handle(SIGALRM, on_interrupt, 0);
	alarm_us(50000, 50000);
	COSY_START;
	got = cosy_read_file(AT_FDCWD, "fifo", content, SIZE, O_RDONLY);
	error = errno;
	COSY_END;
	alarm_us(0, 0);
	CHECK(got == -1 && error == EINTR && !memcmp(content, "abc", 3), "%zd, %s", got,
	      strerror(error));
	CHECK(free_descriptor() == before, "a descriptor was left");
	close(keep);
	MUST(!unlink("fifo"));
}

/* --- A filter that another thread installs --------------------------------------------------- */

static _Atomic bool ended;
static _Atomic pid_t reader_tid;
static long tsync_ret;

static void *reader(void *unused)
{
	reader_tid = gettid();
	tsync_ret = raw_run_to_end(fd, &the_run);
	ended = true;
	return unused;
}

/* Returns how many bytes nobody has taken. */
static int pipe_left(int pipe)
{
	int left;

	MUST(!ioctl(pipe, FIONREAD, &left));
	return left;
}

static void wait_taken(int pipe)
{
	while (!ended && pipe_left(pipe))
		sleep_ms(1);
}

static void deny_reads(void)
{
	MUST(!filter_arm(SYS_read, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC));
}

/* As natively, only a read that sleeps when the filter is installed may get anything. */
static void tsync_child(void *unused)
{
	static char to[4096];
	pthread_t thread;
	int writer, written = 0, after;

	(void)unused;
	fd = raw_open();
	MUST(!mkfifo("tsync", 0600));
	raw_run_init(&the_run, load_read_file("tsync", to, sizeof(to)), NULL);
	MUST(!pthread_create(&thread, NULL, reader, NULL));
	MUST((writer = open("tsync", O_WRONLY)) >= 0);
	MUST(write(writer, "x", 1) == 1);
	wait_taken(writer);
	/* The next read has begun. */
	while (!ended && !is_asleep(reader_tid))
		sleep_ms(1);
	deny_reads();
	for (; written < TRIES && !ended; written++) {
		MUST(write(writer, "y", 1) == 1);
		wait_taken(writer);
	}
	after = written - pipe_left(writer);
	close(writer);
	pthread_join(thread, NULL);
	CHECK(after == 1, "%d reads after the filter", after);
	CHECK(!tsync_ret && the_run.run.status == COSY_LEFT_FILTERED &&
		      the_run.run.resume == AT_CALL + 1 &&
		      COSY_IS_UNDER_WAY(the_run.state.reg[5]) && the_run.state.reg[2] == 2,
	      "RUN %ld, status %u at %d, %lld bytes", tsync_ret, the_run.run.status,
	      (int)the_run.run.resume - 1, (long long)the_run.state.reg[2]);
	unlink("tsync");
}

static void test_tsync(void)
{
	handle(SIGPIPE, SIG_IGN, 0);
	CHECK_CHILD(in_child(tsync_child, NULL));
}

/* --- A stay that is over -------------------------------------------------------------------- */

/* Returns the time as of the last tick, by which the kernel measures a stay, however late that came. */
static double tick_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* What a compound may stay in the kernel for, and some ticks. */
enum { MAX_STAY_MS = 130, FEED_MS = 1000, MAX_FEEDS = 20 };

/*
 * Writes bytes, each once the one before it has been taken, for much longer than that.  Notes when
 * it wrote each.
 */
static void feed(int writer, double *written)
{
	double start = now_ms();

	do {
		*written++ = tick_ms();
		MUST(write(writer, "x", 1) == 1);
		while (pipe_left(writer))
			sleep_ms(1);
	} while (now_ms() - start < FEED_MS);
	*written = tick_ms();
	MUST(write(writer, "y", 1) == 1);
	close(writer);
}

/* Takes the work that the kernel has a running thread of the process do each 100 ms. */
static void *take_work(void *unused)
{
	while (!ended)
		;
	return unused;
}

/* Returns the longest stay of a thread that reads what a child feeds it. */
static double longest_stay(void)
{
	double *written = shared_memory(SIZE * sizeof(*written)), longest = 0;
	uint64_t first = 0, last = 0;
	pthread_t taker;
	pid_t child;
	long ret;

	MUST(!mkfifo("stay", 0600));
	child = child_start();
	if (!child) {
		int writer = open("stay", O_WRONLY);

		MUST(writer >= 0);
		feed(writer, written);
		_exit(0);
	}
	ended = false;
	MUST(!pthread_create(&taker, NULL, take_work, NULL));
	raw_run_init(&the_run, load_read_file("stay", shared, SIZE), NULL);
	do {
		ret = raw_run(fd, &the_run);
		if (the_run.run.status != COSY_LEFT_WORK)
			last = the_run.run.ret;
		else if (COSY_IS_UNDER_WAY(the_run.state.reg[5]))
			last = the_run.state.reg[2];
		else
			continue; /* for the end of the child, before or after the call */
		if (last >= first + 3 && written[last - 2] - written[first + 1] > longest)
			longest = written[last - 2] - written[first + 1];
		first = last;
	} while (!ret && the_run.run.status == COSY_LEFT_WORK);
	ended = true;
	pthread_join(taker, NULL);
	CHECK(!ret && the_run.run.status == COSY_DONE && last > 1 &&
		      ((const char *)shared)[last - 1] == 'y',
	      "RUN %ld, status %u, %lld", ret, the_run.run.status, (long long)the_run.run.ret);
	MUST(waitpid(child, NULL, 0) == child && !unlink("stay"));
	munmap(written, SIZE * sizeof(*written));
	return longest;
}

/*
 * However many calls it makes, read_file lets its thread return to user mode now and then: once its
 * stay is over no more than one further read begins.  A RUN that took bytes `first` to `last` had
 * begun when the second of them was written, and the read of the last but one came back later than
 * that one was.  A machine that stands still makes a stay longer, so one good feed is enough: a stay
 * without an end has none.
 */
static void test_stay(void)
{
	double longest = longest_stay();

	for (int i = 1; i < MAX_FEEDS && longest >= MAX_STAY_MS; i++)
		longest = longest_stay();
	CHECK(longest < MAX_STAY_MS, "it stayed for %.0f ms", longest);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "every_point", .run = test_every_point },
		{ "every_point_of_a_write", .run = test_every_point_of_a_write },
		{ "forged", .run = test_forged },
		{ "forged_write", .run = test_forged_write },
		{ "signal", .run = test_signal },
		{ "region", .run = test_region },
		{ "tsync", .run = test_tsync },
		{ "stay", .run = test_stay },
	};
	int file, status;

	directory_enter();
	MUST(!chmod(".", 0777) && (file = open("whole", O_CREAT | O_RDWR, 0600)) >= 0);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (char)(i * 7 + i / 251);
	MUST(write(file, content, SIZE) == SIZE && !close(file));
	status = kmod_main(parts, COUNT(parts), argc, argv);
	MUST(!unlink("whole"));
	directory_leave();
	return status | check_end();
}
