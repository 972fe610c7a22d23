// SPDX-License-Identifier: MIT
// What comes after a region that ended early uses pointers to its locals, while the region runs again.
// expect: compiled
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One of two locals. */
__attribute__((noinline)) static int chosen(int fd, int n, int fill)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		char a[16], b[16];
		char *p = (getppid() + i) & 1 ? a : b;

		memset(a, fill, sizeof(a));
		memset(b, fill, sizeof(b));
		if (pread(fd, p, 4, i) != 4) {
			printf("short: %.8s\n", p);
			return 1;
		}
		sum += p[0];
		if (p[0] == 'e') {
			printf("%d\n", chosen(fd, 2, fill + 1));
			printf("%.8s\n", p);
			return 2;
		}
	}
	COSY_END;
	return (int)sum;
}

static void die(const char *what, const char *text)
{
	printf("%s: %.8s\n", what, text);
	exit(5);
}

/* The life of the local ends in the region alone. */
__attribute__((noinline)) static void died(int fd, int n, int fill)
{
	COSY_START;
	for (int i = 0; i < n; i++) {
		char a[16], b[16];
		char *p = (getppid() + i) & 1 ? a : b;

		memset(a, fill, sizeof(a));
		memset(b, fill, sizeof(b));
		if (pread(fd, p, 4, i) != 4)
			die("short", p);
		if (p[0] == 'e') {
			if (fill < 'p')
				died(fd, 40, fill + 1);
			die("last", p);
		}
	}
	COSY_END;
}

int main(void)
{
	int fd = open("leave_early_pointers.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);

	unlink("leave_early_pointers.tmp");
	if (fd < 0 || write(fd, "abcdefghijkl", 12) != 12)
		return 1;
	printf("%d\n", chosen(fd, 3, 'c'));
	printf("%d\n", chosen(fd, 8, 'm'));
	died(fd, 3, '0');
	died(fd, 40, 'm');
	return 0;
}
