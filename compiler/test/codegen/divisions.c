// Divisions are tested before they are made, but for those that cannot trap natively.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
// RUN: cosy dis %t.o | FileCheck --check-prefix=DIS %s
// RUN: rm -f %t.dump*
// RUN: %cosycc -O0 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck --check-prefix=WRITTEN %s
// RUN: %ir %s | FileCheck --check-prefix=TWIN %s
#include <cosy/cosy.h>
#include <unistd.h>

long proven(int a, unsigned count)
{
	long sum = 0;

	COSY_START;
	for (unsigned i = 1; i < count; i++)
		sum += count / i + a / 7 % 10;
	sum += getpid();
	COSY_END;
	return sum;
}
// CHECK: {{[us]}}div
// CHECK-NOT: call void @__cosy_call.65579.()
// CHECK: call i64 @__cosy_call.39.()

// At -O2 nobody makes the division whose result is not used; at -O0 the native twin also makes it.
long unused(int a, int b)
{
	long sum = 0;

	COSY_START;
	a /= b;
	sum += getpid();
	COSY_END;
	return sum;
}
// CHECK: define {{.*}}@cosy.main
// CHECK-NOT: call void @__cosy_call.65579.()
// CHECK: ret i64
// WRITTEN: call void @__cosy_call.65579.()
// TWIN: [[A:%.*]] = call i32 asm "", "=r,0"(i32 %a)
// TWIN-NEXT: [[B:%.*]] = call i32 asm "", "=r,0"(i32 %b)
// TWIN-NEXT: [[QUOTIENT:%.*]] = sdiv i32 [[A]], [[B]]
// TWIN-NEXT: call void asm sideeffect "", "r"(i32 [[QUOTIENT]])

long used(int a, int b)
{
	COSY_START;
	b = a / b + a % b + getpid();
	COSY_END;
	return b;
}
// CHECK: define {{.*}}@cosy.main
// CHECK: call void @__cosy_call.65579.()
// DIS: if w[[B:[0-9]]] == 0 goto [[ERROR:[0-9]+]]
// DIS: if w[[B]] != -1 goto
// DIS-NEXT: if w{{[0-9]}} == -2147483648 goto [[ERROR]]
// DIS-COUNT-1: s/= w[[B]]
// DIS: [[ERROR]] >* call {{.*}}divide_error
