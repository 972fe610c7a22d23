// SPDX-License-Identifier: MIT
/* Checks which call sequences advise/ has `cosy run` replace, in streams of events. */
#include <stdio.h>

#include "advise/advise.h"
#include "stream.h"
#include "test/check.h"

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
	stream_place(stream, 1, 0x1000, 0x1010);
	stream_stack(stream, 2, 3,
		     (struct event_frame[]){{.object = 1, .address = 0x110, .function = 0x100},
					    {.object = 1, .address = 0x210, .function = 0x200},
					    {.object = 2, .address = 0x9100, .function = 0x9000}});
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

int main(void)
{
	test_rewrites();
	test_rewrite_saves();
	test_coalesce();
	return check_result();
}
