; A structure passed by value becomes a copy of the caller's.
; RUN: %stage=cosy-expand-by-value %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK: 1 cosy-pack-signatures - Number of structures passed by value

; CHECK: define internal i64 @sum(ptr align 8 %pair)
define internal i64 @sum(ptr byval({ i64, i64 }) align 8 %pair) {
  %n = load i64, ptr %pair
  ret i64 %n
}

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: %[[COPY:.*]] = alloca { i64, i64 }
; CHECK: call void @llvm.memcpy.{{.*}}(ptr align 8 %[[COPY]], ptr align 8 %0, i64 16, i1 false)
; CHECK: call i64 @sum(ptr align 8 %[[COPY]])
define i64 @cosy.main(ptr %0) {
  %n = call i64 @sum(ptr byval({ i64, i64 }) align 8 %0)
  ret i64 %n
}
