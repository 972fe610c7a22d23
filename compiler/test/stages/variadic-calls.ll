; A call of a variadic function that formats its arguments into memory gets a callee with as many arguments.
; Other functions stay as they are: one that hands the list on, one that uses a list twice, and a call whose
; format no operation can do.
; RUN: %stage=cosy-leave %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
declare i32 @vsnprintf(ptr, i64, ptr, ptr)
declare void @other(ptr)

; CHECK: 2 cosy-variadic-calls - Number of calls with a callee of fixed arguments

@line = internal global [80 x i8] zeroinitializer
@path = internal constant [6 x i8] c"%s/%d\00"
@float = internal constant [3 x i8] c"%f\00"

define internal i32 @note(ptr %format, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %n = call i32 @vsnprintf(ptr @line, i64 80, ptr %format, ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  ret i32 %n
}

define internal void @hands_on(ptr %format, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  call void @other(ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  ret void
}

define internal i32 @twice(ptr %format, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %n = call i32 @vsnprintf(ptr @line, i64 80, ptr %format, ptr %list)
  %m = call i32 @vsnprintf(ptr @line, i64 80, ptr %format, ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  ret i32 %m
}

; CHECK-LABEL: define i64 @calls(
; CHECK: call void @calls.cosy()
; CHECK: call i32 (ptr, ...) @note(ptr @float, double 1.000000e+00)
; CHECK: call void (ptr, ...) @hands_on(ptr @path, ptr @line, i32 1)
; CHECK: call i32 (ptr, ...) @twice(ptr @path, ptr @line, i32 2)
; CHECK: ret i64
define i64 @calls(i32 %n) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %a = call i32 (ptr, ...) @note(ptr @path, ptr @line, i32 7)
  %b = call i32 (ptr, ...) @note(ptr @path, ptr @path, i32 %a)
  %c = call i32 (ptr, ...) @note(ptr @float, double 1.0)
  call void (ptr, ...) @hands_on(ptr @path, ptr @line, i32 1)
  %d = call i32 (ptr, ...) @twice(ptr @path, ptr @line, i32 2)
  call void @__cosy_region_end(ptr %token)
  ret i64 0
}

; CHECK-LABEL: define internal i32 @note.given(ptr %format, ptr %0, i32 %1)
; CHECK-NOT: va_start
; CHECK: call i32 (ptr, i64, ptr, ...) @snprintf(ptr @line, i64 80, ptr @path, ptr %0, i32 %1)
; CHECK-NOT: va_end
; CHECK: ret i32

; CHECK-LABEL: define internal void @calls.cosy(
; CHECK: call i32 @note.given(ptr @path, ptr @line, i32 7)
; CHECK: call i32 @note.given.{{[0-9]+}}(ptr @path, ptr @path, i32 %
; CHECK-NOT: call
; CHECK: ret void
