; A short function of libc's that is no call gets a body, if it is libc's.
; RUN: %stage=cosy-link-runtime %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare i32 @atoi(ptr)
declare i32 @abs(ptr) ; not libc's type
declare i64 @strtol(ptr, ptr, i32) "cosy-foreign"

; CHECK: 1 cosy-link-runtime - Number of libc calls that were given bodies
; CHECK-LABEL: define i64 @cosy.main(
; CHECK: call i32 @__cosy_rt_atoi(
; CHECK: call i64 @strtol(
; CHECK: define internal {{.*}}@__cosy_rt_atoi(
define i64 @cosy.main(ptr %0) {
  %a = call i32 @atoi(ptr %0)
  %b = call i32 @abs(ptr %0)
  %c = call i64 @strtol(ptr %0, ptr null, i32 10)
  ret i64 %c
}
