// -fcosy-suggest marks a loop with labels of its own: only jumps from outside of it are in the way.
// RUN: %cosycc -O2 -fcosy-suggest=suggest_labels.c:16 %s -Rcosy -c -o %t.o 2>&1 | FileCheck %s
// CHECK: suggest_labels.c:16:{{.*}}remark: region compiled
// RUN: not %cosycc -fcosy-suggest=suggest_labels.c:31 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=BACK %s
// BACK: suggest_labels.c:31:{{.*}}error: {{.*}}a label is in it, to which a goto outside of it jumps
// RUN: not %cosycc -fcosy-suggest=suggest_labels.c:48 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=ASM %s
// ASM: suggest_labels.c:48:{{.*}}error: {{.*}}a label is in it, to which a goto outside of it jumps
#include <unistd.h>

long retries(int fd, int turns)
{
	char c;
	long sum = 0;

	// The loop that is marked.
	for (int i = 0; i < turns; i++) {
retry:
		if (read(fd, &c, 1) < 0)
			goto retry;
		sum += c;
	}
	return sum;
}

long again(int fd, int turns)
{
	char c;
	long sum = 0;

	// A jump comes back into it.
	for (int i = 0; i < turns; i++) {
inside:
		if (read(fd, &c, 1) < 0)
			break;
		sum += c;
	}
	if (sum & 1)
		goto inside;
	return sum;
}

long assembled(int fd, int turns)
{
	long sum = 0;

	__asm__ goto("" : : : : inside);
	// Assembly jumps as well.
	for (int i = 0; i < turns; i++) {
inside:
		sum += getppid();
	}
	return sum + fd;
}
