// SPDX-License-Identifier: MIT
/* Checks what fold/ makes of streams of events. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

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

/*
 * A region of a process that has ended saves nothing of what it ran for before it earned the
 * kernel.
 */
static void test_earned(void)
{
	static struct advice advice;
	static const struct {
		int calls;
		bool ends, region;
	} cases[] = {{5000, true, false}, {5000, false, true}, {200000, true, true}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		struct event_exit exit = {
			.event = {.kind = EVENT_EXIT, .size = sizeof(exit), .tid = 10},
			.pid = 10,
			.last = 1};
		const struct finding *first = &advice.findings[0];

		stream_open(&stream, "/a", O_RDWR, 3);
		for (int j = 0; j < cases[i].calls; j++)
			stream_call(&stream, SYS_pread64, 10, 3, 0x2000, 10);
		if (cases[i].ends)
			fold_take(stream.fold, &exit.event);
		advise(fold_finish(stream.fold), NULL, &advice);
		CHECK_EQ(first->way == WAY_REGION, cases[i].region);
		CHECK(first->way == WAY_REGION || strstr(first->why, "-fcosy-force"));
		/* Less than half of it is before. */
		CHECK(cases[i].calls < 200000 || first->high > 200000 * 50);
		fold_destroy(stream.fold);
	}
}

/*
 * Of two loops of a function the place is in the one with most of the calls, also if it comes
 * second.
 */
static void test_place(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();

	stream_open(&stream, "/a", O_RDWR, 3);
	stream_place(&stream, 1, 0x1000, 0x1010);
	for (int i = 0; i < 100; i++)
		stream_call(&stream, SYS_pwrite64, 100, 3, 0x2000, 100);
	for (int i = 0; i < 1000; i++) {
		stream_place(&stream, 2, 0x1000, 0x1050);
		stream_call(&stream, SYS_pread64, 100, 3, 0x2000, 100);
		stream_place(&stream, 3, 0x1000, 0x1060);
		stream_call(&stream, SYS_pread64, 100, 3, 0x2100, 100);
	}
	advise(fold_finish(stream.fold), NULL, &advice);
	CHECK_EQ(advice.findings[0].way, WAY_REGION);
	CHECK(advice.findings[0].address == 0x1050 || advice.findings[0].address == 0x1060);
	fold_destroy(stream.fold);
}

/* Says of the calls' own function and its caller what the context is. */
static enum code_call look_fake(void *context, const char *path, uint64_t function,
				uint64_t address)
{
	CHECK(!*path && (function == 0x1000 || (function == 0x9000 && address == 0x9100)));
	return ((const enum code_call *)context)[function == 0x9000];
}

/* A region is where the loop is, and nowhere if the way from there to the calls leads by a pointer. */
static void test_loop_place(void)
{
	static struct advice advice;
	static const struct {
		enum code_call calls[2]; /* of the calls' function and its caller */
		uint64_t address;
		const char *why; /* no region is advised */
		bool beyond, nowhere;
	} cases[] = {
		{{CODE_LOOP, CODE_LOOP}, 0x1010, NULL, false, false},
		{{CODE_ONCE, CODE_LOOP}, 0x9100, NULL, false, false},
		{{CODE_ONCE, CODE_ONCE}, 0x1010, NULL, true, false},
		{{CODE_ONCE, CODE_UNKNOWN}, 0x1010, NULL, false, false},
		{{CODE_UNKNOWN, CODE_LOOP}, 0x1010, NULL, false, false},
		{{CODE_POINTER, CODE_LOOP}, 0x1010, "pointer to a function", false, false},
		{{CODE_LOOP, CODE_LOOP}, 0, "no function is known", false, true},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		struct loop_code code = {look_fake, (void *)cases[i].calls};
		struct advise_context context = {&code, NULL};
		const struct finding *first = &advice.findings[0];

		stream_open(&stream, "/a", O_RDWR, 3);
		if (!cases[i].nowhere)
			stream_place(&stream, 1, 0x1000, 0x1010);
		for (int j = 0; j < 100000; j++)
			stream_call(&stream, SYS_pread64, 10, 3, 0x2000, 10);
		advise(fold_finish(stream.fold), &context, &advice);
		CHECK_EQ(first->way, cases[i].why ? WAY_NOTHING : WAY_REGION);
		CHECK_EQ(first->address, cases[i].address);
		CHECK_EQ(first->beyond, cases[i].beyond);
		CHECK_EQ(first->markable, !cases[i].why && !cases[i].beyond);
		CHECK(!strstr(first->type, "in a caller") == !cases[i].beyond);
		CHECK(!cases[i].why || strstr(first->why, cases[i].why));
		fold_destroy(stream.fold);
	}
}

