// SPDX-License-Identifier: MIT
// Regions that end early, one whose COSY_END nobody comes to, one whose COSY_START nobody comes to,
// and one after another, whose place jump threading would copy.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void die(const char *what)
{
	printf("%s\n", what);
	exit(3);
}

static int ended(int n)
{
	printf("%d\n", n);
	exit(4);
}

static int never_ends(int n)
{
	long made = 0;

	if (n > 100) __attribute__
		((musttail)) return ended(n);
	COSY_START;
	for (int i = 0; i < n; i++)
		made += getppid() > 0;
	printf("%ld\n", made);
	die("the end");
	COSY_END;
	return (int)made;
}

static long never_starts(int n)
{
	long made = n;

	if (n > 5) {
		puts("more");
		if (n < 3) {
			COSY_START;
			for (int i = 0; i < n; i++)
				made += getppid() > 0;
			printf("%ld\n", made);
			COSY_END;
		}
	}
	COSY_START;
	for (int i = 0; i < n; i++)
		made += getppid() > 0;
	printf("%ld\n", made);
	COSY_END;
	return made;
}

static long two(int n)
{
	long made = 0;
	int more = 0;

	if (n > 5) {
		puts("more");
		more = 1;
	}
	COSY_START;
	for (int i = 0; i < n; i++)
		made += getppid() > 0;
	COSY_END;
	made += more ? 1000 : 5;
	COSY_START;
	for (int i = 0; i < n; i++)
		made += getppid() > 0;
	printf("%ld\n", made);
	COSY_END;
	return made;
}

int main(void)
{
	for (int n = 2; n < 12; n += 3)
		printf("%ld, %ld\n", never_starts(n), two(n));
	return never_ends(4);
}
