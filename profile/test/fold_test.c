// SPDX-License-Identifier: MIT
/* Checks what fold/ makes of streams of events. */
#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "advise/advise.h"
#include "stream.h"
#include "test/check.h"

static const struct edge *edge_find(const struct profile *profile, unsigned int from,
				    unsigned int to, enum edge_kind kind)
{
	for (uint32_t i = 1; i <= profile->n_edges; i++) {
		const struct edge *edge = &profile->edges[i];

		if (profile->sites[edge->from].nr == from && profile->sites[edge->to].nr == to &&
		    edge->kind == kind)
			return edge;
	}
	return NULL;
}

/* The sequence of the row with most calls. */
static const char *sequence(const struct profile *profile)
{
	static char text[1000];
	const struct profile_row *most = NULL;

	for (uint32_t i = 1; i <= profile->n_rows; i++)
		if (!profile->rows[i].merged &&
		    (!most || profile->rows[i].sums.calls > most->sums.calls))
			most = &profile->rows[i];
	*text = 0;
	if (most)
		advise_sequence(profile, most->symbol, text, sizeof(text));
	return text;
}

static void test_loop(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 1000; i++) {
		stream_call(&stream, SYS_read, 10, 3, 0x2000, 10);
		stream_call(&stream, SYS_write, 10, 1, 0x2000, 10);
	}
	stream_call(&stream, SYS_close, 0, 3, 0, 0);
	profile = fold_finish(stream.fold);
	CHECK(!strcmp(sequence(profile), "(read write)+"));
	CHECK_EQ(profile->n_rows, 1);
	CHECK_EQ(profile->rows[1].sums.calls, 2000);
	CHECK_EQ(profile->rows[1].turns, 1000);
	CHECK_EQ(profile->rows[1].entries, 1);
	CHECK_EQ(profile->sums.calls, 2002);
	CHECK_EQ(profile->rows[1].sums.of[CLASS_READ_SMALL].calls, 1000);
	fold_destroy(stream.fold);
}

/*
 * A loop that begins and ends with other calls, and has loops of different lengths in it, is one
 * row.
 */
