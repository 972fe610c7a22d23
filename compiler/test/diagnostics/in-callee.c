// In a function that the region calls, the position is there, and the text says
// how it is reached.
// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <stdlib.h>

static char *deeper(int n)
{
	return aligned_alloc(64, n);
}

static char *make(int n)
{
	return n > 3 ? deeper(n) : 0;
}

char *f(int n)
{
	char *p = 0;

	COSY_START;
	p = make(n);
	COSY_END;
	return p;
}
// CHECK: in-callee.c:9:9: warning: the region at line 21 stays native: a call of 'aligned_alloc': libc's heap is in user space, reached from line 22 [-Wcosy]

// Its targets are blocks of the host's, which LLVM would take for none at all.
static int jump(int which)
{
	void *const places[] = {&&first, &&second};

	goto *places[which];
first:
	return 1;
second:
	return 2;
}

int g(int which)
{
	int got;

	COSY_START;
	got = jump(which);
	COSY_END;
	return got;
}
// CHECK: in-callee.c:{{[0-9:]+}} warning: the region at line 44 stays native: a computed goto
