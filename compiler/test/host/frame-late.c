// The frame is entered where the locals are first used, and only when the region
// may run in the kernel: a path without the region does neither.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

unsigned char cache[256];

long lookup(int fd, int x)
{
	char buf[256];
	long n;

	if (x)
		return cache[x & 255];
	COSY_START;
	n = read(fd, buf, sizeof(buf));
	COSY_END;
	return n + buf[3];
}
// CHECK-LABEL: @lookup(
// CHECK-NOT: __cosy_frame_enter
// CHECK: br i1 {{.*}}, label %[[OTHER:.*]], label %[[REGION:[^,]*]]
// CHECK: {{^}}[[OTHER]]:
// CHECK-NOT: __cosy_frame
// CHECK: {{^}}[[REGION]]:
// CHECK: %[[LEFT:[0-9]+]] = load atomic i64, ptr {{.*}}@cosy.region
// CHECK: icmp slt i64 %[[LEFT]], 0
// CHECK: call noalias align 16 ptr @__cosy_frame_enter(i64 256)