static void test_nested(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	for (int i = 0; i < 200; i++) {
		stream_open(&stream, "/d", O_RDONLY | O_DIRECTORY, 3);
		for (int turn = 0; turn < 2 + i % 5; turn++)
			stream_call_path(&stream, SYS_newfstatat, "name", 0, 3, 0x2000, 0x3000);
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK(!strcmp(sequence(profile), "(openat newfstatat+ close)+"));
	CHECK_EQ(profile->rows[1].turns, 200);
	fold_destroy(stream.fold);
}

/*
 * A path of several components is looked up by the specialised version after another call by name,
 * unless an ordinary call is in between; a single name always.
 */
static void test_paths(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	for (int i = 0; i < 100; i++) {
		stream_call_path(&stream, SYS_access, "conf/a", 0, 0x2000, R_OK, 0);
		stream_call_path(&stream, SYS_newfstatat, "conf/a", 0, AT_FDCWD, 0x2000, 0x3000);
		stream_call_path(&stream, SYS_newfstatat, "conf/b", 0, AT_FDCWD, 0x2000, 0x3000);
		stream_call(&stream, SYS_umask, 0, 0, 0, 0);
		stream_call_path(&stream, SYS_newfstatat, "./a", 0, AT_FDCWD, 0x2000, 0x3000);
		stream_call_path(&stream, SYS_lstat, "/conf/b", 0, 0x2000, 0x3000, 0);
		stream_call(&stream, SYS_newfstatat, 0, 3, 0x2000, 0x3000);
		stream_call_path(&stream, SYS_lstat, "../b", 0, 0x2000, 0x3000, 0);
		stream_call_path(&stream, SYS_lstat, "/run/b", 0, 0x2000, 0x3000, 0);
		stream_call_path(&stream, SYS_lstat, "/proc/b", 0, 0x2000, 0x3000, 0);
		stream_call_path(&stream, SYS_lstat, "conf/..", 0, 0x2000, 0x3000, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->sums.of[CLASS_STAT].calls, 500);
	CHECK_EQ(profile->sums.of[CLASS_STAT_PATH].calls, 300);
	CHECK_EQ(profile->sums.paths, 900);
	fold_destroy(stream.fold);
}

/* A long inner loop counts in place of the one around it. */
static void test_inner(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	for (int i = 0; i < 20; i++) {
		stream_open(&stream, "/a", O_RDONLY, 3);
		for (int turn = 0; turn < 100; turn++) {
			stream_call(&stream, SYS_read, 10, 3, 0x2000, 10);
			stream_call(&stream, SYS_write, 10, 1, 0x2000, 10);
		}
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK(!strcmp(sequence(profile), "(read write)+"));
	CHECK_EQ(profile->rows[1].entries, 20);
	CHECK_EQ(profile->rows[1].turns, 2000);
	fold_destroy(stream.fold);
}

/* Loops of one function are one row, loops of two are two. */
static void test_functions(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	for (int i = 0; i < 200; i++) {
		stream_place(&stream, 1, 0x1000, 0x1010);
		stream_call(&stream, SYS_umask, 0, 0, 0, 0);
		/* Now and then another call between. */
		stream_place(&stream, 2, 0x1000, 0x1020);
		if (i * i % 7 == 2)
			stream_call(&stream, SYS_sched_yield, 0, 0, 0, 0);
		stream_place(&stream, 3, 0x1000, 0x1030);
		stream_call(&stream, SYS_getuid, 0, 0, 0, 0);
	}
	for (int i = 0; i < 50; i++) {
		stream_place(&stream, 4, 0x2000, 0x2010);
		stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
		stream_place(&stream, 5, 0x2000, 0x2020);
		stream_call(&stream, SYS_getuid, 0, 0, 0, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->n_rows, 2);
	CHECK(profile->rows[1].function == 0x1000 || profile->rows[2].function == 0x1000);
	CHECK(profile->rows[1].function == 0x2000 || profile->rows[2].function == 0x2000);
	CHECK_EQ(profile->rows[1].sums.calls + profile->rows[2].sums.calls, profile->sums.calls);
	fold_destroy(stream.fold);
}

/* Each thread has loops of its own, however their calls are mixed. */
static void test_threads(void)
{
	struct stream stream = stream_begin();
	struct event_fork fork = {.event = {.kind = EVENT_FORK,
					    .size = sizeof(fork),
					    .flags = EVENT_FORK_THREAD | EVENT_FORK_FILES,
					    .tid = 11},
				  .pid = 10,
				  .parent = 10};
	const struct profile *profile;

	stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
	fold_take(stream.fold, &fork.event);
	for (int i = 0; i < 300; i++) {
		stream.tid = 10 + i % 2;
		stream_call(&stream, i % 2 ? SYS_umask : SYS_getppid, 0, 0, 0, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->processes, 1);
	CHECK_EQ(profile->threads, 2);
	CHECK_EQ(profile->n_rows, 2);
	CHECK_EQ(profile->rows[1].sums.calls + profile->rows[2].sums.calls, 301);
	fold_destroy(stream.fold);
}

/* A name is another one in another directory. */
static void test_names(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	for (int i = 0; i < 5; i++) {
		stream_open(&stream, "/d", O_RDONLY | O_DIRECTORY, 3);
		stream_call_path(&stream, SYS_newfstatat, "name", 0, 3, 0x1000, 0x2000);
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
		stream_call_path(&stream, SYS_chdir, "..", 0, 0x1000, 0, 0);
		stream_call_path(&stream, SYS_stat, "name", 0, 0x1000, 0x2000, 0);
	}
	stream_call_path(&stream, SYS_stat, "name", 0, 0x1000, 0x2000, 0);
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->useless[USELESS_AGAIN].calls, 1);
	fold_destroy(stream.fold);
}

static void test_useless(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 10; i++) {
		stream_call(&stream, SYS_lseek, 100 * i, 3, 100 * i, SEEK_SET);
		stream_call(&stream, SYS_read, 100, 3, 0x2000, 100);
	}
	/* A question for the size, which the program needs although the position stays. */
	stream_call(&stream, SYS_lseek, 1000, 3, 0, SEEK_END);
	/* These move it. */
	stream_call(&stream, SYS_lseek, 0, 3, 0, SEEK_SET);
	stream_call(&stream, SYS_lseek, 500, 3, 500, SEEK_SET);
	stream_call(&stream, SYS_epoll_wait, 1, 4, 0x3000, 8);
	stream.flags |= EVENT_SLEPT;
	stream_call(&stream, SYS_epoll_wait, 1, 4, 0x3000, 8);
	stream.flags &= ~EVENT_SLEPT;
	for (int i = 0; i < 3; i++)
		stream_call_path(&stream, SYS_newfstatat, "/b", -ENOENT, AT_FDCWD, 0x1000, 0x2000);
	stream_call_path(&stream, SYS_newfstatat, "/b", 0, AT_FDCWD, 0x1000, 0x2000);
	stream_call_path(&stream, SYS_newfstatat, "/c", 0, AT_FDCWD, 0x1000, 0x2000);
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->useless[USELESS_SEEK].calls, 10);
	CHECK_EQ(profile->useless[USELESS_SEEK].of, 13);
	CHECK_EQ(profile->useless[USELESS_WAIT].calls, 1);
	CHECK_EQ(profile->useless[USELESS_WAIT].of, 2);
	CHECK_EQ(profile->useless[USELESS_AGAIN].calls, 2);
	CHECK_EQ(profile->useless[USELESS_AGAIN].of, 5);
	fold_destroy(stream.fold);
}

/* dup shares the position, as fork does; a descriptor that is used again is another file. */
static void test_position(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	stream_open(&stream, "/a", O_RDONLY, 3);
	stream_call(&stream, SYS_dup, 4, 3, 0, 0);
	stream_call(&stream, SYS_read, 100, 4, 0x2000, 100);
	stream_call(&stream, SYS_lseek, 100, 3, 100, SEEK_SET); /* there already */
	stream_call(&stream, SYS_close, 0, 3, 0, 0);
	stream_call(&stream, SYS_lseek, 100, 4, 0, SEEK_CUR); /* there already */
	stream_open(&stream, "/b", O_RDONLY, 3);
	stream_call(&stream, SYS_lseek, 100, 3, 100, SEEK_SET); /* moves */
	stream_open(&stream, "/c", O_WRONLY | O_APPEND, 5);
	stream_call(&stream, SYS_write, 10, 5, 0x2000, 10);
	stream_call(&stream, SYS_lseek, 10, 5, 0, SEEK_CUR); /* not known */
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->useless[USELESS_SEEK].calls, 2);
	fold_destroy(stream.fold);
}

static void test_dependences(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;
	const struct edge *edge;

	stream_call(&stream, SYS_socket, 4, 0, 0, 0);
	for (int i = 0; i < 20; i++) {
		stream_open(&stream, "/a", O_RDONLY, 3);
		stream_call(&stream, SYS_lseek, 64, 3, 64, SEEK_SET);
		stream.made = 77;
		stream_call(&stream, SYS_read, 10 + i, 3, 0x2000, 4096);
		stream.made = 0;
		/* The bytes are others the second half of the time. */
		stream.given = i < 10 ? 77 : 78;
		stream_call(&stream, SYS_write, 10 + i, 4, 0x2000, 10 + i);
		stream.given = 0;
		/* From another buffer, and as many by chance: never the same twice. */
		stream_call(&stream, SYS_write, 3, 4, 0x8000, 3);
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
	}
	profile = fold_finish(stream.fold);
	edge = edge_find(profile, SYS_read, SYS_write, EDGE_BUFFER);
	CHECK(edge && edge->held == 10 && edge->broken == 10);
	edge = edge_find(profile, SYS_read, SYS_write, EDGE_COUNT);
	CHECK(edge && edge->held == 20 && edge->varied);
	edge = edge_find(profile, SYS_lseek, SYS_read, EDGE_POSITION);
	CHECK(edge && edge->held == 20);
	edge = edge_find(profile, SYS_openat, SYS_lseek, EDGE_DESCRIPTOR);
	CHECK(edge && edge->held == 20);
	CHECK(!edge_find(profile, SYS_socket, SYS_write, EDGE_DESCRIPTOR) ||
	      edge_find(profile, SYS_socket, SYS_write, EDGE_DESCRIPTOR)->held <= 2);
	CHECK(!edge_find(profile, SYS_read, SYS_write, EDGE_POSITION));
	fold_destroy(stream.fold);
}

/* Read in full each time, with a constant in both calls: that says nothing. */
static void test_constant_count(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;
	const struct edge *edge;

	for (int i = 0; i < 20; i++) {
		stream_call(&stream, SYS_read, 512, 3, 0x2000, 512);
		stream_call(&stream, SYS_write, 512, 4, 0x8000, 512);
	}
	profile = fold_finish(stream.fold);
	edge = edge_find(profile, SYS_read, SYS_write, EDGE_COUNT);
	CHECK(!edge || !edge->varied);
	CHECK(!edge_find(profile, SYS_read, SYS_write, EDGE_BUFFER));
	fold_destroy(stream.fold);
}

static void test_sessions(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;
	char text[200];

	for (int i = 0; i < 30; i++) {
		stream_open(&stream, "/a", O_WRONLY | O_CREAT | O_TRUNC, 3);
		for (int turn = 0; turn <= i % 3; turn++)
			stream_call(&stream, SYS_write, 100, 3, 0x2000, 100);
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->n_sessions, 2);
	advise_session(profile, &profile->sessions[0], text, sizeof(text));
	CHECK(!strcmp(text, "openat write close"));
	CHECK_EQ(profile->sessions[0].times, 10);
	advise_session(profile, &profile->sessions[1], text, sizeof(text));
	CHECK(!strcmp(text, "openat write+ close"));
	CHECK_EQ(profile->sessions[1].times, 20);
	fold_destroy(stream.fold);
}

/* Calls are made by the program's own code, as a static one's are. */
static void stream_own(struct stream *stream)
{
	stream_place(stream, 1, 0x1000, 0x1010);
	stream_stack(stream, 3, 1,
		     &(struct event_frame){.object = 2, .address = 0x9100, .function = 0x9000});
}

/* Checks which reads `cosy run` would serve. */
static void test_run(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 1000; i++)
		stream_call(&stream, SYS_read, 1, 3, 0x2000, 1);
	stream_call(&stream, SYS_close, 0, 3, 0, 0);
	stream_open(&stream, "/b", O_RDWR, 3);
	for (int i = 0; i < 100; i++)
		stream_call(&stream, SYS_read, 1, 3, 0x2000, 1);
	stream_call(&stream, SYS_close, 0, 3, 0, 0);
	for (int i = 0; i < 50; i++) {
		stream_open(&stream, "/c", O_RDONLY, 3);
		stream_call(&stream, SYS_read, 100, 3, 0x2000, 4096);
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
	}
	stream_open(&stream, "/d", O_RDONLY, 3);
	stream_call(&stream, SYS_read, 131072, 3, 0x2000, 131072);
	stream_call(&stream, SYS_close, 0, 3, 0, 0);
	stream_own(&stream);
	stream_open(&stream, "/e", O_RDONLY, 3);
	for (int i = 0; i < 200; i++)
		stream_call(&stream, SYS_read, 1, 3, 0x2000, 1);
	profile = fold_finish(stream.fold);
	CHECK(profile->run.calls[RUN_OWN] > 180);
	CHECK(profile->run.calls[RUN_SERVED] > 900);
	CHECK_EQ(profile->run.calls[RUN_SERVED] + profile->run.calls[RUN_UNEARNED] +
			 profile->run.calls[RUN_OWN],
		 1250);
	CHECK_EQ(profile->run.calls[RUN_WRITING], 100);
	CHECK_EQ(profile->run.calls[RUN_LARGE], 1);
	CHECK_EQ(profile->run.windows, 1);
	fold_destroy(stream.fold);
}

