// A return from a loop of a region that stays native costs the loop's iterations nothing: they are
// those of the plain loop.
// RUN: %cosycc -O2 -g0 -S %s -o - | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

static struct {
	int fd;
	char *at, *end, buffer[4096];
} input;

static int next(void)
{
	if (input.at == input.end) {
		ssize_t got = read(input.fd, input.buffer, sizeof(input.buffer));

		if (got <= 0)
			return -1;
		input.at = input.buffer;
		input.end = input.buffer + got;
	}
	return (unsigned char)*input.at++;
}

// The iteration of a digit goes back to the loop's head without a test of where it came from.
// CHECK-LABEL: numbers:
// CHECK: incq
// CHECK-NOT: testl
// CHECK: ret
long numbers(long count)
{
	long sum = 0, lines = 0, number = 0;

	COSY_START;
	while (lines < count) {
		int c = next();

		if (c < 0) {
			if (lseek(input.fd, 0, SEEK_SET) < 0)
				return 1;
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
