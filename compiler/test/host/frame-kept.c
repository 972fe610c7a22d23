// A local stays where it is in a function with setjmp, or if it is too large.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <setjmp.h>
#include <unistd.h>

int use(void *);
jmp_buf env;

int jumps(int fd)
{
	char buf[100];

	if (setjmp(env))
		return use(buf);
	COSY_START;
	read(fd, buf, sizeof(buf));
	COSY_END;
	return use(buf);
}

int large(int fd)
{
	char buf[200000];

	COSY_START;
	read(fd, buf, sizeof(buf));
	COSY_END;
	return use(buf);
}
// CHECK-NOT: call {{.*}}@__cosy_frame_enter
// CHECK: define {{.*}} @jumps
// CHECK-NOT: call {{.*}}@__cosy_frame_enter
// CHECK: define {{.*}} @large
// CHECK-NOT: call {{.*}}@__cosy_frame_enter
