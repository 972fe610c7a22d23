// SPDX-License-Identifier: MIT
/* Checks what advise/ says of streams of events. */
#include <stdio.h>

#include "advise/advise.h"
#include "stream.h"
#include "test/check.h"

static enum code_call look_unknown(void *context, const char *path, uint64_t function,
				   uint64_t address)
{
	(void)path;
	(void)function;
	(void)address;
	return *(const enum code_call *)context;
}

/* Says which of three things is so where no function has all calls of a loop. */
static void test_apart(void)
{
	static struct advice advice;
	static const enum code_call calls[] = {CODE_LOOP, CODE_LOOP};
	struct loop_code code = {look_unknown, (void *)calls};
	struct advise_context context = {&code, NULL, NULL};
	static const char *const whys[] = {"C library or the dynamic linker",
					   "no function was seen that calls them all"};

	for (unsigned int i = 0; i < 2; i++) {
		struct stream stream = stream_begin();

		stream_open(&stream, "/a", O_RDWR, 3);
		stream_place(&stream, 1, 0x1000, 0x1010);
		for (int j = 0; j < 20000; j++) {
			struct event_frame libc = {
				.object = 1, .address = 0x110, .function = 0x100};
			struct event_frame apart[] = {libc,
						      {.object = 2,
						       .address = 0x2010 + j % 2 * 0x1000,
						       .function = 0x2000 + j % 2 * 0x1000}};

			stream_stack(&stream, 2 + i + j % 2, 1 + i, i ? apart : &libc);
			stream_call(&stream, j % 2 ? SYS_pread64 : SYS_pwrite64, 10, 3, 0x2000, 10);
		}
		advise(fold_finish(stream.fold), &context, &advice);
		CHECK_EQ(advice.findings[0].way, WAY_NOTHING);
		CHECK(strstr(advice.findings[0].why, whys[i]));
		fold_destroy(stream.fold);
	}
}

