; Locals that a region gets move into the shared buffer, which each return gives back; others stay.
; RUN: %stage=cosy-move-locals %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; CHECK-DAG: 1 cosy-move-locals - Number of functions with a frame in the buffer
; CHECK-DAG: 1 cosy-move-locals - Number of locals moved there

; CHECK-LABEL: define i64 @f(
; CHECK: %cosy.stack = alloca [4096 x i8]
; CHECK: %own = alloca i64
; CHECK: %cosy.frame = call noalias align 16 ptr @__cosy_frame_enter(i64 4096)
; CHECK: %cosy.locals = select i1 %{{.*}}, ptr %cosy.frame, ptr %cosy.stack
; CHECK: call void @region(ptr %buffer, i64 1)
; CHECK: call void @__cosy_frame_leave(ptr %cosy.frame)
; CHECK: ret i64
define i64 @f() nounwind {
  %buffer = alloca [4096 x i8]
  %own = alloca i64
  store volatile i64 1, ptr %own
  call void @region(ptr %buffer, i64 1)
  %n = load i64, ptr %buffer
  ret i64 %n
}

define internal void @region(ptr %p, i64 %n) nounwind "cosy-region" {
  store i64 %n, ptr %p
  ret void
}
