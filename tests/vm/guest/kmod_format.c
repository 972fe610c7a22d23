/* SPDX-License-Identifier: MIT */
/*
 * Compares the operation format with the C library's snprintf.
 * Arguments choose parts by name; none runs all.
 */
#include "kmod.h"

#include "../../../lib/test/format_random.h"
#include "../../scale.h"

#define P(p) ((uint64_t)(uintptr_t)(p))

#define FORMATS 20000

static uint32_t the_handle;

static void format_load(void)
{
	const struct bpf_insn insns[] = {
		MOVR(6, 1),
		LOAD(BPF_DW, 1, 6, 0),
		LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 3, 6, 16),
		LOAD(BPF_DW, 4, 6, 24),
		CALL_OP(RAW_OP_format),
		EXIT,
	};

	if (!the_handle)
		the_handle = raw_load(fd, insns, COUNT(insns));
}

/* Runs the operation until it is done or leaves for another reason than work. */
static uint32_t format_run(uint64_t to, uint64_t size, uint64_t pieces, uint64_t count)
{
	uint64_t arguments[4] = { to, size, pieces, count };
	long ret;

	format_load();
	raw_run_init(&the_run, the_handle, arguments);
	ret = raw_run_to_end(fd, &the_run);
	CHECK(!ret, "RUN: %ld", ret);
	return the_run.run.status;
}

/* Has buffer, pieces and strings be in the shared buffer or not, in all ways in turn. */
static void test_format(void)
{
	static char want[FORMAT_LONGEST + 8];
	static struct cosy_text_piece plain_pieces[COSY_MAX_PIECES];
	static char plain[FORMAT_LONGEST + 8];
	char *outside =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *inside = shared + BUFFER_SIZE - 4096;
	struct format_random in = { .state = 7, .strings_size = 4096 };
	unsigned long formats = scale_steps(FORMATS), wrong = 0, left = 0;

	MUST(outside != MAP_FAILED && !munmap(outside + 4096, 4096));
	for (int i = 0; i < 4095; i++)
		outside[i] = inside[i] = (char)(1 + i * 7 % 255);
	inside[4095] = 0;
	for (unsigned long i = 0; i < formats && wrong < 10; i++) {
		char *got = i & 1 ? plain : shared + 8192;
		struct cosy_text_piece *pieces =
			i & 2 ? plain_pieces : (struct cosy_text_piece *)(void *)(shared + 64);
		uint32_t status;
		int result;

		in.strings = i & 4 ? outside : inside;
		if (!format_next(&in, 0)) {
			CHECK(0, "\"%s\" is refused", in.format);
			continue;
		}
		memset(want, 'x', sizeof(want));
		memset(got, 'x', sizeof(want));
		memcpy(pieces, in.pieces, sizeof(in.pieces));
		result = format_by_libc(&in, want);
		status = format_run(P(got), in.size, P(pieces), in.count);
		if (status == COSY_LEFT_NATIVE) {
			/* A signal or another task was waiting. */
			left++;
			continue;
		}
		if (status == COSY_DONE && the_run.run.ret == result &&
		    !memcmp(got, want, sizeof(want)))
			continue;
		CHECK(0, "\"%s\" into %llu bytes: status %u, %lld \"%.60s\", not %d \"%.60s\"",
		      in.format, (unsigned long long)in.size, status, (long long)the_run.run.ret,
		      got, result, want);
		wrong++;
	}
	CHECK(left < formats / 20, "%lu of %lu left", left, formats);
	munmap(outside, 4096);
}

#define FAULTS(to, size, pieces, count)                                                            \
	do {                                                                                       \
		uint32_t status_ = format_run(to, size, pieces, count);                            \
                                                                                                   \
		CHECK(status_ == COSY_LEFT_FAULT && the_run.run.resume == 6, "status %u at %u",    \
		      status_, the_run.run.resume);                                                \
	} while (0)

/* Checks that no memory is reached that the process has not. */
static void test_format_wild(void)
{
	static const uint64_t wild[] = {
		0x1000,	    0xffffffff81000000, 0x7ffffffff000, 0x800000000000, 0xfffffffffffffff0,
		1ull << 63, 0xfffffe0000000000
	};
	struct cosy_text_piece pieces[2] = { { .kind = COSY_PIECE_STRING, .value = P("some/name") },
					     { .kind = COSY_PIECE_SIGNED, .value = -5ull } };
	char text[64];

	for (size_t i = 0; i < COUNT(wild); i++) {
		struct cosy_text_piece string = { .kind = COSY_PIECE_STRING, .value = wild[i] };

		FAULTS(wild[i], sizeof(text), P(pieces), 2);
		FAULTS(wild[i], sizeof(text), P(pieces + 1), 1);
		FAULTS(wild[i], sizeof(text), P(pieces), 0);
		FAULTS(P(text), sizeof(text), wild[i], 1);
		FAULTS(P(text), sizeof(text), P(&string), 1);
		FAULTS(P(text), 0, P(&string), 1);
		string.width = 5;
		FAULTS(P(text), sizeof(text), P(&string), 1);
		/* Nothing is written where there is no room. */
		CHECK(format_run(wild[i], 0, P(pieces), 2) == COSY_DONE && the_run.run.ret == 11,
		      "status %u, %lld", the_run.run.status, (long long)the_run.run.ret);
	}
	FAULTS(P(shared) + BUFFER_SIZE - 3, 64, P(pieces), 2);
	FAULTS(P(shared) + BUFFER_SIZE, 64, P(pieces), 2);
}

