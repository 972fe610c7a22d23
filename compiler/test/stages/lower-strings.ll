; Functions on strings that LLVM has left become operations, small comparisons for equality loads; one that may be
; the program's own stays a call.
; RUN: %stage=cosy-lower-strings %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare i64 @strlen(ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare ptr @strchr(ptr, i32) "cosy-foreign"

; CHECK-DAG: 1 cosy-lower-calls - Number of memcmp calls that became loads
; CHECK-DAG: 1 cosy-lower-calls - Number of libc calls that became operations

; CHECK-LABEL: define i64 @cosy.main(
define i64 @cosy.main(ptr %0) {
  ret i64 0
}

; CHECK-LABEL: define i1 @memory(
; CHECK: call i64 @__cosy_call.65547.p(ptr %p)
; CHECK-COUNT-2: load i64, ptr %{{.*}}, align 1
; CHECK: xor i64
define i1 @memory(ptr %p, ptr %q) {
  %n = call i64 @strlen(ptr %p)
  %d = call i32 @memcmp(ptr %p, ptr %q, i64 8)
  %same = icmp eq i32 %d, 0
  ret i1 %same
}

; CHECK-LABEL: define ptr @own(
; CHECK: call ptr @strchr(
define ptr @own(ptr %p) {
  %at = call ptr @strchr(ptr %p, i32 46)
  ret ptr %at
}