/* Calls of a library, and small reads of stdio, are advised for what they are. */
static void test_of_others(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();
	struct event_object library = {.event = {.kind = EVENT_OBJECT,
						 .size = sizeof(library) + 16},
				       .id = 3,
				       .path_size = 16};
	_Alignas(8) char buffer[sizeof(library) + 16];
	const struct finding *found = NULL;

	stream_open(&stream, "/a", O_RDONLY, 3);
	stream_place(&stream, 1, 0x1000, 0x1010);
	memcpy(buffer, &library, sizeof(library));
	strcpy(buffer + sizeof(library), "/lib/libx.so.0");
	fold_take(stream.fold, (struct event *)buffer);
	stream_stack(&stream, 2, 2,
		     (struct event_frame[]){{.object = 1, .address = 0x110, .function = 0x100},
					    {.object = 3, .address = 0x2010, .function = 0x2000}});
	for (int i = 0; i < 10000; i++)
		stream_call(&stream, SYS_lseek, 0, 3, 0, SEEK_SET);
	/* Of two frames of the C library's own the inner one makes a call for itself. */
	stream_stack(&stream, 3, 3,
		     (struct event_frame[]){{.object = 1, .address = 0x110, .function = 0x100},
					    {.object = 1, .address = 0x210, .function = 0x200},
					    {.object = 2, .address = 0x1020, .function = 0x1000}});
	for (int i = 0; i < 10000; i++)
		stream_call(&stream, SYS_read, 1, 3, 0x2000, 1);
	for (int i = 0; i < 10; i++)
		stream_call(&stream, SYS_read, 4096, 3, 0x2000, 4096);
	advise(fold_finish(stream.fold), NULL, &advice);
	CHECK_EQ(advice.reads.calls[RUN_UNBUFFERED], 10000);
	CHECK_EQ(advice.reads.calls[RUN_STDIO], 10);
	for (uint32_t i = 0; i < advice.n; i++)
		if (strstr(advice.findings[i].title, "lseek to where"))
			found = &advice.findings[i];
	CHECK(found && strstr(found->type, "a library makes these calls"));
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

/* Records reads of a byte by a back end whose stops take so many ns of the thread's own time. */
static struct fold *advise_stops(uint32_t backend, uint32_t stop, struct advice *ret)
{
	struct event_header header = {.magic = EVENT_MAGIC,
				      .version = EVENT_VERSION,
				      .size = sizeof(header),
				      .backend = backend,
				      .call_cost = 3000,
				      .gap_cost = 3000,
				      .null_call = 150,
				      .read_call = 300};
	struct stream stream = {.fold = fold_create(&header),
				.pid = 10,
				.tid = 10,
				.flags = EVENT_CPU,
				.cpu = stop + 300,
				.user = stop + 100};

	stream_open(&stream, "/a", O_RDONLY, 3);
	for (int i = 0; i < 200000; i++)
		stream_call(&stream, SYS_read, 1, 3, 0x2000, 1);
	advise(fold_finish(stream.fold), NULL, ret);
	return stream.fold;
}

/* Whatever ptrace's stops take, the same is advised, and nothing is said in shares of what they took. */
static void test_stops(void)
{
	static struct advice fine, advice;
	static const uint32_t stops[] = {2000, 3000, 3700};
	struct fold *fold;
	char amount[32];

	for (unsigned int i = 0; i < sizeof(stops) / sizeof(*stops); i++) {
		fold = advise_stops(EVENT_BACKEND_PTRACE, stops[i], &advice);
		if (!i)
			fine = advice;
		CHECK_EQ(advice.run.way, WAY_RUN);
		CHECK_EQ(advice.run.low, fine.run.low);
		CHECK_EQ(advice.run.high, fine.run.high);
		CHECK_EQ(advice.cpu, fine.cpu);
		CHECK_EQ(advice.n, fine.n);
		for (uint32_t j = 0; j < advice.n; j++)
			CHECK(!strchr(advice.findings[j].why, '%'));
		CHECK(!advise_measures(advice.profile));
		advise_amount(amount, sizeof(amount), &advice, 2e6);
		CHECK(!strcmp(amount, "2.0 ms"));
		fold_destroy(fold);
	}
	fold = advise_stops(EVENT_BACKEND_TRACEPOINT, 3000, &advice);
	CHECK(advise_measures(advice.profile));
	CHECK_EQ(advice.cpu, 200000 * 400 + 300 + 100);
	advise_amount(amount, sizeof(amount), &advice, advice.cpu / 4.0);
	CHECK(!strcmp(amount, "25 %"));
	fold_destroy(fold);
}

static enum run_reason look(void *context, const struct run_file *file, const char *program,
			    bool *daemon)
{
	const char *path = file->path;

	CHECK(!*program);
	*daemon |= !strcmp(path, "/by-cosyd");
	CHECK(strcmp(path, "elsewhere") && strcmp(path, "at-descriptor"));
	if (!strcmp(path, "/gone"))
		return RUN_REASONS;
	return !strcmp(path, context) ? RUN_HELD : RUN_SERVED;
}

/* Advises `cosy run` for the files that it could serve, as they are now. */
static void test_files(void)
{
	static struct advice advice;
	struct stream stream = stream_begin();
	struct file_look files = {look, (char *)"/held"};
	struct advise_context context = {NULL, NULL, &files};
	const struct profile *profile;
	uint64_t served;

	stream_open(&stream, "/held", O_RDONLY, 3);
	stream_open(&stream, "beside", O_RDONLY, 4);
	stream_call_path(&stream, SYS_openat, "at-descriptor", 5, 9, 0x1000, O_RDONLY);
	stream_call_path(&stream, SYS_chdir, "/", 0, 0x1000, 0, 0);
	stream_open(&stream, "elsewhere", O_RDONLY, 6);
	stream_open(&stream, "/by-cosyd", O_RDONLY, 7);
	for (int i = 0; i < 10000; i++)
		for (int fd = 3; fd <= 7; fd++)
			stream_call(&stream, SYS_read, 1, fd, 0x2000, 1);
	profile = fold_finish(stream.fold);
	CHECK_EQ(profile->n_run_files, 3);
	advise(profile, NULL, &advice);
	CHECK_EQ(advice.run.way, WAY_RUN);
	CHECK(*advice.run.depends);
	served = advice.reads.calls[RUN_SERVED];
	CHECK(served > 49000);
	advise(profile, &context, &advice);
	CHECK_EQ(advice.run.way, WAY_RUN);
	/* Nobody has looked at two of them. */
	CHECK(strstr(advice.run.depends, "whose its files are"));
	CHECK(advice.reads.calls[RUN_HELD] > 9000);
	CHECK_EQ(advice.reads.calls[RUN_SERVED] + advice.reads.calls[RUN_HELD], served);
	fold_destroy(stream.fold);

	stream = stream_begin();
	stream_open(&stream, "/held", O_RDONLY, 3);
	stream_open(&stream, "/by-cosyd", O_RDONLY, 4);
	for (int i = 0; i < 1000; i++)
		stream_call(&stream, SYS_read, 1, 3 + i / 980, 0x2000, 1);
	advise(fold_finish(stream.fold), &context, &advice);
	CHECK_EQ(advice.run.way, WAY_NOTHING);
	CHECK(strstr(advice.run.why, "open for writing"));
	files.context = (char *)"/another";
	advise(fold_finish(stream.fold), &context, &advice);
	CHECK_EQ(advice.run.way, WAY_RUN);
	fold_destroy(stream.fold);
}

/* Tells what `cosy run` depends on, of two files that are read as often. */
static const char *depends(const char *first, const char *second)
{
	static struct advice advice;
	struct stream stream = stream_begin();
	struct file_look files = {look, (char *)"/held"};
	struct advise_context context = {NULL, NULL, &files};

	stream_open(&stream, first, O_RDONLY, 3);
	stream_open(&stream, second, O_RDONLY, 4);
	for (int i = 0; i < 10000; i++)
		for (int fd = 3; fd <= 4; fd++)
			stream_call(&stream, SYS_read, 1, fd, 0x2000, 1);
	advise(fold_finish(stream.fold), &context, &advice);
	CHECK_EQ(advice.run.way, WAY_RUN);
	fold_destroy(stream.fold);
	return advice.run.depends;
}

/* Says so where not all of the files could be looked at. */
static void test_depends(void)
{
	CHECK(!*depends("/a", "/b"));
	CHECK(!*depends("/a", "/held"));
	CHECK(!strncmp(depends("/a", "/by-cosyd"), "on cosyd", 8));
	CHECK(strstr(depends("/a", "/gone"), "whose its files are"));
	CHECK(strstr(depends("/by-cosyd", "/gone"), "whose its files are"));
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
		{{CODE_LOOP, CODE_LOOP}, 0, "nothing is known of where", false, true},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		struct loop_code code = {look_fake, (void *)cases[i].calls};
		struct advise_context context = {&code, NULL, NULL};
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

/* Says of a library's function and of the program's, which calls it, what the context is. */
static enum code_call look_library(void *context, const char *path, uint64_t function,
				   uint64_t address)
{
	CHECK_EQ(address, function == 0x5000 ? 0x5010 : 0x9100);
	CHECK_EQ(!strcmp(path, "/lib/libattr.so.1"), function == 0x5000);
	return ((const enum code_call *)context)[function != 0x5000];
}

static void stream_object(struct stream *stream, uint32_t id, const char *path)
{
	_Alignas(8) char buffer[sizeof(struct event_object) + 64] = {0};
	struct event_object *object = (struct event_object *)buffer;

	object->event.kind = EVENT_OBJECT;
	object->event.size = sizeof(buffer);
	object->id = id;
	object->libc = id == 1;
	object->path_size = strlen(path) + 1;
	strcpy(object->path, path);
	fold_take(stream->fold, &object->event);
}

/*
 * Where a library makes calls of the program's loop, that loop is the place, and what to do is to
 * make the calls there.
 */
static void test_library_calls(void)
{
	static struct advice advice;
	static const struct {
		enum code_call calls[2]; /* of the library's function and the program's */
		bool both;		 /* the program makes the other call itself */
		const char *why;	 /* no region is advised */
	} cases[] = {
		{{CODE_ONCE, CODE_LOOP}, true, NULL},
		{{CODE_ONCE, CODE_LOOP}, false, NULL},
		{{CODE_ONCE, CODE_UNKNOWN}, false, "a library makes its calls"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream stream = stream_begin();
		struct loop_code code = {look_library, (void *)cases[i].calls};
		const struct finding *first = advice.findings;

		stream_object(&stream, 1, "/lib/libc.so.6");
		stream_object(&stream, 2, "/bin/list");
		stream_object(&stream, 3, "/lib/libattr.so.1");
		for (int j = 0; j < 100000; j++) {
			stream_stack(&stream, 1, 3,
				     (struct event_frame[]){
					     {.object = 1, .address = 0x110, .function = 0x100},
					     {.object = 3, .address = 0x5010, .function = 0x5000},
					     {.object = 2, .address = 0x9100, .function = 0x9000}});
			stream_call_path(&stream, SYS_getxattr, "/a", -61, 0x1000, 0x2000, 0);
			if (!cases[i].both)
				continue;
			stream_stack(&stream, 2, 2,
				     (struct event_frame[]){
					     {.object = 1, .address = 0x210, .function = 0x200},
					     {.object = 2, .address = 0x9100, .function = 0x9000}});
			stream_call_path(&stream, SYS_statx, "/a", 0, AT_FDCWD, 0x1000, 0);
		}
		advise(fold_finish(stream.fold), &(struct advise_context){&code, NULL, NULL},
		       &advice);
		/* The same name is asked for again and again, which is a finding of its own. */
		if (first->way == WAY_REMOVE)
			first++;
		CHECK_EQ(first->way, cases[i].why ? WAY_NOTHING : WAY_REGION);
		CHECK(!first->markable);
		if (cases[i].why) {
			CHECK(strstr(first->why, cases[i].why));
		} else {
			CHECK_EQ(first->function, 0x9000);
			CHECK(first->by_name);
			CHECK(!strncmp(first->type, "call getxattr in the file of this loop", 38));
			CHECK(strstr(first->type, " libattr.so.1 "));
		}
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
	advise(fold_finish(stream.fold), &(struct advise_context){&code, NULL, NULL}, &advice);
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
 * Whatever looks a path up earns the kernel as cosycc counts it (COSY_PLAIN_PATH), with a specialised
 * version or without.
 */
static void test_earned_by_paths(void)
{
	static const unsigned int calls[] = {SYS_readlink, SYS_access, SYS_unlink, SYS_chown};
	static struct advice advice;

	for (size_t n = 0; n < sizeof(calls) / sizeof(*calls); n++) {
		struct stream stream = stream_begin();
		struct event_exit exit = {
			.event = {.kind = EVENT_EXIT, .size = sizeof(exit), .tid = 10},
			.pid = 10,
			.last = 1};
		int64_t high = 0;

		for (int i = 0; i < 40000; i++)
			stream_call_path(&stream, calls[n], "/a", 0, 0x1000, 0x2000, 100);
		fold_take(stream.fold, &exit.event);
		advise(fold_finish(stream.fold), NULL, &advice);
		for (uint32_t i = 0; i < advice.n; i++)
			if (advice.findings[i].row && advice.findings[i].high > high)
				high = advice.findings[i].high;
		CHECK_EQ(high > 0, calls[n] != SYS_chown);
		fold_destroy(stream.fold);
	}
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

static void call_of_proc(struct stream *stream, int i)
{
	(void)i;
	stream_call_path(stream, SYS_newfstatat, "/proc/1/stat", 0, AT_FDCWD, 0x1000, 0);
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
		{call_of_pipe, false}, {call_of_log, true},   {call_of_file, true},
		{call_of_path, true},  {call_of_proc, false}, {call_of_parent, true},
		{call_of_names, true},
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

int main(void)
{
	test_files();
	test_depends();
	test_earned();
	test_apart();
	test_of_others();
	test_stops();
	test_earned_by_paths();
	test_place();
	test_loop_place();
	test_library_calls();
	test_markable();
	test_zone();
	test_no_listing();
	test_left_alone();
	test_long_file();
	test_advice();
	test_lists();
	test_waits_and_reads();
	test_whole();
	return check_result();
}
