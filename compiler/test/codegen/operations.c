// String functions are operations, and loop-invariant ones leave the loop.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
#include <cosy/cosy.h>
#include <string.h>
#include <unistd.h>

long f(const char *s, int n)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += strlen(s) * i + (strchr(s, i) != 0);
	sum += getpid();
	COSY_END;
	return sum;
}
// CHECK: call i64 @__cosy_call.65547.p
// CHECK: br label %[[LOOP:[0-9]+]]
// CHECK: {{^}}[[LOOP]]:
// CHECK-NOT: @__cosy_call.65547.p
// CHECK: call i64 @__cosy_call.65551.pl
