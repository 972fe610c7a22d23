; Each iteration's word is a constant away from the first one, which is at a multiple of 32 words.
; RUN: %stage=cosy-unroll-loops %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: loop:
; CHECK-NOT: or disjoint
; CHECK: getelementptr i8, ptr %[[FIRST:.*]], i64 8
; CHECK: getelementptr i8, ptr %[[FIRST]], i64 248
; CHECK-NOT: or disjoint
; CHECK: ret i64
define i64 @cosy.main(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %v = load i64, ptr %at
  %more = add i64 %sum, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 512
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}