/* A loop that is made too seldom to pay can be marked all the same, by those who ask for it. */
static void test_markable(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();
	struct loop_code code = {look_fake, (enum code_call[]){CODE_LOOP, CODE_LOOP}};

	stream_open(&stream, "/a", O_RDWR, 3);
	stream_place(&stream, 1, 0x1000, 0x1010);
	for (int i = 0; i < 20; i++)
		stream_call(&stream, SYS_pread64, 10, 3, 0x2000, 10);
	advise(fold_finish(stream.fold), &(struct advise_context){&code, NULL}, &advice);
	CHECK_EQ(advice.findings[0].way, WAY_NOTHING);
	CHECK(*advice.findings[0].why);
	CHECK(advice.findings[0].markable);
	fold_destroy(stream.fold);
}

/* The time zone's file is looked up again and again where TZ is not set, which is to be set. */
static void test_zone(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();

	for (int i = 0; i < 1000; i++)
		stream_call_path(&stream, SYS_newfstatat, "/etc/localtime", 0, AT_FDCWD, 0x1000, 0);
	advise(fold_finish(stream.fold), NULL, &advice);
	CHECK_EQ(advice.profile->useless[USELESS_ZONE].calls, 999);
	CHECK_EQ(advice.profile->useless[USELESS_AGAIN].of, 0);
	CHECK_EQ(advice.findings[0].way, WAY_REMOVE);
	CHECK(strstr(advice.findings[0].type, "TZ=:/etc/localtime"));
	fold_destroy(stream.fold);
}

/*
 * A loop that asks for attributes on the way to reading files lists no directory: cosy_scan_dir is no
 * advice for it.
 */
static void test_no_listing(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();

	for (int i = 0; i < 40000; i++) {
		stream_call_path(&stream, SYS_newfstatat, "/a", 0, AT_FDCWD, 0x1000, 0);
		stream_open(&stream, "/a", O_RDONLY, 3);
		stream_call(&stream, SYS_fstat, 0, 3, 0x1000, 0);
		stream_call(&stream, SYS_read, 100, 3, 0x2000, 8192);
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
	}
	advise(fold_finish(stream.fold), NULL, &advice);
	for (uint32_t i = 0; i < advice.n; i++)
		CHECK(!advice.findings[i].by_name);
	fold_destroy(stream.fold);
}

static void call_of_pipe(struct stream *stream, int i)
{
	if (!i)
		stream_call(stream, SYS_socket, 4, 0, 0, 0);
	stream_call(stream, i % 2 ? SYS_write : SYS_read, 64, 4, 0x2000, 64);
}

static void call_of_log(struct stream *stream, int i)
{
	if (!i)
		stream_open(stream, "/log", O_WRONLY | O_APPEND, 3);
	stream_call(stream, SYS_write, 64, 3, 0x2000, 64);
}

static void call_of_file(struct stream *stream, int i)
{
	if (!i)
		stream_open(stream, "/records", O_RDWR, 3);
	stream_call(stream, SYS_write, 64, 3, 0x2000, 64);
}

