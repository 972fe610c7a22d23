// -Rcosy tells what became of each region.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O2 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SILENT
// RUN: %cosycc -O2 -Rcosy -Rpass=inline -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BOTH
// SILENT-NOT: remark
// BOTH-DAG: remark: region compiled
// BOTH-DAG: remark: {{.*}}inlined into
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static long factorial(long n)
{
	return n < 2 ? 1 : n * factorial(n - 1) + factorial(n - 2);
}

static inline int helper(int n)
{
	return n + 1;
}

int global;

long f(long n, int fd)
{
	long r = 0;

	COSY_START;
	r = factorial(n) + getpid() + close(fd);
	global++;
	COSY_END;
	return helper(r);
}
// CHECK: compiled.c:28:2: remark: region compiled: {{[0-9]+}} instructions in 2 functions, 2 calls, 2 inputs, 1 output, 1 address, {{[0-9]+}} bytes of context

void g(void)
{
	COSY_START;
	puts("x");
	COSY_END;
}
// CHECK: compiled.c:39:2: warning: the region at line 38 stays native: a call of 'puts'
