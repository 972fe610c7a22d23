; Calls that were planned for it are inlined and -O2 runs, but nothing is unrolled or made a vector.
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