static void call_of_path(struct stream *stream, int i)
{
	(void)i;
	stream_call_path(stream, SYS_newfstatat, "/etc/passwd", 0, AT_FDCWD, 0x1000, 0);
}

static void call_of_parent(struct stream *stream, int i)
{
	(void)i;
	stream_call_path(stream, SYS_newfstatat, "conf/../passwd", 0, AT_FDCWD, 0x1000, 0);
}

static void call_of_names(struct stream *stream, int i)
{
	(void)i;
	stream_call_path(stream, SYS_newfstatat, "./conf/a/passwd", 0, AT_FDCWD, 0x1000, 0);
}

/*
 * Calls that the specialised versions leave alone are no reason for a region: they cost a little
 * more there.
 */
static void test_left_alone(void)
{
	static const struct {
		void (*call)(struct stream *stream, int i);
		bool pays;
	} loops[] = {
		{call_of_pipe, false}, {call_of_log, false},	{call_of_file, true},
		{call_of_path, false}, {call_of_parent, false}, {call_of_names, true},
	};
	static struct advice advice;

	for (size_t n = 0; n < sizeof(loops) / sizeof(*loops); n++) {
		struct stream stream = stream_begin();
		bool pays = false;

		for (int i = 0; i < 40000; i++)
			loops[n].call(&stream, i);
		advise(fold_finish(stream.fold), NULL, &advice);
		for (uint32_t i = 0; i < advice.n; i++)
			pays |= advice.findings[i].way == WAY_REGION;
		CHECK(pays == loops[n].pays);
		fold_destroy(stream.fold);
	}
}

/* One file read from end to end in thousands of calls is not a small one to be read by one. */
static void test_long_file(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();

	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 5000; i++)
		stream_call(&stream, SYS_read, 4096, 3, 0x2000, 4096);
	stream_call(&stream, SYS_close, 0, 3, 0, 0);
	advise(fold_finish(stream.fold), NULL, &advice);
	for (uint32_t i = 0; i < advice.n; i++)
		CHECK(!strstr(advice.findings[i].title, "whole file"));
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

/* Many small reads are worth a region; waits are not, nor is a loop of three turns. */
static void test_advice(void)
{
	static struct advice advice;

	for (int slept = 0; slept < 2; slept++)
		for (int turns = 3; turns < 20000; turns *= 1000) {
			struct stream stream = stream_begin();
			bool region = false;

			stream_open(&stream, "/a", O_RDWR, 3);
			stream.flags |= slept ? EVENT_SLEPT : 0;
			for (int i = 0; i < turns; i++) {
				stream_call(&stream, SYS_pread64, 10, 3, 0x2000, 10);
				stream_call(&stream, SYS_pread64, 10, 3, 0x2100, 10);
				stream_call(&stream, SYS_poll, 1, 0x2000, 1, 100);
			}
			advise(fold_finish(stream.fold), NULL, &advice);
			for (uint32_t i = 0; i < advice.n; i++)
				region |= advice.findings[i].way == WAY_REGION;
			CHECK_EQ(region, !slept && turns > 3);
			fold_destroy(stream.fold);
		}
}

/*
 * A loop by readdir is not compiled: scan_dir is named where the same function asks for entries, be
 * that once for many of them, and where another one does for names under the directory.
 */
static void test_lists(void)
{
	static struct advice advice;
	static const struct {
		uint64_t lists;
		int under;
		bool named;
	} cases[] = {{0x1000, AT_FDCWD, true}, {0x3000, AT_FDCWD, false}, {0x3000, 4, true}};

	for (unsigned int k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct stream stream = stream_begin();
		uint32_t n;

		stream_open(&stream, "/d", O_RDONLY | O_DIRECTORY, 4);
		for (int i = 0; i < 80000; i++) {
			if (i % 400 == 0) {
				stream_place(&stream, 2, cases[k].lists, 0x1080);
				stream_call(&stream, SYS_getdents64, 8000, 4, 0x5000, 32768);
			}
			stream_place(&stream, 1, 0x1000, 0x1010);
			stream_call_path(&stream, SYS_newfstatat, i % 2 ? "a" : "b", 0,
					 cases[k].under, 0x2000, 0x3000);
		}
		advise(fold_finish(stream.fold), NULL, &advice);
		for (n = 0; n < advice.n && advice.findings[n].way != WAY_REGION; n++)
			;
		CHECK(n < advice.n);
		CHECK_EQ(advice.findings[n].by_name, cases[k].named);
		CHECK_EQ(!!strstr(advice.findings[n].type, "cosy_scan_dir()"), cases[k].named);
		fold_destroy(stream.fold);
	}
}

