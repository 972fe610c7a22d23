// SPDX-License-Identifier: MIT
/*
 * format_test.c - compares the operation format with the C library's snprintf.
 *
 * format_test [FORMATS [SEED]]: so many random formats, by default 100,000 (scaled by COSY_SCALE).
 */
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>

#include "interp/interp_ops.h"

#include "../../tests/scale.h"
#include "check.h"
#include "format_random.h"

#define FORMATS 100000

static char got[FORMAT_LONGEST + 8], want[FORMAT_LONGEST + 8];

static s64 format(char *buffer, u64 size, const struct cosy_text_piece *pieces, u64 count)
{
	u64 r[6] = {0, (u64)buffer, size, (u64)pieces, count, 0};

	return libcosy_interp_format(NULL, r);
}

static void compare(const struct format_random *in)
{
	s64 result;
	int expected;

	memset(got, 'x', sizeof(got));
	memset(want, 'x', sizeof(want));
	expected = format_by_libc(in, want);
	result = format(got, in->size, in->pieces, in->count);
	if (result == (expected < 0 ? -EOVERFLOW : expected) && !memcmp(got, want, sizeof(got)))
		return;
	fprintf(stderr, "\"%s\" into %llu bytes: %lld \"%.60s\", not %d \"%.60s\"\n", in->format,
		(unsigned long long)in->size, (long long)result, got, expected, want);
	check_failures++;
}

static void random_formats(u64 formats, u64 seed)
{
	const size_t page = 4096;
	char *strings =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct format_random in = {.state = seed, .strings = strings, .strings_size = page};
	u64 compared = 0, wild = 0;

	/* What comes after the strings cannot be read. */
	MUST(strings != MAP_FAILED && !mprotect(strings + page, page, PROT_NONE));
	for (size_t i = 0; i < page - 1; i++)
		strings[i] = (char)(1 + i * 7 % 255);
	for (u64 i = 0; i < formats && check_failures < 20; i++) {
		int is_wild = i % 8 == 0;

		if (!format_next(&in, is_wild)) {
			CHECK(is_wild);
			continue;
		}
		compare(&in);
		compared++;
		wild += is_wild;
	}
	printf("%llu formats compared, %llu of them of random letters\n",
	       (unsigned long long)compared, (unsigned long long)wild);
	CHECK(compared > formats / 2 && wild > formats / 100);
}

/* Checks what no compiler makes. */
static void wrong_pieces(void)
{
	static const struct cosy_text_piece wrong[] = {
		{.kind = COSY_PIECE_POINTER + 1},
		{.kind = 255},
		{.kind = COSY_PIECE_TEXT},
		{.kind = COSY_PIECE_TEXT, .width = 9},
		{.kind = COSY_PIECE_TEXT, .width = -1},
		{.kind = COSY_PIECE_TEXT, .width = 1, .flags = COSY_PIECE_LEFT},
		{.kind = COSY_PIECE_SIGNED, .flags = 1 << 6},
		{.kind = COSY_PIECE_SIGNED, .flags = 1 << 7},
		{.kind = COSY_PIECE_SIGNED, .reserved = 1},
	};
	static const struct cosy_text_piece none[COSY_MAX_PIECES + 1];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_EQ(format(got, 100, &wrong[i], 1), -EINVAL);
	CHECK_EQ(format(got, 100, none, COSY_MAX_PIECES + 1), -EINVAL);
	CHECK_EQ(format(got, 100, none, 1ull << 32), -EINVAL);
	CHECK_EQ(format(NULL, 0, NULL, 0), 0);
}

/* Checks that a text of more bytes than an int counts is an error. */
static void too_long(void)
{
	struct cosy_text_piece pieces[2] = {
		{.kind = COSY_PIECE_CHAR, .width = INT_MAX, .value = 'c'},
		{.kind = COSY_PIECE_CHAR, .value = 'd'}};

	CHECK_EQ(format(NULL, 0, pieces, 1), INT_MAX);
	CHECK_EQ(format(NULL, 0, pieces, 2), -EOVERFLOW);
	pieces[0].width = INT_MIN;
	CHECK_EQ(format(NULL, 0, pieces, 1), -EOVERFLOW);
}

int main(int argc, char **argv)
{
	u64 formats = argc > 1 ? strtoull(argv[1], NULL, 0) : scale_steps(FORMATS);

	wrong_pieces();
	too_long();
	random_formats(formats, argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
	return check_result();
}
