// Addresses of globals come from the context; a constant table that a loop reads
// is copied there.
// RUN: rm -f %t.dump*
// RUN: %cosycc -O2 -c %s -o %t.o %dump && cat %t.dump.*.lowered.ll | FileCheck %s
// RUN: %ir %s | FileCheck %s --check-prefix=HOST
#include <cosy/cosy.h>
#include <unistd.h>

static const unsigned char table[256] = { [3] = 7, [200] = 9 };
long counter;

void f(const unsigned char *s, int n)
{
	COSY_START;
	for (int i = 0; i < n; i++)
		counter += table[s[i]] + getpid();
	COSY_END;
}
// CHECK-NOT: @counter
// CHECK-NOT: @table
// CHECK: define {{.*}}@cosy.main
// HOST: store ptr @counter
// HOST: call void @llvm.memcpy{{.*}}(ptr {{.*}}, ptr {{.*}}@table, i64 256
