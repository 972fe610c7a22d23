// A loop that makes a call in most iterations is counted, though no index counts it and the others
// are short: there are few of them.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <sys/stat.h>
#include <unistd.h>

long chain(char *const *names, const unsigned *next, unsigned at)
{
	struct stat st;
	long size = 0;

	// CHECK: mostly.c:[[#@LINE+1]]:2: remark: gain: {{.*}}an iteration of its loop saves {{[1-9][0-9][0-9]}} instructions;
	COSY_START;
	for (; at; at = next[at])
		if (names[at] && lstat(names[at], &st) == 0)
			size += st.st_size;
	COSY_END;
	return size;
}

// A comparison of two numbers is true in half of the cases, as far as LLVM knows.
long refilled(int fd, char *buffer, long length)
{
	long sum = 0, at = 0;

	// CHECK: mostly.c:[[#@LINE+1]]:2: remark: region runs natively: it is expected to lose in the kernel
	COSY_START;
	for (char c = 1; c; c = buffer[at++]) {
		if (at == length) {
			length = pread(fd, buffer, 4096, 0);
			at = 0;
		}
		sum += c;
	}
	COSY_END;
	return sum;
}

static struct {
	int fd;
	char *at, *end, bytes[4096];
} input;

// Little is left of such a function once it is inlined: an addition would be a large part of the rest.
static int next(void)
{
	if (input.at == input.end) {
		ssize_t got = read(input.fd, input.bytes, sizeof(input.bytes));

		if (got <= 0)
			return -1;
		input.at = input.bytes;
		input.end = input.bytes + got;
	}
	return (unsigned char)*input.at++;
}

long numbers(long count)
{
	long sum = 0, lines = 0, number = 0;

	// CHECK: mostly.c:[[#@LINE+1]]:2: remark: region runs natively: it is expected to lose in the kernel
	COSY_START;
	while (lines < count) {
		int c = next();

		if (c < 0) {
			if (lseek(input.fd, 0, SEEK_SET) < 0)
				return -1;
		} else if (c >= '0' && c <= '9') {
			number = number * 10 + (c - '0');
		} else {
			sum += number;
			number = 0;
			lines += c == '\n';
		}
	}
	COSY_END;
	return sum;
}