/* Reads 16 bytes far from one another, as a program does that may handle SIGBUS. */
static uint64_t random_reads(bool handles)
{
	struct stream stream = stream_begin();
	const struct profile *profile;
	uint64_t ret;

	if (handles)
		stream_call(&stream, SYS_rt_sigaction, 0, SIGBUS, 0x1000, 0);
	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 20000; i++) {
		stream_call(&stream, SYS_lseek, i * 40000L % 4000000, 3, i * 40000L % 4000000,
			    SEEK_SET);
		stream_call(&stream, SYS_read, 16, 3, 0x2000, 16);
	}
	profile = fold_finish(stream.fold);
	ret = profile->run.calls[RUN_SERVED];
	CHECK(profile->run.calls[RUN_RANDOM] > 1000);
	fold_destroy(stream.fold);
	return ret;
}

/* Makes 20,000 rounds of 5 reads of `fd`, with other calls before and after each. */
static uint64_t reads_served(int fd, void (*begin)(struct stream *), void (*end)(struct stream *))
{
	struct stream stream = stream_begin();
	uint64_t ret;

	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 20000; i++) {
		if (begin)
			begin(&stream);
		for (int turn = 0; turn < 5; turn++)
			stream_call(&stream, SYS_read, 1, fd, 0x2000, 1);
		if (end)
			end(&stream);
	}
	ret = fold_finish(stream.fold)->run.calls[RUN_SERVED];
	fold_destroy(stream.fold);
	return ret;
}

