// A function whose region is on a path that it need not take saves as many
// registers as without the region: what enters the kernel is out of line.
// RUN: %cosycc -O2 -Werror=cosy -S %s -o %t.s && FileCheck %s < %t.s
// RUN: %cosycc -O2 -fno-cosy -DCOSY_OFF -S %s -o %t.plain.s
// RUN: sed -n '/^lookup:/,/func_end/p' %t.s | grep -c push > %t.pushes
// RUN: sed -n '/^lookup:/,/func_end/p' %t.plain.s | grep -c push > %t.plain.pushes
// RUN: diff %t.pushes %t.plain.pushes
// RUN: %cosycc -O0 -S %s -o - | FileCheck %s --check-prefix=WITHOUT
// Registers are compared in assembly; whether it computes the same, at run time:
// RUN: %cosycc -O2 -g -DMAIN %s -o %t && env COSY_MODE=native %t > %t.native
// RUN: env COSY_MODE=interp %t > %t.interp && diff %t.native %t.interp
// CHECK-DAG: {{^}}always:
// CHECK-DAG: {{^}}lookup.cosy.enter:
// CHECK-NOT: {{^}}always.cosy.enter:
// WITHOUT-NOT: .cosy.enter:
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned char cache[256];

__attribute__((noinline)) long lookup(int fd, int x)
{
	char block[256];
	long got = 0;

	if (x)
		return cache[x & 255];
	COSY_START;
	got = pread(fd, block, sizeof(block), 0);
	if (got > 0)
		memcpy(cache, block, got);
	COSY_END;
	return got;
}

__attribute__((noinline)) long always(int fd, char *buf, long size)
{
	long got;

	COSY_START;
	got = pread(fd, buf, size, 1);
	COSY_END;
	return got * 2;
}

#ifdef MAIN
int main(int argc, char **argv)
{
	char buf[16] = "";
	FILE *own = fopen(argv[argc - 1], "r");
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += lookup(fileno(own), i % 10);
	printf("%ld %d %ld %.3s\n", sum, cache[1], always(fileno(own), buf, 8), buf);
	return 0;
}
#endif
