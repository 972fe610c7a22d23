// -Rcosy tells of loops that go several rounds at once, and of those that take eight bytes.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O0 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

long hash(int fd)
{
	char block[4096];
	long n = 0;
	ssize_t got;

	COSY_START;
	while ((got = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < got; i++)
			n = n * 31 + block[i];
	COSY_END;
	return n;
}
// CHECK: unroll.c:[[#@LINE-5]]:3: remark: loop goes 8 rounds at once, with one test of what they load and store [

long lines(int fd)
{
	char block[4096];
	long n = 0;
	ssize_t got;

	COSY_START;
	while ((got = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < got; i++)
			n += block[i] == '\n';
	COSY_END;
	return n;
}
// CHECK: unroll.c:[[#@LINE-5]]:3: remark: loop takes eight bytes at once [
// CHECK: unroll.c:[[#@LINE-6]]:3: remark: loop goes 4 rounds at once

// CHECK-NOT: rounds at once
long pages(int fd)
{
	long n = 0;
	char c;

	COSY_START;
	for (long at = 0; pread(fd, &c, 1, at) == 1; at += 4096)
		n += c;
	COSY_END;
	return n;
}
