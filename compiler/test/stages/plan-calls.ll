; Small functions, and those called once, are to be inlined; a recursive one stays a call and is marked.
; So does one that makes system calls in a loop, if its copies would be large; one that only computes is inlined.
; RUN: %stage=cosy-plan-calls %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK-DAG: 2 cosy-plan-calls - Number of functions to be inlined
; CHECK-DAG: 2 cosy-plan-calls - Number of functions that stay calls
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

declare i64 @__cosy_call.39.()

; CHECK: define internal i64 @calls(i64 %n) #[[CALLS:[0-9]+]]
define internal i64 @calls(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %x30, %loop ]
  %x0 = call i64 @__cosy_call.39.()
  %x1 = mul i64 %x0, %i
  %x2 = mul i64 %x1, %i
  %x3 = mul i64 %x2, %i
  %x4 = mul i64 %x3, %i
  %x5 = mul i64 %x4, %i
  %x6 = mul i64 %x5, %i
  %x7 = mul i64 %x6, %i
  %x8 = mul i64 %x7, %i
  %x9 = mul i64 %x8, %i
  %x10 = mul i64 %x9, %i
  %x11 = mul i64 %x10, %i
  %x12 = mul i64 %x11, %i
  %x13 = mul i64 %x12, %i
  %x14 = mul i64 %x13, %i
  %x15 = mul i64 %x14, %i
  %x16 = mul i64 %x15, %i
  %x17 = mul i64 %x16, %i
  %x18 = mul i64 %x17, %i
  %x19 = mul i64 %x18, %i
  %x20 = mul i64 %x19, %i
  %x21 = mul i64 %x20, %i
  %x22 = mul i64 %x21, %i
  %x23 = mul i64 %x22, %i
  %x24 = mul i64 %x23, %i
  %x25 = mul i64 %x24, %i
  %x26 = mul i64 %x25, %i
  %x27 = mul i64 %x26, %i
  %x28 = mul i64 %x27, %i
  %x29 = mul i64 %x28, %i
  %x30 = mul i64 %x29, %i
  %more = icmp ugt i64 %x30, 9
  br i1 %more, label %loop, label %end
end:
  ret i64 %x30
}

; CHECK: define internal i64 @computes(i64 %n) #[[SMALL]]
define internal i64 @computes(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %x30, %loop ]
  %x0 = add i64 %i, 7
  %x1 = mul i64 %x0, %i
  %x2 = mul i64 %x1, %i
  %x3 = mul i64 %x2, %i
  %x4 = mul i64 %x3, %i
  %x5 = mul i64 %x4, %i
  %x6 = mul i64 %x5, %i
  %x7 = mul i64 %x6, %i
  %x8 = mul i64 %x7, %i
  %x9 = mul i64 %x8, %i
  %x10 = mul i64 %x9, %i
  %x11 = mul i64 %x10, %i
  %x12 = mul i64 %x11, %i
  %x13 = mul i64 %x12, %i
  %x14 = mul i64 %x13, %i
  %x15 = mul i64 %x14, %i
  %x16 = mul i64 %x15, %i
  %x17 = mul i64 %x16, %i
  %x18 = mul i64 %x17, %i
  %x19 = mul i64 %x18, %i
  %x20 = mul i64 %x19, %i
  %x21 = mul i64 %x20, %i
  %x22 = mul i64 %x21, %i
  %x23 = mul i64 %x22, %i
  %x24 = mul i64 %x23, %i
  %x25 = mul i64 %x24, %i
  %x26 = mul i64 %x25, %i
  %x27 = mul i64 %x26, %i
  %x28 = mul i64 %x27, %i
  %x29 = mul i64 %x28, %i
  %x30 = mul i64 %x29, %i
  %more = icmp ugt i64 %x30, 9
  br i1 %more, label %loop, label %end
end:
  ret i64 %x30
}

define i64 @cosy.main(ptr %0) {
  %a = call i64 @small(i64 1)
  %r = call i64 @deep(i64 %a)
  %c = call i64 @calls(i64 %r)
  %c1 = call i64 @calls(i64 %c)
  %c2 = call i64 @calls(i64 %c1)
  %c3 = call i64 @calls(i64 %c2)
  %c4 = call i64 @calls(i64 %c3)
  %c5 = call i64 @calls(i64 %c4)
  %c6 = call i64 @calls(i64 %c5)
  %c7 = call i64 @calls(i64 %c6)
  %d = call i64 @calls(i64 %c7)
  %e = call i64 @computes(i64 %d)
  %f = call i64 @computes(i64 %e)
  ret i64 %f
}
; CHECK-DAG: attributes #[[SMALL]] = { alwaysinline }
; CHECK-DAG: attributes #[[DEEP]] = { noinline "cosy-recursive" }
; CHECK-DAG: attributes #[[CALLS]] = { noinline }
