// Locals that a region touches get their memory from the shared buffer, for as
// long as the function runs; others stay where they are.
// RUN: %ir %s | FileCheck %s
// RUN: %ir -fsanitize=address %s | FileCheck %s --check-prefix=ONSTACK
// RUN: %ir -Xclang -mllvm -Xclang -cosy-no-move-locals %s | FileCheck %s --check-prefix=ONSTACK
// ONSTACK-NOT: __cosy_frame_enter
#include <cosy/cosy.h>
#include <sys/stat.h>
#include <unistd.h>

int use(void *);

int f(int fd, int n)
{
	char buf[4096];
	int other[10];
	struct stat st;

	use(other);
	use(buf);
	if (n > 5)
		return -1;
	COSY_START;
	read(fd, buf, sizeof(buf));
	fstat(fd, &st);
	COSY_END;
	return st.st_size + use(buf) + other[3];
}
// CHECK-LABEL: @f(
// CHECK: %[[STACK:.*]] = alloca [{{[0-9]+}} x i8], align 16
// CHECK: alloca [10 x i32]
// CHECK: %[[FRAME:.*]] = call noalias align 16 ptr @__cosy_frame_enter(i64
// CHECK: %[[ENTERED:.*]] = phi ptr [ %[[FRAME]], %{{.*}} ], [ null,
// CHECK: select i1 {{.*}}, ptr %[[ENTERED]], ptr %[[STACK]]
// CHECK: call void @__cosy_frame_leave(ptr
// CHECK: ret i32
// CHECK-NOT: alloca [4096
