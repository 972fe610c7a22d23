// SPDX-License-Identifier: MIT
// Globals: external, static, static in a function, initialised and not.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int external = 3;
static long internal = -4;
static int uninitialised[8];
extern char **environ;
static struct {
	int a;
	char b[3];
	long c;
} record = {1, "xy", 2};

static int counter(void)
{
	static int calls = 100;

	return ++calls;
}

int main(void)
{
	int env = 0;

	for (int round = 0; round < 3; round++) {
		COSY_START;
		external += counter();
		internal *= external;
		for (int i = 0; i < 8; i++)
			uninitialised[i] += i * round;
		record.a++;
		record.b[1] ^= 1;
		record.c += record.a + getpid() * 0;
		env = environ != 0;
		COSY_END;
	}
	printf("%d %ld %d %d %d %s %ld %d %d\n", external, internal, uninitialised[3],
	       uninitialised[7], record.a, record.b, record.c, env, counter());
	return 0;
}
