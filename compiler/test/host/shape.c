// The host's code counts, enters, stores inputs, runs, loads outputs and leaves; or it runs the
// twin, which is inlined.  A region that loses counts nothing.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

int f(int n)
{
	COSY_START;
	n += getpid() + getppid() + getuid() + getgid();
	n += getpid() + getppid() + getuid() + getgid();
	COSY_END;
	return n;
}
// CHECK: define {{.*}} @f(
// CHECK: %[[LEFT:.*]] = load atomic i64, ptr {{.*}} monotonic
// CHECK: icmp ule i64 %[[LEFT]], 2147483647
// CHECK: br i1 {{.*}}, label %[[COUNT:.*]], label %[[SETTLED:[^,]*]]
// CHECK: {{^}}[[NATIVE:cosy.native]]:
// CHECK: call i32 @getpid()
// CHECK: {{^}}[[COUNT]]:
// CHECK: sub i64 %[[LEFT]],
// CHECK: store atomic i64 {{.*}} monotonic
// CHECK: br label %[[NATIVE]]
// CHECK: {{^}}[[SETTLED]]:
// CHECK: icmp slt i64 %[[LEFT]], 0
// CHECK: br i1 {{.*}}, label %[[ASK:.*]], label %[[NATIVE]]
// CHECK: {{^}}[[ASK]]:
// CHECK: %[[CTX:.*]] = call ptr @__cosy_enter(ptr @cosy.region)
// CHECK: br i1 {{.*}}, label %[[FILL:[^,]*]], label %[[NATIVE]]
// CHECK: {{^}}[[FILL]]:
// CHECK: call ptr @__errno_location()
// CHECK: %[[EXIT:.*]] = call i64 @__cosy_run(ptr @cosy.region, ptr %[[CTX]])
// CHECK: icmp sge i64 %[[EXIT]], 0
// CHECK: call void @__cosy_leave(ptr %[[CTX]])
// CHECK: load i32
// CHECK: call void @__cosy_leave(ptr %[[CTX]])
// CHECK-NOT: define {{.*}}f.cosy

int loses(int n)
{
	COSY_START;
	n += getpid();
	COSY_END;
	return n;
}
// CHECK: define {{.*}} @loses(
// CHECK: %[[LEFT:.*]] = load atomic i64, ptr {{.*}} monotonic
// CHECK-NEXT: icmp slt i64 %[[LEFT]], 0
// CHECK-NEXT: br i1 {{.*}}, label %cosy.ask, label %cosy.native
// CHECK-NOT: store atomic i64
