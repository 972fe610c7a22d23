// The warning is at the call, with the source line and a caret.
// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s --strict-whitespace
#include <cosy/cosy.h>
#include <stdio.h>

void f(int n)
{
	COSY_START;
	if (n)
		printf("%d\n", n);
	COSY_END;
}
// CHECK: printf.c:10:3: warning: the region at line 8 stays native: a call of 'printf': libc's streams are in user space [-Wcosy]
// CHECK-NEXT:   10 |                 printf("%d\n", n);
// CHECK-NEXT:      |                 ^