static void duplicate(struct stream *stream)
{
	stream_call(stream, SYS_dup, 4, 3, 0, 0);
}

static void duplicate_over(struct stream *stream)
{
	stream_call(stream, SYS_dup2, 4, 3, 4, 0);
}

static void other_over(struct stream *stream)
{
	stream_call(stream, SYS_dup2, 4, 9, 4, 0);
}

static void duplicate_close(struct stream *stream)
{
	stream_call(stream, SYS_close, 0, 4, 0, 0);
}

static void duplicate_over_itself(struct stream *stream)
{
	stream_call(stream, SYS_dup2, 3, 3, 3, 0);
}

static void range_close(struct stream *stream)
{
	stream_call(stream, SYS_close_range, 0, 4, 4, 0);
}

static void range_leave(struct stream *stream)
{
	stream_call(stream, SYS_close_range, 0, 4, 4, CLOSE_RANGE_CLOEXEC);
}

static void ask_left(struct stream *stream)
{
	stream_call(stream, SYS_ioctl, 0, 3, FIONREAD, 0x3000);
}

static void ask_async(struct stream *stream)
{
	stream_call(stream, SYS_ioctl, -ENOTTY, 3, FIOASYNC, 0x3000);
}

static void ask_terminal(struct stream *stream)
{
	stream_call(stream, SYS_ioctl, -ENOTTY, 3, TCGETS, 0x3000);
}

