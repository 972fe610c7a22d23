// SPDX-License-Identifier: MIT
// Reads that become views: nothing may show that the bytes are elsewhere.
// expect: compiled
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAGE 4096
#define SIZE (5 * PAGE + 123)

static int fill(int seed)
{
	char name[] = "/tmp/cosy-views-XXXXXX";
	static char data[SIZE];
	int fd = mkstemp(name);

	unlink(name);
	for (int i = 0; i < SIZE; i++)
		data[i] = 'a' + (i * 7 + i / 1000 + seed) % 26;
	if (fd < 0 || write(fd, data, SIZE) != SIZE)
		exit(1);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static unsigned checksum(int fd)
{
	static unsigned char data[8 * SIZE];
	ssize_t n = pread(fd, data, sizeof(data), 0);
	unsigned sum = n;

	for (ssize_t i = 0; i < n; i++)
		sum = sum * 31 + data[i];
	return sum;
}

/* Changes the file by another descriptor, between the read and the look. */
static int changed_meanwhile(int fd, int other)
{
	char buf[PAGE];
	int sum = 0;

	COSY_START;
	if (read(fd, buf, sizeof(buf)) != sizeof(buf))
		return -1;
	if (pwrite(other, "XYZ", 3, 10) != 3)
		return -2;
	sum = buf[9] * 10000 + buf[10] * 100 + buf[12];
	COSY_END;
	return sum;
}

/* Truncates the file and writes it again, before the bytes go on. */
static int truncated_meanwhile(int fd, int out)
{
	char buf[2 * PAGE];
	int n = 0;

	COSY_START;
	n = read(fd, buf, sizeof(buf));
	if (ftruncate(fd, 100) || pwrite(fd, "again", 5, 50) != 5)
		return -1;
	n += write(out, buf, sizeof(buf));
	COSY_END;
	return n;
}

/* Writes the bytes back over the file itself, shifted: the source is the destination. */
static int shifted(int fd)
{
	char buf[PAGE];
	int n = 0;

	COSY_START;
	n = pread(fd, buf, sizeof(buf), 0);
	n += pwrite(fd, buf, sizeof(buf), 1);
	n += pwrite(fd, buf, sizeof(buf), 2 * PAGE - 7);
	COSY_END;
	return n;
}

/* Reads parts into one buffer, then looks across the seams. */
static int in_parts(int fd, int out)
{
	char buf[3000];
	int sum = 0;

	COSY_START;
	if (read(fd, buf, 1000) != 1000 || read(fd, buf + 1000, 1000) != 1000 ||
	    pread(fd, buf + 500, 1000, 7000) != 1000)
		return -1;
	sum = memcmp(buf, buf + 1000, 1000) ? 1 : 2;
	if (write(out, buf + 250, 1600) != 1600)
		return -2;
	memmove(buf + 3, buf, 1900);
	if (write(out, buf, 2000) != 2000)
		return -3;
	COSY_END;
	return sum;
}

/* Has two views at a time, one of them stored into. */
static int two_at_a_time(int a, int b, int out)
{
	char first[PAGE], second[PAGE];
	int n = 0;

	COSY_START;
	if (read(a, first, PAGE) != PAGE || read(b, second, PAGE) != PAGE)
		return -1;
	first[5] = '!';
	memcpy(second + 100, first, 200);
	n = write(out, first, PAGE) + write(out, second, PAGE);
	n += second[105] == '!';
	COSY_END;
	return n;
}

/* Carries the bytes that one round's read left into the next round. */
static int carried(int fd, int out)
{
	char buf[PAGE];
	int lines = 0, n;

	COSY_START;
	memset(buf, '.', sizeof(buf));
	for (;;) {
		if (write(out, buf, sizeof(buf)) != sizeof(buf))
			return -1;
		n = read(fd, buf, 600);
		if (n <= 0)
			break;
		buf[0] = '#';
		for (char *at = buf; (at = memchr(at, 'q', buf + sizeof(buf) - at)); at++)
			lines++;
	}
	COSY_END;
	return lines + n;
}

/* Leaves early, and looks at the bytes after the region. */
static int early(int fd)
{
	char buf[PAGE];
	int n = 0, sum = 0;

	memset(buf, '-', sizeof(buf));
	COSY_START;
	n = read(fd, buf, sizeof(buf));
	if (n == PAGE)
		goto out;
	n = -1;
	COSY_END;
out:
	for (int i = 0; i < n; i++)
		sum += buf[i] == 'e';
	return sum;
}

/* Makes a call with the bytes that only the kernel's own way can make. */
static int sent(int fd, int *ends)
{
	char buf[PAGE], back[PAGE];
	int n = 0;

	COSY_START;
	n = read(fd, buf, sizeof(buf));
	if (send(ends[0], buf, 1000, 0) != 1000 || send(ends[0], buf + 1000, 7, 0) != 7)
		return -1;
	n += recv(ends[1], back, 1007, MSG_WAITALL);
	n += memcmp(buf, back, 1007) ? 1 : 0;
	COSY_END;
	return n;
}

/* Checks that failures and ends leave the buffer as it was. */
static int nothing_read(int fd)
{
	char buf[PAGE];
	int n = 0;

	COSY_START;
	memset(buf, 'k', sizeof(buf));
	n += pread(fd, buf, sizeof(buf), 10 * SIZE);
	n += read(-1, buf, sizeof(buf));
	n += pread(fd, buf, sizeof(buf), -1);
	n += buf[0] + buf[PAGE - 1];
	COSY_END;
	return n;
}

/*
 * Has buffers that end before the region does, on each way there is; the memory is then used anew.
 */
static int in_turns(int in, int out)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 20; i++) {
		char buf[PAGE];
		ssize_t n = pread(in, buf, i == 7 ? 100 : sizeof(buf), i * 700);

		if (n < 0)
			break;
		if (i % 3 == 0)
			continue;
		if (i % 3 == 1) {
			write(out, buf, n);
			sum += lseek(in, 0, SEEK_CUR) != 0;
		}
		sum += memchr(buf, 'x', n) != NULL;
		lseek(out, 0, SEEK_CUR);
		if (i == 15)
			sum += memchr(buf, 'y', n) != NULL;
	}
	for (int i = 0; i < 4; i++) {
		char buf[2 * PAGE];

		memset(buf, 'a' + i, sizeof(buf));
		pread(in, buf, i * 1000, i);
		/* The bytes after a short read are those that were there before. */
		write(out, buf, sizeof(buf));
		getppid();
	}
	COSY_END;
	return sum;
}

int main(void)
{
	int a = fill(1), b = fill(2), out = fill(3), ends[2];

	ftruncate(out, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	printf("changed %d\n", changed_meanwhile(a, dup(a)));
	lseek(a, 0, SEEK_SET);
	printf("shifted %d %u\n", shifted(a), checksum(a));
	printf("parts %d %u\n", in_parts(a, out), checksum(out));
	printf("two %d %u\n", two_at_a_time(a, b, out), checksum(out));
	lseek(b, 0, SEEK_SET);
	printf("carried %d %u\n", carried(b, out), checksum(out));
	lseek(b, 0, SEEK_SET);
	printf("early %d\n", early(b));
	printf("sent %d\n", sent(b, ends));
	printf("nothing %d\n", nothing_read(b));
	lseek(b, 0, SEEK_SET);
	lseek(b, 0, SEEK_SET);
	ftruncate(out, 0);
	lseek(out, 0, SEEK_SET);
	printf("turns %d %u\n", in_turns(b, out), checksum(out));
	printf("truncated %d %u %u\n", truncated_meanwhile(b, out), checksum(out), checksum(b));
	return 0;
}
