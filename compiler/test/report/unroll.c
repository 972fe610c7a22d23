// -Rcosy reports loops that are unrolled, and loops that process 8 bytes at once.
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
// CHECK: unroll.c:[[#@LINE-5]]:3: remark: loop unrolled 8 times, with one test for its loads and stores [

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
// CHECK: unroll.c:[[#@LINE-5]]:3: remark: loop processes 8 bytes at once [
// CHECK: unroll.c:[[#@LINE-6]]:3: remark: loop unrolled 4 times

// CHECK-NOT: unrolled
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
