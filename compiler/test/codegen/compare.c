// memcmp of few bytes for equality needs no operation; of more, or for order, it
// does.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
#include <cosy/cosy.h>
#include <string.h>
#include <unistd.h>

int f(const char *p, const char *q)
{
	int r;

	COSY_START;
	r = memcmp(p, q, 11) == 0;
	r += getpid();
	r += memcmp(p, q, 4) < 0;
	r += memcmp(p, q, 40) == 0;
	COSY_END;
	return r;
}
// CHECK: define {{.*}}@cosy.main
// CHECK-NOT: @__cosy_call.65543
// CHECK: load i64
// CHECK: load i16
// CHECK: load i8
// CHECK: @__cosy_call.39.()
// CHECK: @__cosy_call.65543.ppl(ptr {{.*}}, ptr {{.*}}, i64 4)
// CHECK: @__cosy_call.65543.ppl(ptr {{.*}}, ptr {{.*}}, i64 40)
