// snprintf of a constant format is one operation on pieces; text between conversions is in them, or, if it is long,
// copied from the format.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.extracted.ll %t.dump.*.optimized.ll | FileCheck %s
// RUN: %cosycc -O2 -D_FORTIFY_SOURCE=2 -c %s -o %t.o %dump
// RUN: %cosycc -O2 -DFLOAT -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=FLOAT
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

long f(const char *dir, const char *name, int n)
{
	char path[100];
	long sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++) {
		sum += snprintf(path, sizeof(path), "%s/%s", dir, name);
		sum += access(path, 0);
	}
	COSY_END;
	return sum;
}
// CHECK: define i64 @cosy.main
// CHECK: call i32 (ptr, i64, ptr, ...) @snprintf(
// CHECK: define i64 @cosy.main
// A string, one byte of text, a string.
// CHECK-DAG: store i64 1, ptr
// CHECK-DAG: store i64 4294967296, ptr
// CHECK-DAG: store i64 47, ptr
// CHECK: call i64 @__cosy_call.65580.plpl(ptr {{[^,]*}}, i64 100, ptr {{[^,]*}}, i64 3)

#ifdef FLOAT
void g(double d, const char *format)
{
	char text[100];

	COSY_START;
	snprintf(text, sizeof(text), "%f", d);
	access(text, 0);
	COSY_END;
	COSY_START;
	snprintf(text, sizeof(text), format, 1);
	access(text, 0);
	COSY_END;
}
// FLOAT: formats.c:39:2: warning: the region at line 38 stays native: floating-point
// FLOAT: formats.c:43:2: warning: the region at line 42 stays native: a call of 'snprintf': a compound formats integers, characters and strings by a constant format only
#endif
