// SPDX-License-Identifier: MIT
// Views of memory of cosy_malloc, by choice and by name.
// expect: compiled
#include <cosy/cosy.h>
#ifndef COSY_OFF
#include <cosy/fast.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 20000

#ifdef COSY_OFF
/* Without the library, use the functions that its own stand for. */
#define cosy_malloc malloc
#undef cosy_free
#define cosy_free			 free
#define cosy_read			 read
#define cosy_pread			 pread
#define cosy_count			 plain_count
#define cosy_crc32c			 plain_crc32c
#define cosy_read_file			 plain_read_file
#define cosy_lend(fd, buf, count, flags) write(fd, buf, count)

static size_t plain_count(const char *buf, size_t count, int byte)
{
	size_t found = 0;

	while (count--)
		found += *buf++ == (char)byte;
	return found;
}

static unsigned plain_crc32c(unsigned crc, const void *buf, size_t count)
{
	crc = ~crc;
	for (const unsigned char *at = buf; count--; at++) {
		crc ^= *at;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static ssize_t plain_read_file(int dir, const char *path, char *buf, size_t size, int flags)
{
	int fd = openat(dir, path, flags);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size);

	if (fd >= 0)
		close(fd);
	return n;
}

static ssize_t cosy_seek_read(int fd, void *buf, size_t count, off_t offset, int whence)
{
	return lseek(fd, offset, whence) < 0 ? -1 : read(fd, buf, count);
}

static ssize_t cosy_seek_write(int fd, const void *buf, size_t count, off_t offset, int whence)
{
	return lseek(fd, offset, whence) < 0 ? -1 : write(fd, buf, count);
}

static int cosy_readc(int fd)
{
	unsigned char c;
	ssize_t n = read(fd, &c, 1);

	if (!n)
		errno = ENODATA;
	return n == 1 ? c : -1;
}
#endif

struct record {
	int length;
	char *text;
};

/* Has a buffer known elsewhere: a read is a view only by name, and every access goes there. */
static long by_name(int fd, struct record *record, char *alias)
{
	long sum = 0;

	COSY_START;
	while ((record->length = cosy_read(fd, record->text, 4096)) > 0) {
		sum = sum * 3 + alias[100] + record->text[101];
		alias[7] = 'A';
		sum += cosy_count(record->text, record->length, 'A');
		sum ^= cosy_crc32c(sum, alias, record->length);
	}
	COSY_END;
	return sum;
}

static long by_choice(int fd, int out)
{
	char *buf = cosy_malloc(8192);
	long sum = 0;
	int n;

	if (!buf)
		return -1;
	COSY_START;
	while ((n = read(fd, buf, 8192)) > 0) {
		sum += buf[0] + buf[n - 1];
		if (write(out, buf, n) != n)
			return -2;
	}
	COSY_END;
	cosy_free(buf);
	return sum;
}

/* Tries these calls' other ways in and out. */
static long others(int fd, const char *path)
{
	static char buf[100];
	long sum = 0;

	COSY_START;
	sum += cosy_seek_read(fd, buf, 50, 100, SEEK_SET) + buf[0];
	sum += cosy_seek_write(fd, buf, 10, -10, SEEK_END);
	sum += cosy_read_file(AT_FDCWD, path, buf, sizeof(buf), O_RDONLY);
	sum += cosy_read_file(AT_FDCWD, "/nonexistent", buf, sizeof(buf), O_RDONLY) * errno;
	sum += cosy_pread(fd, buf, 30, 40) + buf[2];
	sum += cosy_seek_read(fd, buf, 1, 0, SEEK_END);
	sum += cosy_readc(fd) * errno;
	sum += cosy_lend(fd, buf, 3, 0);
	COSY_END;
	return sum;
}

int main(void)
{
	char name[] = "/tmp/cosy-views-XXXXXX", copy[] = "/tmp/cosy-views-XXXXXX";
	static char data[SIZE];
	int fd = mkstemp(name), out = mkstemp(copy);
	struct record record = {0, cosy_malloc(4096)};

	for (int i = 0; i < SIZE; i++)
		data[i] = 'a' + (i * 5 + i / 700) % 26;
	if (fd < 0 || out < 0 || !record.text || write(fd, data, SIZE) != SIZE)
		return 1;
	lseek(fd, 0, SEEK_SET);
	printf("name %ld\n", by_name(fd, &record, record.text));
	lseek(fd, 0, SEEK_SET);
	printf("choice %ld\n", by_choice(fd, out));
	printf("others %ld %ld\n", others(out, name), (long)lseek(out, 0, SEEK_END));
	cosy_free(record.text);
	unlink(name);
	unlink(copy);
	return 0;
}
