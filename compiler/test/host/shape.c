// The host's code: enter, fill in, run, take out, leave; or the twin, which is
// plain code in place.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

int f(int n)
{
	COSY_START;
	n += getpid();
	COSY_END;
	return n;
}
// CHECK: define {{.*}} @f(
// CHECK: %[[CTX:.*]] = call ptr @__cosy_enter(ptr @cosy.region)
// CHECK: br i1 {{.*}}, label %[[FILL:.*]], label %[[NATIVE:[^,]*]]
// CHECK: {{^}}[[NATIVE]]:
// CHECK: call i32 @getpid()
// CHECK: {{^}}[[FILL]]:
// CHECK: call ptr @__errno_location()
// CHECK: %[[EXIT:.*]] = call i64 @__cosy_run(ptr @cosy.region, ptr %[[CTX]])
// CHECK: icmp sge i64 %[[EXIT]], 0
// CHECK: call void @__cosy_leave(ptr %[[CTX]])
// CHECK: load i32
// CHECK: call void @__cosy_leave(ptr %[[CTX]])
// CHECK-NOT: define {{.*}}f.cosy
