; The code between the marks becomes a function, with its inputs by value and its outputs by address.
; A region that cannot be moved stays where it is, without its marks.
; RUN: %stage=cosy-extract %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i64 @read(i32, ptr, i64)
declare i32 @setjmp(ptr) returns_twice

; CHECK: in function jumped {{.*}}: a call that may return twice (setjmp, vfork)
; CHECK: 1 cosy-extract - Number of regions that became functions
; CHECK: 1 cosy-extract - Number of regions that cannot
; CHECK: 2 cosy-markers - Number of regions found

; CHECK-LABEL: define i64 @f(
; CHECK-NOT: __cosy_region_
; CHECK: call void @f.cosy(i32 %fd, ptr %p, ptr %[[OUT:.*]])
; CHECK: load i64, ptr %[[OUT]]
define i64 @f(i32 %fd, ptr %p) {
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  call void @__cosy_region_end(ptr %token)
  ret i64 %n
}

; CHECK-LABEL: define i32 @jumped(
; CHECK-NOT: __cosy_region_
; CHECK: call i32 @setjmp(
define i32 @jumped(ptr %p) {
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 22)
  store i32 %start, ptr %token
  %n = call i32 @setjmp(ptr %p)
  call void @__cosy_region_end(ptr %token)
  ret i32 %n
}

; CHECK-LABEL: define internal void @f.cosy(
; CHECK: call i64 @read(
; CHECK: attributes {{.*}} "cosy-region"
