; A function that calls itself gets a copy for the region's twin, which leaves at its entry for one
; call of the function; its own calls go to the copy.  A function that does not is called as it is.
; RUN: %stage=cosy-enter-recursion %s 2>&1 | FileCheck %s
; CHECK: 1 cosy-recursion - Number of functions with a way in at their entry
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i32 @close(i32)

; CHECK-LABEL: define i64 @f(
; CHECK: call void @f.cosy.twin(
define i64 @f(i32 %fd) {
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @below(i32 %fd)
  %one = call i64 @once(i32 %fd)
  %sum = add i64 %n, %one
  call void @__cosy_region_end(ptr %token)
  ret i64 %sum
}

; CHECK-LABEL: define internal i64 @once(
define internal i64 @once(i32 %fd) noinline {
  %r = call i32 @close(i32 %fd)
  %n = sext i32 %r to i64
  ret i64 %n
}

; The function itself stays as it is: calls from elsewhere count nothing.
; CHECK-LABEL: define internal i64 @below(
; CHECK-NOT: poison
; CHECK: call i64 @below(
define internal i64 @below(i32 %fd) noinline {
entry:
  %r = call i32 @close(i32 %fd)
  %more = icmp eq i32 %r, 0
  br i1 %more, label %deeper, label %end
deeper:
  %next = add i32 %fd, 1
  %n = call i64 @below(i32 %next)
  br label %end
end:
  %sum = phi i64 [ 0, %entry ], [ %n, %deeper ]
  ret i64 %sum
}

; CHECK-LABEL: define internal i64 @below.twin(
; CHECK: %[[OUT:.*]] = alloca i64
; CHECK: br i1 poison, label %[[LEAVE:.*]], label
; CHECK: [[LEAVE]]:
; CHECK-NEXT: call void @below.entry(i32 %fd, ptr %[[OUT]])
; CHECK-NEXT: %[[N:.*]] = load i64, ptr %[[OUT]]
; CHECK-NEXT: ret i64 %[[N]]
; CHECK-NOT: call i64 @below(
; CHECK: call i64 @below.twin(

; CHECK-LABEL: define internal void @f.cosy.twin(
; CHECK: call i64 @below.twin(
; CHECK: call i64 @once(

; CHECK-LABEL: define internal void @below.entry(
; CHECK: call i64 @below(
; CHECK: store i64
