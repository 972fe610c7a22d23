; A call by pointer becomes calls by name of the functions that reach it: from a constant table, from stores
; to a variable of the file, from the arguments of a function's calls.  Where others may reach it, the functions
; of its type whose address is taken are tried, if they are few.  The last call is by pointer still.
; RUN: %stage=cosy-leave %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)

; CHECK: 4 cosy-pointer-calls - Number of calls by pointer promoted
; CHECK: 6 cosy-pointer-calls - Number of functions that they call

@table = internal constant [2 x ptr] [ptr @one, ptr @two]
@variable = internal global ptr @one
@shared = global ptr @alone

define internal i64 @one(i64 %n) {
  ret i64 1
}
define internal i64 @two(i64 %n) {
  ret i64 2
}
define internal i64 @three(i64 %n) {
  ret i64 3
}
define internal i64 @alone(i64 %n, i64 %m) {
  ret i64 4
}
define void @set() {
  store ptr @three, ptr @variable
  ret void
}

; CHECK-LABEL: define internal i64 @given(
; CHECK: icmp eq ptr %f, @two
; CHECK-NEXT: br i1
; CHECK-NOT: icmp
; CHECK: call i64 %f(i64 %n)
define internal i64 @given(ptr %f, i64 %n) {
  %r = call i64 %f(i64 %n)
  ret i64 %r
}

; CHECK-LABEL: define internal void @calls.cosy(
; CHECK: icmp eq ptr %{{.*}}, @one
; CHECK: icmp eq ptr %{{.*}}, @two
; CHECK-NOT: @three
; CHECK: icmp eq ptr %value, @one
; CHECK: %by.index = call i64 %entry.of(i64 %n)
; CHECK: icmp eq ptr %value, @three
; CHECK: icmp eq ptr %other, @alone
; CHECK: %by.variable = call i64 %value(
; CHECK: call i64 @alone(
; CHECK: %by.guess = call i64 %other(
; CHECK: ret void
define i64 @calls(i64 %n) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %at = getelementptr [2 x ptr], ptr @table, i64 0, i64 %n
  %entry.of = load ptr, ptr %at
  %by.index = call i64 %entry.of(i64 %n)
  %value = load ptr, ptr @variable
  %by.variable = call i64 %value(i64 %by.index)
  %by.argument = call i64 @given(ptr @two, i64 %by.variable)
  %other = load ptr, ptr @shared
  %by.guess = call i64 %other(i64 %by.argument, i64 %n)
  call void @__cosy_region_end(ptr %token)
  ret i64 %by.guess
}
