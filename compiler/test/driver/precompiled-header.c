// RUN: %cosycc -x c-header %s -o %t.pch
// RUN: %cosycc -include-pch %t.pch -c %s -o %t.o -Rcosy 2>&1 | FileCheck %s
// CHECK: region compiled
#ifndef ONCE
#define ONCE
#include <cosy/cosy.h>
#include <unistd.h>
#else
int f(void)
{
	int n;

	COSY_START;
	n = getpid();
	COSY_END;
	return n;
}
#endif
