// -Rcosy reports reads of one byte into a byte that is the region's own.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O0 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

long lines(int fd)
{
	char c;
	long n = 0;

	COSY_START;
	while (read(fd, &c, 1) == 1)
		n += c == '\n';
	COSY_END;
	return n;
}
// CHECK: bytes.c:[[#@LINE-5]]:9: remark: read of a byte into a register (readc) [

long words(int fd, char *c)
{
	long n = 0;

	COSY_START;
	while (read(fd, c, 1) == 1)
		n += *c == ' ';
	COSY_END;
	return n;
}
// CHECK: bytes.c:[[#@LINE-5]]:9: remark: read copies: the buffer is the caller's

long handed_on(int in, int out)
{
	char c;
	long n = 0;

	COSY_START;
	while (read(in, &c, 1) == 1)
		n += write(out, &c, 1);
	COSY_END;
	return n;
}
// CHECK: bytes.c:[[#@LINE-5]]:9: remark: read copies: too few bytes for a view to pay