/* The operation is named where a loop waits and then reads what it waited for, by whichever call. */
static void test_waits_and_reads(void)
{
	static const struct {
		unsigned int waits, reads, fd;
		bool named;
	} cases[] = {
		{SYS_epoll_wait, SYS_read, 4, true},	 /* squid */
		{SYS_epoll_wait, SYS_recvfrom, 4, true}, /* nginx */
		{SYS_epoll_pwait, SYS_recvfrom, 4, true},
		{SYS_epoll_wait, SYS_read, 3, false}, /* a file */
		{SYS_epoll_wait, SYS_recvmsg, 4, false},
		{SYS_poll, SYS_read, 4, false},
	};
	static struct advice advice;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		unsigned int regions = 0;

		stream_call(&stream, SYS_socket, 4, 0, 0, 0);
		stream_open(&stream, "/a", O_RDWR, 3);
		stream_place(&stream, 1, 0x1000, 0x1010);
		for (int turn = 0; turn < 40000; turn++) {
			stream_call(&stream, cases[i].waits, 2, 5, 0x3000, 8);
			for (int k = 0; k < 2; k++) {
				stream_call(&stream, cases[i].reads, 100, cases[i].fd, 0x2000, 100);
				stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
			}
		}
		advise(fold_finish(stream.fold), NULL, &advice);
		for (uint32_t n = 0; n < advice.n; n++) {
			if (advice.findings[n].way != WAY_REGION)
				continue;
			regions++;
			CHECK_EQ(!!strstr(advice.findings[n].better, "cosy_epoll_read()"),
				 cases[i].named);
		}
		CHECK_EQ(regions, 1);
		fold_destroy(stream.fold);
	}
}

/*
 * Files that are written whole are found wherever their calls are, and no others are taken for
 * them.
 */
