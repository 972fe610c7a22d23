// A failed call stores errno through the context and becomes -1; getpid cannot
// fail and is not tested.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

int f(int fd)
{
	int r;

	COSY_START;
	r = close(fd) + getpid();
	COSY_END;
	return r;
}
// CHECK: define {{.*}}@cosy.main(ptr
// CHECK: %[[R:[0-9]+]] = {{.*}}call i64 @__cosy_call.3.l
// CHECK: icmp ugt i64 %[[R]], -4096
// CHECK: %[[LOW:[0-9]+]] = trunc i64 %[[R]] to i32
// CHECK: %[[ERRNO:[0-9]+]] = sub nsw i32 0, %[[LOW]]
// CHECK: store i32 %[[ERRNO]], ptr
// CHECK: phi i64 [ %[[R]], {{.*}} [ -1,
// CHECK: @__cosy_call.39.()
// CHECK-NOT: icmp ugt
