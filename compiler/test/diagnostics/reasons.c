// Each of several reasons is told once, four at most.
// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s --implicit-check-not=warning:
#include <cosy/cosy.h>
#include <stdio.h>

#define TWICE(x) x, x

void f(int n)
{
	COSY_START;
	for (int i = 0; i < n; i++) {
		puts("a");
		TWICE(putchar(1));
		fflush(stdout);
		ungetc(1, stdin);
		rewind(stdout);
	}
	COSY_END;
}
// CHECK: reasons.c:12:3: warning:
// CHECK: reasons.c:13:3: warning:
// CHECK: reasons.c:14:3: warning:
// CHECK: reasons.c:15:3: warning:
// CHECK: 4 warnings generated
