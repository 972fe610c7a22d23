// A call that does not return is the host's, by an exit of its own.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <stdlib.h>
#include <unistd.h>

void f(int n)
{
	COSY_START;
	if (getpid() == n)
		exit(n + 1);
	COSY_END;
}
// CHECK: switch i64 %{{.*}}, label %{{.*}} [
// CHECK-NEXT: i64 65536, label %[[ESCAPE:.*]]
// CHECK: {{^}}[[ESCAPE]]:
// CHECK: %[[STATUS:.*]] = load i32
// CHECK: call void @exit(i32 {{.*}}%[[STATUS]])
// CHECK-NEXT: unreachable
