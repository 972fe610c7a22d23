// SPDX-License-Identifier: MIT
// Output in some rounds of a loop: the region ends before it, and begins again at the loop's head.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"/", "/nonexistent", ".", "leave_again.tmp", "/dev/null/x"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* Errors are told, and the loop goes on. */
static long told(int rounds)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < rounds; i++) {
		struct stat st;

		if (stat(names[i % NAMES], &st)) {
			printf("%s: %s\n", names[i % NAMES], strerror(errno));
			continue;
		}
		sum += S_ISDIR(st.st_mode) ? i : 100 * st.st_size;
	}
	COSY_END;
	return sum;
}

/* An inner loop is where it goes on; what is before stays outside, and more is open behind. */
static long nested(int turns, int most)
{
	long sum = 0, bad = 0;
	struct stat st;
	int fd;

	COSY_START;
	fd = open("leave_again.tmp", O_RDONLY);
	if (fd < 0) {
		printf("no file\n");
		return -1;
	}
	for (int turn = 0; turn < turns; turn++) {
		char first[8] = "";
		int here = 0;

		if (pread(fd, first, sizeof(first) - 1, turn & 3) < 0)
			break;
		for (int i = 0; i < NAMES; i++) {
			char byte;

			if (fstatat(AT_FDCWD, names[i], &st, 0) < 0) {
				printf("%d %d: %s, %s\n", turn, i, strerror(errno), first);
				if (++bad > most)
					goto out;
				continue;
			}
			if (pread(fd, &byte, 1, i) != 1)
				break;
			here += byte;
		}
		sum += here + first[0];
	}
	if (bad > 2)
		printf("%ld bad\n", bad);
out:
	close(fd);
	COSY_END;
	return sum * 100 + bad;
}

static void tell_odd(int value)
{
	if (value & 1)
		printf("odd: %d\n", value);
}

/* Two loops: output in the second, and by a function. */
static int two_loops(int n)
{
	int made = 0, seen = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		made += getppid() > 0;
	for (int i = 0; i < made; i++) {
		seen += getppid() > 0;
		if (i % 3 == 2)
			tell_odd(i);
	}
	COSY_END;
	return made * 100 + seen;
}

/* A do loop with ways on from its middle, and output where its number is taken back. */
static long middle(unsigned int n)
{
	long sum = 0;
	unsigned int i = 0;

	COSY_START;
	do {
		long last = sum;

		switch (i % 4) {
		case 1:
			sum += getppid() > 0;
			break;
		case 2:
			puts("two");
			sum += 3;
			/* fall through */
		case 3:
			sum += last;
			break;
		default:
			if (getppid() < 0)
				exit(1);
		}
		if (sum > 40) {
			printf("%ld\n", sum);
			sum -= 37;
		}
	} while (++i < n);
	COSY_END;
	return sum;
}

int main(void)
{
	FILE *file = fopen("leave_again.tmp", "w");

	if (!file || fputs("12345678", file) < 0 || fclose(file))
		return 1;
	for (int rounds = 0; rounds < 12; rounds++)
		printf("%ld\n", told(rounds));
	printf("%ld\n", nested(4, 100));
	printf("%ld\n", nested(4, 4));
	printf("%ld\n", nested(0, 4));
	unlink("leave_again.tmp");
	printf("%ld\n", nested(2, 4));
	printf("%d\n", two_loops(9));
	for (unsigned int n = 1; n < 30; n += 7)
		printf("%ld\n", middle(n));
	return 0;
}
