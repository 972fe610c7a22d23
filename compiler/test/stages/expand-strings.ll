; Operations in a loop, or in a function that is called, are expanded: words are loaded in place, and a constant string
; is compared as an immediate.  Elsewhere, and on a view, they stay as they are.
; RUN: %stage=cosy-expand-strings %s 2>&1 | FileCheck %s
target triple = "bpfel"

@name = available_externally constant [5 x i8] c"name\00"

declare i64 @__cosy_call.0.lpl(i64, ptr, i64)
declare i64 @__cosy_call.65558.lpl(i64, ptr, i64)
declare i64 @__cosy_call.65547.p(ptr)
declare i64 @__cosy_call.65549.pp(ptr, ptr)

; CHECK: 2 cosy-expand-strings - Number of operations expanded in place

; CHECK-LABEL: define {{.*}}i64 @cosy.main(
; CHECK: call i64 @__cosy_call.65547.p(ptr %0)
; CHECK: loop:
; CHECK-NOT: load
; CHECK: call i64 @__cosy_call.65547.p(ptr {{.*}}%viewed)
; CHECK: %[[P:.*]] = call ptr asm "", "=r,0"(
; CHECK: load i64, ptr %[[P]], align 1
; CHECK: call i64 @__cosy_call.65547.p(
define i64 @cosy.main(ptr %0) {
entry:
  %viewed = alloca [4096 x i8]
  %once = call i64 @__cosy_call.65547.p(ptr %0)
  br label %loop
loop:
  %sum = phi i64 [ %once, %entry ], [ %more, %loop ]
  %read = call i64 @__cosy_call.65558.lpl(i64 3, ptr %viewed, i64 4096)
  %v = call i64 @__cosy_call.65547.p(ptr %viewed)
  %n = call i64 @__cosy_call.65547.p(ptr %0)
  %some = add i64 %n, %v
  %more = add i64 %sum, %some
  %again = icmp ult i64 %more, 1000
  br i1 %again, label %loop, label %end
end:
  %is = call i64 @is_name(ptr %0)
  %all = add i64 %more, %is
  ret i64 %all
}

; 1701667182 is "name".
; CHECK-LABEL: define internal {{.*}}i64 @is_name(
; CHECK: load i64
; CHECK: and i64 %{{.*}}, 1099511627775
; CHECK: icmp {{.*}}, 1701667182
; CHECK: }
define internal i64 @is_name(ptr %s) noinline {
  %d = call i64 @__cosy_call.65549.pp(ptr %s, ptr @name)
  %t = trunc i64 %d to i32
  %same = icmp eq i32 %t, 0
  %r = zext i1 %same to i64
  ret i64 %r
}
