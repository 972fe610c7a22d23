; A region's module has its inputs from the context, outputs into it; the functions that it can reach
; are copied without what is only for the host's processor, all others are declarations.
; RUN: %stage=cosy-bpf-module %s 2>&1 | FileCheck %s --implicit-check-not=@unrelated
target triple = "x86_64-pc-linux-gnu"

@global = global i32 7

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)

define internal i32 @helper(i32 %x) "target-cpu"="haswell" {
  %g = load i32, ptr @global
  %y = add i32 %x, %g
  ret i32 %y
}

define void @unrelated() {
  ret void
}

define i32 @f(i32 %x) {
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 26)
  store i32 %start, ptr %token
  %n = call i32 @helper(i32 %x)
  call void @__cosy_region_end(ptr %token)
  ret i32 %n
}

; CHECK: 2 cosy-bpf-module - Number of functions copied into them
; CHECK: target triple = "bpfel"
; CHECK: @cosy.global.0 = external global i32
; CHECK-LABEL: define i64 @cosy.main(ptr %0)
; CHECK: %[[CTX:.*]] = call ptr @__cosy_context()
; CHECK: %[[AT:.*]] = getelementptr inbounds i8, ptr %[[CTX]], i64 8
; CHECK: %[[X:.*]] = load i32, ptr %[[AT]]
; CHECK: call void @f.cosy(i32 %[[X]], ptr %[[OUT:.*]])
; CHECK: %[[R:.*]] = load i32, ptr %[[OUT]]
; CHECK: store i32 %[[R]]
; CHECK: ret i64 0
; CHECK-DAG: define internal void @f.cosy(
; CHECK-DAG: define internal i32 @helper(
; CHECK-NOT: haswell
