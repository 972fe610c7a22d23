// A constant table of up to a page that a loop reads is kept in the shared buffer by libcosy; a larger
// one stays where it is.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

static const unsigned table[256] = {[1] = 2, [255] = 3};
static const unsigned large[2048] = {[1] = 2, [255] = 3};

unsigned f(const unsigned char *s, int n)
{
	unsigned sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum = (sum >> 8) ^ table[(sum ^ s[i]) & 255] ^ large[s[i] * 8];
	sum += getpid();
	COSY_END;
	return sum;
}
// CHECK: @cosy.kept.table = internal global ptr null
// CHECK-NOT: @cosy.kept.large
// CHECK: call ptr @__cosy_enter(
// CHECK: %[[PLACE:.*]] = call ptr @__cosy_table(ptr @cosy.kept.table, ptr @table, i64 1024)
// CHECK: store ptr %[[PLACE]], ptr %{{.*}}, align 8
// CHECK-NOT: call ptr @__cosy_table(
