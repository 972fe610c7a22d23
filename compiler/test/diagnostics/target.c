// Compounds are for x86-64 Linux: elsewhere every region stays native.
// RUN: %cosycc --target=aarch64-linux-gnu -ffreestanding -DPID -S %s -o - 2>&1 | FileCheck %s
// CHECK: warning: {{.*}} the target is aarch64{{.*}}, and compounds are for x86-64 Linux
// CHECK-NOT: __cosy_
#define COSY_ONLY_MARKS
#include <cosy/cosy.h>

int getpid(void);

int f(void)
{
	int n;

	COSY_START;
	n = getpid();
	COSY_END;
	return n;
}
