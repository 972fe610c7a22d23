; Fields of the context that are loaded twice are loaded once, and what nobody uses goes.
; RUN: %stage=cosy-clean-up %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: %[[V:.*]] = load i64, ptr %{{[a-z0-9]+}}, align 8, !invariant.load !0
; CHECK-NOT: load
; CHECK-NOT: mul
; CHECK: add i64 %[[V]], %[[V]]
define i64 @cosy.main(ptr %0) {
  %at = getelementptr i8, ptr %0, i64 8
  %a = load i64, ptr %at, align 8, !invariant.load !0
  %again = getelementptr i8, ptr %0, i64 8
  %b = load i64, ptr %again, align 8, !invariant.load !0
  %unused = mul i64 %a, 3
  %sum = add i64 %a, %b
  ret i64 %sum
}
!0 = !{}
