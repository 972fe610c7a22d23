// SPDX-License-Identifier: MIT
/* compare.c - see compare.h. */
#include <fcntl.h>
#include <nmmintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "compare.h"
#include "content.h"

static uint64_t compared, digest;
static int differs;

__attribute__((target("sse4.2"))) uint32_t compare_crc(uint32_t crc, const void *data, size_t len)
{
	const char *next = data;
	uint64_t state = (uint32_t)~crc, word;

	for (; len >= sizeof(word); len -= sizeof(word), next += sizeof(word)) {
		memcpy(&word, next, sizeof(word));
		state = _mm_crc32_u64(state, word);
	}
	while (len--)
		state = _mm_crc32_u8(state, *next++);
	return ~(uint32_t)state;
}

static const char *byte_text(char text[8], int byte)
{
	if (byte < 0)
		return "nothing";
	sprintf(text, "%02x", byte);
	return text;
}

/* Reports the first difference only; -1: there is no byte. */
static void report_difference(const char *what, off_t at, int got, int wanted)
{
	char texts[2][8];

	if (differs)
		return;
	differs = 1;
	printf("differs %lld %s %s %s\n", (long long)at, byte_text(texts[0], got),
	       byte_text(texts[1], wanted), what);
	fflush(stdout);
}

void compare_besides(const char *what, off_t at, const void *got, const void *wanted, size_t len)
{
	const unsigned char *a = got, *b = wanted;
	size_t i = 0;

	if (!memcmp(got, wanted, len))
		return;
	while (a[i] == b[i])
		i++;
	report_difference(what, at + i, a[i], b[i]);
}

void compare_bytes(const char *what, off_t at, const void *got, const void *wanted, size_t len)
{
	compare_besides(what, at, got, wanted, len);
	compared += len;
	/* Add up, so that the order in which they come does not matter. */
	digest += (uint64_t)compare_crc(0, got, len) << 16;
}

void compare_content(const char *name, off_t at, const void *got, size_t len)
{
	char *wanted = malloc(len);

	if (!wanted)
		bench_fail("comparing");
	content_bytes(wanted, name, at, len);
	compare_bytes(name, at, got, wanted, len);
	free(wanted);
}

void compare_number(const char *what, off_t at, uint64_t got, uint64_t wanted)
{
	compare_bytes(what, at, &got, &wanted, sizeof(got));
}

void compare_file(const char *path, const void *wanted, size_t len)
{
	static char block[64 << 10];
	const unsigned char *bytes = wanted;
	int fd = BENCH_TRY(open(path, O_RDONLY));
	size_t at = 0;
	ssize_t got;

	while ((got = BENCH_TRY(read(fd, block, sizeof(block)))) > 0) {
		if ((size_t)got > len - at) {
			compare_bytes(path, at, block, bytes + at, len - at);
			report_difference(path, len, (unsigned char)block[len - at], -1);
			close(fd);
			return;
		}
		compare_bytes(path, at, block, bytes + at, got);
		at += got;
	}
	if (at < len)
		report_difference(path, at, -1, bytes[at]);
	close(fd);
}

void compare_report(void)
{
	printf("compared %llu %016llx\n", (unsigned long long)compared, (unsigned long long)digest);
}
