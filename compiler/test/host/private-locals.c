// A local that only the region uses, and whose address nobody keeps, is in the compound's context,
// so the host needs no frame in the buffer. The compound of a loop's head has a copy of such a
// local. If the host uses the local as well, the copy is copied back at the end.
// RUN: %ir %s | FileCheck %s
// RUN: %cosycc -O2 -Xclang -mllvm -Xclang -cosy-dump=%t -c %s -o %t.o
// RUN: cat %t.*.extracted.ll | FileCheck %s --check-prefix=LOOP
#include <cosy/cosy.h>
#include <unistd.h>

char *kept;

// CHECK-LABEL: @only_inside(
// CHECK-NOT: __cosy_frame_enter
// CHECK: {{^}}}
long only_inside(int fd)
{
	char block[100];

	COSY_START;
	char *p = block;
	while (read(fd, p, 10) == 10)
		p = p == block + 90 ? block : p + 10;
	COSY_END;
	return 0;
}

// CHECK-LABEL: @comes_again(
// CHECK: __cosy_frame_enter(i64 112)
// CHECK: {{^}}}
long comes_again(int fd)
{
	char block[100];
	long sum = 0;

	for (int i = 0; i < 3; i++) {
		COSY_START;
		sum += read(fd, block + i, 1) + block[0];
		COSY_END;
	}
	return sum;
}

// CHECK-LABEL: @is_kept(
// CHECK: __cosy_frame_enter(i64 112)
// CHECK: {{^}}}
long is_kept(int fd)
{
	char block[100];
	long got;

	COSY_START;
	got = read(fd, block, 100);
	kept = block;
	COSY_END;
	return got;
}

// The host uses the local as well: it is copied in, and back.
// LOOP: @after{{.*}}.loop
// LOOP: %[[COPY:.*]] = alloca [100 x i8]
// LOOP: call void @llvm.memcpy{{.*}}(ptr {{.*}}%[[COPY]], ptr {{.*}}, i64 100
// LOOP: call void @llvm.memcpy{{.*}}(ptr {{.*}}, ptr {{.*}}%[[COPY]], i64 100
long after(int fd)
{
	char block[100];
	long sum = 0;

	block[0] = 1;
	COSY_START;
	while (read(fd, block, 1) == 1)
		sum += block[0];
	COSY_END;
	return sum + block[0];
}