/* Most programs lock from the file's beginning on, as sqlite3 does. */
static void lock(struct stream *stream)
{
	stream_call(stream, SYS_fcntl, 0, 3, F_SETLK, 0x3000);
}

static void lock_here(struct stream *stream)
{
	stream->flags |= EVENT_FROM_POSITION;
	stream_call(stream, SYS_fcntl, 0, 3, F_SETLK, 0x3000);
	stream->flags &= ~EVENT_FROM_POSITION;
}

static void lock_of_file(struct stream *stream)
{
	stream->flags |= EVENT_FROM_POSITION;
	stream_call(stream, SYS_fcntl, 0, 3, F_OFD_GETLK, 0x3000);
	stream->flags &= ~EVENT_FROM_POSITION;
}

static void ask_flags(struct stream *stream)
{
	stream_call(stream, SYS_fcntl, O_RDONLY, 3, F_GETFL, 0);
}

static void scatter(struct stream *stream)
{
	stream_call(stream, SYS_readv, 1, 3, 0x3000, 1);
}

static void send_on(struct stream *stream)
{
	stream_call(stream, SYS_sendfile, 1, 1, 3, 0);
}

static void by_syscall(struct stream *stream)
{
	stream_place(stream, 1, 0x1000, 0x1010);
	stream_stack(stream, 3, 2,
		     (struct event_frame[]){{.object = 1, .address = 0x710, .function = 0x700},
					    {.object = 2, .address = 0x9100, .function = 0x9000}});
}

