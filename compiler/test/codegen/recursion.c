// Recursive functions are called; their locals are on the software stack, other
// functions' in the context.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

static int walk(int n)
{
	int a[10];

	if (n == 0)
		return read(0, a, sizeof(a));
	return walk(n - 1) + read(n, a, sizeof(a)) + a[n % 10];
}

int f(int n)
{
	int b[10], r;

	COSY_START;
	r = walk(n);
	r += read(0, b, sizeof(b)) + b[r % 10];
	COSY_END;
	return r;
}
// CHECK: define {{.*}}@cosy.main
// CHECK-NOT: alloca
// CHECK: call {{.*}} @walk
// CHECK: define internal {{.*}} @walk
// CHECK: call i64 @__cosy_call.65539.l(i64 48)
// CHECK-NOT: alloca
