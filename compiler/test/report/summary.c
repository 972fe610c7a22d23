// -Rcosy=summary prints each region in one line, in the order of its stage: what cannot be compiled comes first.
// RUN: %cosycc -Wno-cosy -Rcosy=summary -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -Wno-cosy -Rcosy=summary -fcosy-force -c %s -o %t.o 2>&1 | FileCheck --check-prefix=FORCE %s
// RUN: %cosycc -Wno-cosy -Rcosy=summary -Rno-cosy -c %s -o %t.o 2>&1 | FileCheck --allow-empty --check-prefix=NONE %s
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int counts(int n)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += getpid() > i;
	COSY_END;
	return sum;
}

void prints(int n)
{
	COSY_START;
	for (int i = 0; i < n; i++)
		printf("%d\n", i);
	COSY_END;
}

int once(void)
{
	int pid;

	COSY_START;
	pid = getpid();
	COSY_END;
	return pid;
}
// CHECK: summary.c: 3 regions, 1 in the kernel, 2 native
// CHECK-NEXT: {{^  .*}}summary.c:22: native: a call of 'printf': libc's streams are in user space (line 24)
// CHECK-NEXT: {{^  .*}}summary.c:13: in the kernel: {{[0-9]+}} instructions
// CHECK-NEXT: {{^  .*}}summary.c:32: native: it is expected to lose in the kernel
// FORCE: summary.c: 3 regions, 2 in the kernel, 1 native
// NONE-NOT: summary.c
