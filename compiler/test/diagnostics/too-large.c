// A compound has a largest size, which the reason tells.
// RUN: %cosycc -O1 -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

#define TEN(x) x x x x x x x x x x

int f(int n)
{
	COSY_START;
	TEN(TEN(TEN(n = n * 31 + close(n); n ^= dup(n) >> 3;)))
	COSY_END;
	return n;
}
// CHECK: too-large.c:10:2: warning: the region at line 10 stays native: it is too large: {{[0-9]+}} instructions, and a compound has at most 16384
