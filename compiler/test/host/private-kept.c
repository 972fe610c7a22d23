// A system call may remember an address, as ioctl does for some devices: the local stays where it is.
// RUN: %cosycc -O2 -Xclang -mllvm -Xclang -cosy-dump=%t -c %s -o %t.o
// RUN: cat %t.*.extracted.ll | FileCheck %s
#include <cosy/cosy.h>
#include <sys/ioctl.h>
#include <unistd.h>

// CHECK: define {{.*}}@registered.cosy.loop(
// CHECK-NOT: call void @llvm.memcpy
// CHECK: {{^}}}
long registered(int fd)
{
	char block[100];
	long sum = 0;

	block[0] = 1;
	ioctl(fd, 17, block);
	COSY_START;
	while (read(fd, block, 1) == 1)
		sum += block[0];
	COSY_END;
	return sum + block[0];
}
