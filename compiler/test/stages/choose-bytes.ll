; A read of one byte into a local of the region's becomes readc, whose result is the byte.  A byte that others
; may see is read as it is written.
; RUN: %stage=cosy-choose-bytes %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare i64 @__cosy_call.0.lpl(i64, ptr, i64)

; CHECK: 1 cosy-choose-bytes - Number of reads of a byte that became readc

; CHECK-LABEL: define i64 @cosy.main(
; CHECK-NOT: alloca
; CHECK: %[[R:.*]] = call i64 @__cosy_call.65562.l(i64 3)
; CHECK: icmp sge i64 %[[R]], 0
; CHECK: trunc i64 %[[R]] to i8
; CHECK: icmp eq i64 %[[R]], -61
; CHECK: call i64 @__cosy_call.0.lpl(i64 4, ptr %0, i64 1)
define i64 @cosy.main(ptr %0) {
  %byte = alloca i8
  %n = call i64 @__cosy_call.0.lpl(i64 3, ptr %byte, i64 1)
  %c = load i8, ptr %byte
  %wide = zext i8 %c to i64
  %sum = add i64 %n, %wide
  %other = call i64 @__cosy_call.0.lpl(i64 4, ptr %0, i64 1)
  %all = add i64 %sum, %other
  ret i64 %all
}
