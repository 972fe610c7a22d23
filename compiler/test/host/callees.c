// The code of a function that a region calls counts as if it stood in the region: whether an
// iteration makes a system call, and what a loop loses.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %ir %s | FileCheck %s --check-prefix=IR
#include <cosy/cosy.h>
#include <ctype.h>
#include <string.h>
#include <unistd.h>

struct in {
	int fd;
	char *next, *end;
	char buffer[4096];
};

static int in_byte(struct in *in)
{
	if (in->next == in->end) {
		ssize_t n = read(in->fd, in->buffer, sizeof(in->buffer));

		if (n <= 0)
			return -1;
		in->next = in->buffer;
		in->end = in->buffer + n;
	}
	return (unsigned char)*in->next++;
}

// Most calls of the function find the byte in the buffer.
// CHECK: callees.c:[[#@LINE+5]]:2: remark: region runs natively: it is expected to lose
long buffered(struct in *in)
{
	long lines = 0;

	COSY_START;
	for (int c = in_byte(in); c >= 0; c = in_byte(in))
		lines += c == '\n';
	COSY_END;
	return lines;
}

static int is_vowel(int c)
{
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

// Functions that only compute are no calls: the inner loop is none that goes into the kernel.
// CHECK: callees.c:[[#@LINE+8]]:2: remark: gain: entering the kernel costs {{[0-9]+}}, an iteration of its loop saves {{[0-9]+}} instructions;
// IR-LABEL: define {{.*}}@computes(
// IR: %[[LOST:.*]] = mul i64 %cosy.lost{{[^,]*}}, 31
// IR: add i64 %cosy.left{{[^,]*}}, %[[LOST]]
long computes(int fd, char *buffer, const char *all)
{
	long found = 0, n;

	COSY_START;
	while ((n = read(fd, buffer, 4096)) > 0)
		for (long i = 0; i < n; i++)
			found += isspace((unsigned char)buffer[i]) || is_vowel(buffer[i]) ||
				 strchr(all, buffer[i]);
	COSY_END;
	return found;
}

__attribute__((noinline)) static unsigned sum_of(const unsigned char *p, long n, unsigned sum)
{
	while (n--)
		sum = sum * 31 + *p++ % 13;
	return sum;
}

// A loop of a function that is called also adds up what it would lose.
// CHECK: callees.c:[[#@LINE+9]]:2: remark: gain: entering the kernel costs {{[0-9]+}}, an iteration of its loop saves {{[0-9]+}} instructions;
// IR-LABEL: define {{.*}}@sums(
// IR: %[[LOST:.*]] = mul i64 %cosy.lost{{[^,]*}}, 31
// IR: add i64 %cosy.left{{[^,]*}}, %[[LOST]]
unsigned sums(int fd, unsigned char *buffer)
{
	unsigned sum = 0;
	long n;

	COSY_START;
	while ((n = read(fd, buffer, 4096)) > 0)
		sum = sum_of(buffer, n, sum);
	COSY_END;
	return sum;
}