/* Ends windows by calls that need the position in the kernel, and by the end of their descriptor. */
static void test_windows_end(void)
{
	CHECK(reads_served(3, NULL, NULL) > 99000);
	/* Of two names either ends it when it goes, whichever the reads are by. */
	CHECK(reads_served(3, duplicate, duplicate_close) < 5000);
	CHECK(reads_served(4, duplicate, duplicate_close) < 5000);
	CHECK(reads_served(3, duplicate, range_close) < 5000);
	CHECK(reads_served(3, duplicate, range_leave) > 99000);
	CHECK(reads_served(4, duplicate_over, other_over) < 5000);
	CHECK(reads_served(3, NULL, duplicate_over) < 5000);
	CHECK(reads_served(3, NULL, duplicate_over_itself) > 99000);
	CHECK(reads_served(3, NULL, ask_left) < 5000);
	CHECK(reads_served(3, NULL, ask_async) < 5000);
	CHECK(reads_served(3, NULL, ask_terminal) > 99000);
	CHECK(reads_served(3, NULL, lock) > 99000);
	CHECK(reads_served(3, NULL, lock_here) < 5000);
	CHECK(reads_served(3, NULL, lock_of_file) < 5000);
	CHECK(reads_served(3, NULL, ask_flags) > 99000);
	CHECK(reads_served(3, NULL, scatter) < 5000);
	CHECK(reads_served(3, NULL, send_on) < 5000);
	CHECK_EQ(reads_served(3, by_syscall, NULL), 0);
}

/*
 * Files that are open when recording begins are the running program's own, except those that every
 * program is given, until it executes another one.
 */
static void test_earlier(void)
{
	static const struct {
		int fd;
		bool exec;
		enum run_reason reason;
	} cases[] = {{3, false, RUN_SERVED}, {0, false, RUN_INHERITED}, {3, true, RUN_INHERITED}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		struct event_descriptor file = {
			.event = {.kind = EVENT_DESCRIPTOR, .size = sizeof(file), .tid = 10},
			.pid = 10,
			.fd = cases[i].fd,
			.position = 0};
		struct event_exec exec = {
			.event = {.kind = EVENT_EXEC, .size = sizeof(exec), .tid = 10}, .pid = 10};
		const struct profile *profile;

		fold_take(stream.fold, &file.event);
		if (cases[i].exec)
			fold_take(stream.fold, &exec.event);
		for (int j = 0; j < 10000; j++)
			stream_call(&stream, SYS_read, 1, cases[i].fd, 0x2000, 1);
		profile = fold_finish(stream.fold);
		CHECK(profile->run.calls[cases[i].reason] > 9000);
		CHECK_EQ(profile->run.earlier > 9000, cases[i].reason == RUN_SERVED);
		fold_destroy(stream.fold);
	}
}

/* Windows are filled with what comes next; what is read elsewhere has to earn a mapping. */
static void test_random(void)
{
	uint64_t mapped = random_reads(false);

	CHECK(mapped > 17000 && mapped < 19000);
	CHECK(random_reads(true) < 600);
}

/* Takes what a thread computes after its last call: it is of no call, and in no loop. */
static void test_gap(void)
{
	struct stream stream = stream_begin();
	struct event_gap gap = {.event = {.kind = EVENT_GAP, .size = sizeof(gap), .tid = 10},
				.pid = 10,
				.user = 1000000};
	const struct profile *profile;

	for (int i = 0; i < 100; i++)
		stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
	gap.event.time = stream.time;
	fold_take(stream.fold, &gap.event);
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->sums.calls, 100);
	CHECK_EQ(profile->sums.user, 100 * 100 + 1000000);
	CHECK_EQ(profile->rows[1].sums.user, 100 * 100);
	fold_destroy(stream.fold);
}

/* Returns the most that a bin of process 10 has of its length, in per cent; checks their sum. */
static uint64_t lane_most(const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;
	uint64_t last = (profile->last - timeline->start) >> timeline->shift, most = 0, user = 0;

	CHECK_EQ(timeline->lanes[1].pid, 10);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		const struct timeline_bin *bin = &timeline->lanes[1].bins[i];

		CHECK(i <= last || !(bin->calls | bin->user));
		user += bin->user;
		if (bin->user > most)
			most = bin->user;
	}
	CHECK_EQ(user, profile->sums.user);
	return 100 * most >> timeline->shift;
}

/*
 * Shows what is computed when it is, and not at the call after it or at the end, with calls before it
 * and without.
 */