static void test_whole(void)
{
	static struct advice advice;
	unsigned int whole[2] = {0, 0};

	for (int append = 0; append < 2; append++) {
		struct stream stream = stream_begin();

		for (int i = 0; i < 100; i++) {
			char name[16];

			snprintf(name, sizeof(name), "/a%d", i);
			stream_open(&stream, name, O_WRONLY | O_CREAT, 3);
			stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
			stream_call(&stream, SYS_write, 10, 3, 0x2000, 10);
			if (append)
				stream_call(&stream, SYS_fsync, 0, 3, 0, 0);
			for (int j = 0; j < i % 5; j++)
				stream_call(&stream, SYS_getuid, 1, 0, 0, 0);
			stream_call(&stream, SYS_close, 0, 3, 0, 0);
		}
		advise(fold_finish(stream.fold), NULL, &advice);
		for (uint32_t i = 0; i < advice.n; i++)
			if (!strncmp(advice.findings[i].title, "open-write-close", 16)) {
				whole[append]++;
				CHECK_EQ(advice.findings[i].calls, 300);
				CHECK(strstr(advice.findings[i].title,
					     "100 files (openat write close)"));
			}
		fold_destroy(stream.fold);
	}
	CHECK_EQ(whole[0], 1);
	CHECK_EQ(whole[1], 0);
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

/* A call before the write, or another file, name or thread: each time the rules differ. */
enum {
	REWRITE,
	NEW_NAME,
	UNLINKED,
	SEEK_THERE,
	CLOEXEC,
	ASKED,
	DUPLICATED,
	SYNCED,
	STDIO,
	THREADS,
	SHAPES
};

static void rewrite(struct stream *stream, int shape, int turn)
{
	char name[16];

	snprintf(name, sizeof(name), "/a%d", shape == NEW_NAME ? turn : 0);
	if (shape == UNLINKED)
		stream_call_path(stream, SYS_unlink, name, 0, 0x1000, 0, 0);
	stream_open(stream, name, O_WRONLY | O_CREAT | O_TRUNC | (shape == SYNCED ? O_SYNC : 0), 3);
	if (shape == SEEK_THERE)
		stream_call(stream, SYS_lseek, 0, 3, 0, SEEK_SET);
	if (shape == CLOEXEC)
		stream_call(stream, SYS_fcntl, 0, 3, F_SETFD, FD_CLOEXEC);
	if (shape == ASKED)
		stream_call(stream, SYS_fcntl, O_WRONLY, 3, F_GETFL, 0);
	if (shape == DUPLICATED)
		stream_call(stream, SYS_dup2, 4, 3, 4, 0);
	stream_call(stream, SYS_write, 4096, 3, 0x2000, 4096);
	stream_call(stream, SYS_close, 0, 3, 0, 0);
	if (shape == DUPLICATED)
		stream_call(stream, SYS_close, 0, 4, 0, 0);
}

/* Calls are made by a function of the C library for itself. */
static void stream_inside(struct stream *stream)
{
	_Alignas(8) char buffer[sizeof(struct event_stack) + 3 * sizeof(struct event_frame)] = {0};
	struct event_stack *told = (struct event_stack *)buffer;

	stream_place(stream, 1, 0x1000, 0x1010);
	told->event.kind = EVENT_STACK;
	told->event.size = sizeof(buffer);
	told->id = stream->stack = 2;
	told->frames = 3;
	told->frame[0] = (struct event_frame){.object = 1, .address = 0x110, .function = 0x100};
	told->frame[1] = (struct event_frame){.object = 1, .address = 0x210, .function = 0x200};
	told->frame[2] = (struct event_frame){.object = 2, .address = 0x9100, .function = 0x9000};
	fold_take(stream->fold, &told->event);
}

/* Calls are made by the program's own code, as a static one's are. */
static void stream_own(struct stream *stream)
{
	_Alignas(8) char buffer[sizeof(struct event_stack) + sizeof(struct event_frame)] = {0};
	struct event_stack *told = (struct event_stack *)buffer;

	stream_place(stream, 1, 0x1000, 0x1010);
	told->event.kind = EVENT_STACK;
	told->event.size = sizeof(buffer);
	told->id = stream->stack = 3;
	told->frames = 1;
	told->frame[0] = (struct event_frame){.object = 2, .address = 0x9100, .function = 0x9000};
	fold_take(stream->fold, &told->event);
}

static bool relax_advised(struct advice *advice, enum advise_way way,
			  const struct finding **finding)
{
	for (uint32_t i = 0; i < advice->n; i++) {
		*finding = &advice->findings[i];
		if ((*finding)->way == way)
			return true;
	}
	return false;
}

/*
 * Only files that the recording shows to have contents are counted, where --relax=trunc would leave
 * them.
 */
static void test_rewrites(void)
{
	static const bool counts[SHAPES] = {
		[REWRITE] = true, [SEEK_THERE] = true, [CLOEXEC] = true};

	for (int shape = 0; shape < SHAPES; shape++) {
		struct stream stream = stream_begin();
		struct event_fork fork = {.event = {.kind = EVENT_FORK,
						    .size = sizeof(fork),
						    .flags = EVENT_FORK_THREAD | EVENT_FORK_FILES,
						    .tid = 11},
					  .pid = 10,
					  .parent = 10};
		const struct profile *profile;

		if (shape == STDIO)
			stream_inside(&stream);
		stream_call(&stream, SYS_getppid, 1, 0, 0, 0);
		if (shape == THREADS)
			fold_take(stream.fold, &fork.event);
		for (int i = 0; i < 31; i++)
			rewrite(&stream, shape, i);
		profile = fold_finish(stream.fold);
		CHECK_EQ(profile->relax[RELAX_TRUNC].files, counts[shape] ? 30 : 0);
		CHECK_EQ(profile->relax[RELAX_TRUNC].calls, counts[shape] ? 90 : 0);
		CHECK_EQ(profile->relax[RELAX_TRUNC].bytes, counts[shape] ? 30 * 4096 : 0);
		CHECK_EQ(profile->fresh.files, shape == NEW_NAME || shape == UNLINKED ? 31
					       : counts[shape]			      ? 1
							       : profile->fresh.files);
		fold_destroy(stream.fold);
	}
}

/* What it saves is processor time: the disk's, which the calls wait for, is not it. */
static void test_rewrite_saves(void)
{
	static struct advice advice;
	const struct finding *finding;

	for (int dear = 0; dear < 2; dear++) {
		struct stream stream = stream_begin();

		stream.cpu = dear ? 30000 : 1000;
		stream.took = 1000000;
		for (int i = 0; i < 101; i++)
			rewrite(&stream, REWRITE, i);
		advise(fold_finish(stream.fold), NULL, &advice);
		CHECK_EQ(relax_advised(&advice, WAY_TRUNC, &finding), dear);
		CHECK(!dear || (finding->low > 0 && finding->low < finding->high &&
				finding->high < 300 * 30000));
		fold_destroy(stream.fold);
	}
	for (int new = 0; new < 2; new ++) {
		struct stream stream = stream_begin();

		stream.cpu = 30000;
		for (int i = 0; i < 101; i++)
			rewrite(&stream, new ? NEW_NAME : REWRITE, i);
		advise(fold_finish(stream.fold), NULL, &advice);
		CHECK_EQ(relax_advised(&advice, WAY_TRUNC, &finding), !new);
		fold_destroy(stream.fold);
	}
}

/* Small writes are joined in a row, not where each is followed by one that others see. */
static void test_coalesce(void)
{
	for (int told = 0; told < 2; told++) {
		struct stream stream = stream_begin();
		const struct profile *profile;

		stream_call(&stream, SYS_socket, 4, 0, 0, 0);
		stream_open(&stream, "/log", O_WRONLY | O_APPEND, 3);
		for (int i = 0; i < 100; i++) {
			stream_call(&stream, SYS_write, 50, 3, 0x2000, 50);
			if (told)
				stream_call(&stream, SYS_sendto, 10, 4, 0x3000, 10);
		}
		stream_call(&stream, SYS_close, 0, 3, 0, 0);
		profile = fold_finish(stream.fold);
		CHECK_EQ(profile->relax[RELAX_COALESCE].files, !told);
		CHECK_EQ(profile->relax[RELAX_COALESCE].calls, told ? 0 : 92);
		fold_destroy(stream.fold);
	}
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

/* Windows are filled with what comes next; what is read elsewhere has to earn a mapping. */
static void test_random(void)
{
	uint64_t mapped = random_reads(false);

	CHECK(mapped > 17000 && mapped < 19000);
	CHECK(random_reads(true) < 600);
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
	test_inner();
	test_functions();
	test_place();
	test_loop_place();
	test_markable();
	test_zone();
	test_no_listing();
	test_long_file();
	test_left_alone();
	test_earned();
	test_threads();
	test_names();
	test_advice();
	test_lists();
	test_waits_and_reads();
	test_whole();
	test_useless();
	test_position();
	test_dependences();
	test_constant_count();
	test_sessions();
	test_rewrites();
	test_rewrite_saves();
	test_coalesce();
	test_run();
	test_random();
	test_pid_again();
	test_lanes();
	test_bounds();
	return check_result();
}
