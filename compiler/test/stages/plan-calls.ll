; Small functions, and those called once, are to be inlined; a recursive one stays a call and is marked.
; RUN: %stage=cosy-plan-calls %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK-DAG: 1 cosy-plan-calls - Number of functions to be inlined
; CHECK-DAG: 1 cosy-plan-calls - Number of functions that stay calls
; CHECK-DAG: 1 cosy-plan-calls - Number of functions that recurse

; CHECK: define internal i64 @small(i64 %n) #[[SMALL:[0-9]+]]
define internal i64 @small(i64 %n) noinline {
  %m = add i64 %n, 1
  ret i64 %m
}

; CHECK: define internal i64 @deep(i64 %n) #[[DEEP:[0-9]+]]
define internal i64 @deep(i64 %n) {
  %more = icmp ugt i64 %n, 1
  br i1 %more, label %again, label %end
again:
  %next = call i64 @small(i64 %n)
  %r = call i64 @deep(i64 %next)
  ret i64 %r
end:
  ret i64 0
}

define i64 @cosy.main(ptr %0) {
  %a = call i64 @small(i64 1)
  %r = call i64 @deep(i64 %a)
  ret i64 %r
}
; CHECK-DAG: attributes #[[SMALL]] = { alwaysinline }
; CHECK-DAG: attributes #[[DEEP]] = { noinline "cosy-recursive" }
