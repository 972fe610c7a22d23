// SPDX-License-Identifier: MIT
// Errors that are told by stdio on ways out of a region, and output behind its loop.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what, int code)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(code);
}

/* Out of two loops with locals of their own, by ways that meet. */
static int nested(const char *name, int turns, int bad)
{
	int opened = 0, fd = -1, inner = 0;

	COSY_START;
	for (int i = 0; i < turns; i++) {
		char buf[32];

		for (int j = 0; j < 3; j++) {
			char byte[8];
			ssize_t got;

			fd = open(i == bad && j == 1 ? "/nonexistent" : name, O_RDONLY);
			if (fd < 0) {
				printf("%d, %d: %s\n", i, j, strerror(errno));
				return -opened;
			}
			got = read(fd, byte, sizeof(byte));
			if (got < 0) {
				printf("read: %s\n", strerror(errno));
				goto out;
			}
			inner += (int)got;
			opened++;
			close(fd);
		}
		buf[0] = (char)i;
		if (getppid() < 0)
			die(buf, 4);
	}
	fd = open(name, O_RDONLY);
	if (fd >= 0 && close(fd))
		die("close", 3);
out:
	printf("opened %d, %d bytes\n", opened, inner);
	if (inner > 1000)
		printf("many\n");
	COSY_END;
	return opened + 1000 * (fd < 0);
}

/* One way of several goes through the output, and all go on behind it. */
static long joined(int n)
{
	long sum = 0, last = -1;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += getppid() > 0;
	if (n == 3)
		printf("three\n");
	else if (n == 5)
		last = sum * 2;
	sum += 7;
	if (n & 1)
		last += sum;
	COSY_END;
	return sum * 100 + last;
}

/* In a loop of the function's own. */
static void repeated(void)
{
	for (int i = 0; i < 6; i++) {
		long made = 0;

		COSY_START;
		while (made < i && getppid() > 0)
			made++;
		if (i == 2)
			continue;
		if (i == 4) {
			puts("four");
			break;
		}
		made *= 2;
		COSY_END;
		printf("%d: %ld\n", i, made);
	}
}

/* Nothing is left to do behind the output. */
static int switched(int n)
{
	COSY_START;
	switch (n - (getppid() > 0)) {
	case 0:
		puts("none");
		return 10;
	case 1:
		puts("one");
		break;
	case 2:
		return 12;
	default:
		printf("%d\n", n);
		die("other", 0);
	}
	COSY_END;
	return 11;
}

int main(void)
{
	FILE *file = fopen("leave_early.tmp", "w");

	if (!file || fputs("12345678", file) < 0 || fclose(file))
		return 1;
	printf("%d\n", nested("leave_early.tmp", 5, -1));
	printf("%d\n", nested("leave_early.tmp", 5, 3));
	printf("%d\n", nested("leave_early.tmp", 60, -1));
	printf("%d\n", nested(".", 5, -1));
	unlink("leave_early.tmp");
	for (int n = 0; n < 7; n++)
		printf("%ld\n", joined(n));
	repeated();
	for (int n = 1; n < 5; n++)
		printf("%d\n", switched(n));
	return 0;
}
