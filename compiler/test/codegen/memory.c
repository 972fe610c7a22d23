// Small copies are loads and stores, larger ones operations; a loop that fills
// memory becomes one.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
#include <cosy/cosy.h>
#include <string.h>
#include <unistd.h>

void f(char *a, const char *b, long n)
{
	COSY_START;
	memcpy(a, b, 13);
	getpid();
	memcpy(a, b, 100);
	getuid();
	for (long i = 0; i < n; i++)
		a[i] = 7;
	getgid();
	memmove(a, b, n);
	COSY_END;
}
// CHECK: load i64
// CHECK: load i32
// CHECK: load i8
// CHECK: @__cosy_call.39.
// CHECK: call void @__cosy_call.65540.ppl(ptr {{.*}}, i64 100)
// CHECK: @__cosy_call.102.
// CHECK: call void @__cosy_call.65542.pll(
// CHECK: @__cosy_call.104.
// CHECK: call void @__cosy_call.65541.ppl(
