// Without debug information the warning still tells the region's line.
// RUN: %cosycc -g0 -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <stdio.h>

void f(void)
{
	COSY_START;
	puts("x");
	COSY_END;
}
// CHECK: warning: the region at line 8 stays native: a call of 'puts'
