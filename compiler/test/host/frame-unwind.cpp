// An exception that passes through the function releases its frame.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

int use(void *);

int f(int fd) {
  char Buf[1000];
  COSY_START;
  read(fd, Buf, sizeof(Buf));
  COSY_END;
  return use(Buf);
}
// CHECK: call noalias align 16 ptr @__cosy_frame_enter
// CHECK: invoke {{.*}} @_Z3usePv(
// CHECK-NEXT: unwind label %[[UNWIND:[^,]*]]
// CHECK: {{^}}[[UNWIND]]:
// CHECK: landingpad
// CHECK: call void @__cosy_frame_leave
// CHECK: resume
