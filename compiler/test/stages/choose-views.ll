; A large read into a local of which few bytes are looked at becomes a view, and a discard follows the last
; look.  A small one, and one into memory that others may see, copies.
; RUN: %stage=cosy-choose-views %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare i64 @__cosy_call.0.lpl(i64, ptr, i64)

; CHECK-DAG: 1 cosy-choose-views - Number of reads that became views
; CHECK-DAG: 2 cosy-choose-views - Number of reads that stay copies
; CHECK-DAG: 1 cosy-choose-views - Number of loads and stores by way of a view
; CHECK-DAG: 1 cosy-discard - Number of discards after last uses

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: call i64 @__cosy_call.65558.lpl(i64 3, ptr %large, i64 4096)
; CHECK: %[[V:.*]] = call i64 @__cosy_call.65560.pl(ptr %large, i64 8)
; CHECK: call void @__cosy_call.65570.pl(ptr %large, i64 4096)
; CHECK: call i64 @__cosy_call.0.lpl(i64 3, ptr %small, i64 16)
; CHECK: call i64 @__cosy_call.0.lpl(i64 3, ptr %0, i64 4096)
define i64 @cosy.main(ptr %0) {
  %large = alloca [4096 x i8]
  %small = alloca [16 x i8]
  %a = call i64 @__cosy_call.0.lpl(i64 3, ptr %large, i64 4096)
  %v = load i64, ptr %large
  %b = call i64 @__cosy_call.0.lpl(i64 3, ptr %small, i64 16)
  %c = call i64 @__cosy_call.0.lpl(i64 3, ptr %0, i64 4096)
  ret i64 %v
}
