// SPDX-License-Identifier: MIT
/* content.c - see content.h. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "content.h"

static uint32_t name_hash(const char *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

static uint32_t line_tag(uint32_t file, uint32_t number)
{
	uint32_t tag = file ^ number * 0x9e3779b1u;

	tag = (tag ^ tag >> 15) * 0x85ebca6bu;
	return tag ^ tag >> 13;
}

/* Returns the eight digits of a number in base 16, a byte each, the first one lowest. */
static uint64_t digits(uint32_t number)
{
	uint64_t bytes = number;

	bytes = (bytes | bytes << 16) & 0x0000ffff0000ffff;
	bytes = (bytes | bytes << 8) & 0x00ff00ff00ff00ff;
	bytes = (bytes | bytes << 4) & 0x0f0f0f0f0f0f0f0f;
	return __builtin_bswap64(bytes);
}

/* Makes a line; the tag's letters are none of those that the rest of a line is made of. */
static void line_make(char line[CONTENT_LINE], uint32_t file, uint32_t number)
{
	const uint64_t bytes = 0x0101010101010101,
		       tag = digits(line_tag(file, number)) + 'G' * bytes;
	uint64_t head = digits(number);

	/* Digits from 10 on are letters. */
	head += '0' * bytes + ((head + 6 * bytes) >> 4 & bytes) * ('a' - '9' - 1);
	memset(line, 'a' + number % 26, CONTENT_LINE);
	memcpy(line, &head, sizeof(head));
	memcpy(line + CONTENT_TAG, &tag, sizeof(tag));
	line[8] = ' ';
	line[CONTENT_LINE - 1] = '\n';
}

void content_bytes(void *to, const char *name, off_t at, size_t len)
{
	const uint32_t file = name_hash(name);
	char line[CONTENT_LINE], *next = to;

	while (len) {
		const size_t before = at % CONTENT_LINE;
		size_t part = CONTENT_LINE - before;

		if (part > len)
			part = len;
		if (part == CONTENT_LINE) {
			line_make(next, file, at / CONTENT_LINE);
		} else {
			line_make(line, file, at / CONTENT_LINE);
			memcpy(next, line + before, part);
		}
		next += part;
		at += part;
		len -= part;
	}
}

int content_write(const char *path, const char *name, size_t size)
{
	char block[64 << 10];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, size) < 0)
		return -1;
	for (size_t at = 0; at < size; at += sizeof(block)) {
		size_t len = size - at < sizeof(block) ? size - at : sizeof(block);

		content_bytes(block, name, at, len);
		if (pwrite(fd, block, len, at) != (ssize_t)len)
			return -1;
	}
	return close(fd);
}