/* Checks strings that end with their precision, right before memory that cannot be read. */
static void test_format_bounded(void)
{
	char *plain =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char got[64], want[64];

	MUST(plain != MAP_FAILED && !mprotect(plain + 4096, 4096, PROT_NONE));
	memset(plain, 'p', 4096);
	for (int i = 1; i < 40; i++) {
		struct cosy_text_piece piece = { .kind = COSY_PIECE_STRING,
						 .flags = COSY_PIECE_PRECISION,
						 .precision = i,
						 .value = P(plain + 4096 - i) };

		memset(got, 0, sizeof(got));
		memset(want, 0, sizeof(want));
		memset(want, 'p', (size_t)i);
		CHECK(format_run(P(got), sizeof(got), P(&piece), 1) == COSY_DONE &&
			      the_run.run.ret == i && !memcmp(got, want, sizeof(got)),
		      "precision %d: status %u, %lld", i, the_run.run.status,
		      (long long)the_run.run.ret);
		piece.precision++;
		FAULTS(P(got), sizeof(got), P(&piece), 1);
	}
	munmap(plain, 2 * 4096);
}

/*
 * Checks paths: strings and text alone, of each length and in each room, where the memory of the
 * text, of a string or of both ends.
 */
static void test_format_plain(void)
{
	enum { MOST = 20, ROOM = 48, PLACES = 3 };
	char *outside =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *ends[PLACES] = { shared + BUFFER_SIZE, outside + 4096, shared + 8192 };
	unsigned long wrong = 0;

	MUST(outside != MAP_FAILED && !munmap(outside + 4096, 4096));
	for (int n = 0; n < PLACES * PLACES * MOST * ROOM; n++) {
		char *to_end = ends[n % PLACES], *from = ends[n / PLACES % PLACES];
		int length = n / (PLACES * PLACES) % MOST, room = n / (PLACES * PLACES * MOST);
		char *to = to_end - room, want[ROOM + 1], name[MOST + 1],
		     *string = from - length - 1;
		struct cosy_text_piece pieces[] = {
			{ .kind = COSY_PIECE_STRING, .value = P("src") },
			{ .kind = COSY_PIECE_TEXT,
			  .width = 1 + n % 8,
			  .value = 0x2f2e2d2c2b2a2928 },
			{ .kind = COSY_PIECE_STRING, .value = P(string) },
			{ .kind = COSY_PIECE_TEXT, .width = 2, .value = 0x632e },
		};
		int count = 3 + n % 2, all;

		/* The string and the text do not share memory. */
		if (to_end == from)
			string -= ROOM, pieces[2].value = P(string);
		memset(name, 'a' + n % 26, (size_t)length);
		name[length] = 0;
		memset(to_end - ROOM, '#', ROOM);
		strcpy(string, name);
		memset(want, '#', sizeof(want));
		all = snprintf(want + ROOM - room, (size_t)room, "src%.*s%s%s", 1 + n % 8,
			       "()*+,-./", name, count > 3 ? ".c" : "");
		if (format_run(P(to), (uint64_t)room, P(pieces), (uint64_t)count) != COSY_DONE ||
		    the_run.run.ret != all || memcmp(to_end - ROOM, want, ROOM))
			wrong++;
	}
	CHECK(!wrong, "%lu paths differ", wrong);
	munmap(outside, 4096);
}

static void test_format_refused(void)
{
	struct cosy_text_piece piece = { .kind = COSY_PIECE_POINTER + 1 };
	char text[64];

	CHECK(format_run(P(text), sizeof(text), P(&piece), 1) == COSY_DONE &&
		      the_run.run.ret == -EINVAL,
	      "kind: %lld", (long long)the_run.run.ret);
	piece.kind = COSY_PIECE_TEXT;
	piece.width = 9;
	CHECK(format_run(P(text), sizeof(text), P(&piece), 1) == COSY_DONE &&
		      the_run.run.ret == -EINVAL,
	      "width: %lld", (long long)the_run.run.ret);
	CHECK(format_run(P(text), sizeof(text), P(&piece), COSY_MAX_PIECES + 1) == COSY_DONE &&
		      the_run.run.ret == -EINVAL,
	      "count: %lld", (long long)the_run.run.ret);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "format", .run = test_format },
		{ "plain", .run = test_format_plain },
		{ "wild", .run = test_format_wild },
		{ "bounded", .run = test_format_bounded },
		{ "refused", .run = test_format_refused },
	};

	return kmod_main(parts, COUNT(parts), argc, argv);
}
