; Calls that were planned for it are inlined and -O2 runs, but nothing is unrolled or made a vector.  LLVM makes of
; functions on strings what it makes of them natively, except of those that may be the program's own.
; RUN: %stage=cosy-optimize %s 2>&1 | FileCheck %s --implicit-check-not='<2 x' --implicit-check-not='<4 x'
target triple = "bpfel"

define internal i64 @helper(i64 %n) alwaysinline {
  %m = mul i64 %n, 3
  ret i64 %m
}

; CHECK-LABEL: define {{.*}}i64 @cosy.main(
; CHECK-NOT: @helper
; CHECK: mul i64 %{{.*}}, 3
; CHECK-NOT: mul
; CHECK: ret i64
define i64 @cosy.main(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %v = load i64, ptr %at
  %m = call i64 @helper(i64 %v)
  %more = add i64 %sum, %m
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, 64
  br i1 %again, label %loop, label %end
end:
  ret i64 %more
}

@text = available_externally constant [6 x i8] c"hello\00"

declare i64 @strlen(ptr)
declare ptr @strcpy(ptr, ptr)
declare ptr @strchr(ptr, i32) "cosy-foreign"

; CHECK-LABEL: define {{.*}}i64 @copied(
; CHECK: llvm.memcpy{{.*}}, i64 6,
; CHECK: ret i64 5
define i64 @copied(ptr %p) {
  %d = call ptr @strcpy(ptr %p, ptr @text)
  %n = call i64 @strlen(ptr @text)
  ret i64 %n
}

; CHECK-LABEL: define {{.*}}ptr @own(
; CHECK: call ptr @strchr(ptr {{.*}}@text, i32 {{.*}}101)
define ptr @own() {
  %at = call ptr @strchr(ptr @text, i32 101)
  ret ptr %at
}
