// SPDX-License-Identifier: MIT
// return out of a region, with and without a value, from nested blocks.
// expect: compiled
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int returned;

static int with_value(int n)
{
	int fd = -1;

	COSY_START;
	for (int i = 0; i < 10; i++) {
		if (i == n) {
			while (1) {
				if (getpid() > 0)
					return i * 10;
			}
		}
	}
	fd = open("/nonexistent", O_RDONLY);
	if (fd < 0)
		return -7;
	COSY_END;
	return fd;
}

static void without_value(int n)
{
	COSY_START;
	if (n & 1)
		return;
	returned += getpid() > 0;
	COSY_END;
	returned += 100;
}

int main(void)
{
	for (int i = 0; i < 13; i++) {
		printf("%d ", with_value(i));
		without_value(i);
	}
	printf("%d\n", returned);
	return 0;
}
