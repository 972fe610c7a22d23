// Several inputs, objects among them, go with -o; the program runs.
// REQUIRES: links
// RUN: echo 'int other(void) { return 40; }' > %t.other.c
// RUN: echo 'int third(void) { return 2; }' > %t.third.c
// RUN: %cosycc -O2 -c %t.third.c -o %t.third.o
// RUN: %cosycc -O2 %s %t.other.c %t.third.o -o %t && %t | FileCheck %s
// RUN: env COSY_MODE=interp %t | FileCheck %s
// CHECK: sum 42
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int other(void);
int third(void);

int main(void)
{
	int sum = other(), add = third();

	COSY_START;
	if (getpid() > 0)
		sum += add;
	COSY_END;
	printf("sum %d\n", sum);
	return 0;
}