static void test_computing(void)
{
	static const struct {
		bool calls, ends;
	} cases[] = {{true, true}, {true, false}, {false, true}, {false, false}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		struct event_fork fork = {
			.event = {.kind = EVENT_FORK, .size = sizeof(fork), .tid = 10}, .pid = 10};
		struct event_gap gap = {
			.event = {.kind = EVENT_GAP, .size = sizeof(gap), .tid = 10},
			.pid = 10,
			.user = 1000000000};
		const struct profile *profile;

		stream.time = 5000000000;
		fold_take(stream.fold, &fork.event);
		for (int j = 0; cases[i].calls && j < 100; j++)
			stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
		stream.time += 1000000000;
		if (cases[i].ends) {
			gap.event.time = stream.time;
			fold_take(stream.fold, &gap.event);
		} else {
			stream.user = gap.user;
			stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
		}
		profile = fold_finish(stream.fold);
		CHECK_EQ(profile->last, stream.time);
		CHECK(!cases[i].ends || profile->first <= 5000001000);
		CHECK(lane_most(profile) <= 100);
		fold_destroy(stream.fold);
	}
}

/* Uses a number that another process had. */
static void test_pid_again(void)
{
	struct stream stream = stream_begin();
	struct event_exit exit = {.event = {.kind = EVENT_EXIT, .size = sizeof(exit), .tid = 10},
				  .pid = 10,
				  .last = 1};
	const struct profile *profile;

	stream_open(&stream, "/a", O_RDONLY, 3);
	stream_call(&stream, SYS_read, 100, 3, 0x2000, 100);
	fold_take(stream.fold, &exit.event);
	/* Nothing is known of this one's descriptor 3. */
	stream_call(&stream, SYS_lseek, 100, 3, 100, SEEK_SET);
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->processes, 2);
	CHECK_EQ(profile->useless[USELESS_SEEK].calls, 0);
	CHECK_EQ(profile->n_sessions, 1);
	fold_destroy(stream.fold);
}

/* A process that comes late and has much to do is not hidden by many that came before it. */
static void test_lanes(void)
{
	struct stream stream = stream_begin();
	const struct timeline *timeline;
	const struct profile *profile;
	uint64_t calls = 0;

	for (int i = 0; i < 100; i++) {
		struct event_exit left = {
			.event = {.kind = EVENT_EXIT, .size = sizeof(left), .tid = 1000 + i},
			.pid = 1000 + i};

		stream.pid = stream.tid = 1000 + i;
		for (int j = 0; j < 1 + (i == 50) * 500; j++)
			stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
		left.event.time = stream.time;
		fold_take(stream.fold, &left.event);
	}
	stream.pid = stream.tid = 5000;
	for (int j = 0; j < 300; j++)
		stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
	profile = fold_finish(stream.fold);
	timeline = &profile->timeline;
	CHECK_EQ(timeline->n_lanes, TIMELINE_LANES);
	for (uint32_t i = 0; i <= TIMELINE_LANES; i++) {
		calls += timeline->lanes[i].calls;
		CHECK(timeline->lanes[i].pid != 1050 || timeline->lanes[i].calls == 501);
		CHECK(timeline->lanes[i].pid != 5000 || timeline->lanes[i].calls == 300);
	}
	CHECK_EQ(timeline->lanes[0].calls, 100 + 1 - TIMELINE_LANES);
	CHECK_EQ(calls, profile->sums.calls);
	fold_destroy(stream.fold);
}

/* More of everything than there is room for is counted, and nothing else happens. */
static void test_bounds(void)
{
	struct stream stream = stream_begin();
	const struct profile *profile;

	for (uint32_t i = 1; i < 60000; i++) {
		stream_place(&stream, i, 0x10000 + 64 * i, 0x10000 + 64 * i + 8);
		stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
	}
	for (int i = 0; i < 70000; i++)
		stream_open(&stream, "/a", O_RDONLY, i);
	for (int i = 0; i < 5000; i++) {
		stream.pid = stream.tid = 100 + i;
		stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
	}
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->sums.calls + 0,
		 profile->sums.of[CLASS_PURE].calls + profile->sums.of[CLASS_OPEN].calls);
	CHECK(profile->forgotten > 0);
	fold_destroy(stream.fold);
}

int main(void)
{
	test_loop();
	test_nested();
	test_paths();
	test_inner();
	test_functions();
	test_threads();
	test_names();
	test_useless();
	test_position();
	test_dependences();
	test_constant_count();
	test_sessions();
	test_run();
	test_random();
	test_windows_end();
	test_earlier();
	test_gap();
	test_computing();
	test_pid_again();
	test_lanes();
	test_bounds();
	return check_result();
}
