// SPDX-License-Identifier: MIT
// Variables with clean-up functions inside the region, and statement expressions.
// expect: compiled
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int closed;

static void close_fd(int *fd)
{
	if (*fd >= 0 && close(*fd) == 0)
		closed++;
}

#define max(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) _a = (a);                                                            \
		__typeof__(b) _b = (b);                                                            \
		_a > _b ? _a : _b;                                                                 \
	})

static int run(int n)
{
	int r = 0;

	COSY_START;
	int fd __attribute__((cleanup(close_fd))) = open("/dev/null", O_RDONLY);

	for (int i = 0; i < 5; i++) {
		int inner __attribute__((cleanup(close_fd))) = dup(fd);

		if (i == n)
			return max(i * 3, 4);
		if (n == 7)
			break;
		r = max(r, i);
	}
	r += fd >= 0;
	COSY_END;
	return r;
}

int main(void)
{
	printf("%d %d %d ", run(0), run(3), run(7));
	printf("%d %d\n", run(8), closed);
	return 0;
}
