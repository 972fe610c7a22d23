; libc's functions become calls by number, with errno where they can fail; a function that may be the program's own
; stays a call, and one on strings that LLVM knows does until the region is optimised.
; RUN: %stage=cosy-lower-calls %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare i64 @read(i32, ptr, i64)
declare i64 @__read_chk(i32, ptr, i64, i64)
declare i32 @getpid()
declare i64 @strlen(ptr)
declare ptr @rawmemchr(ptr, i32)
declare i32 @bind(i32, ptr, i32) "cosy-foreign"

; CHECK-DAG: 1 cosy-fortify - Number of checked functions that became plain ones
; CHECK-DAG: 1 cosy-lower-calls - Number of libc calls that became operations
; CHECK-DAG: 3 cosy-lower-calls - Number of libc calls that became system calls

; CHECK-LABEL: define i64 @cosy.main(
define i64 @cosy.main(ptr %0) {
  ret i64 0
}

; CHECK-LABEL: define i64 @fails(
; CHECK: %[[FD:.*]] = sext i32 %fd to i64
; CHECK: %[[R:.*]] = call i64 @__cosy_call.0.lpl(i64 %[[FD]], ptr %p, i64 8)
; CHECK: %cosy.failed = icmp ugt i64 %[[R]], -4096
; CHECK: %[[E:.*]] = sub i64 0, %[[R]]
; CHECK: trunc i64 %[[E]] to i32
; CHECK: phi i64 [ %[[R]], %{{.*}} ], [ -1, %{{.*}} ]
define i64 @fails(i32 %fd, ptr %p) {
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  ret i64 %n
}

; CHECK-LABEL: define i64 @checked(
; CHECK: icmp ugt i64 %count, 100
; CHECK: call i64 @__cosy_call.0.lpl(
define i64 @checked(i32 %fd, ptr %p, i64 %count) {
  %n = call i64 @__read_chk(i32 %fd, ptr %p, i64 %count, i64 100)
  ret i64 %n
}

; CHECK-LABEL: define i32 @never_fails(
; CHECK-NEXT: %[[R:.*]] = call i64 @__cosy_call.39.()
; CHECK-NEXT: %[[T:.*]] = trunc i64 %[[R]] to i32
; CHECK-NEXT: ret i32 %[[T]]
define i32 @never_fails() {
  %n = call i32 @getpid()
  ret i32 %n
}

; CHECK-LABEL: define ptr @memory(
; CHECK: call i64 @strlen(ptr %p)
; CHECK: call i64 @__cosy_call.{{[0-9]+}}.pl(ptr
define ptr @memory(ptr %p) {
  %n = call i64 @strlen(ptr %p)
  %from = getelementptr i8, ptr %p, i64 %n
  %at = call ptr @rawmemchr(ptr %from, i32 1)
  ret ptr %at
}

; CHECK-LABEL: define i32 @own(
; CHECK: call i32 @bind(
define i32 @own(i32 %fd, ptr %p) {
  %n = call i32 @bind(i32 %fd, ptr %p, i32 16)
  ret i32 %n
}
