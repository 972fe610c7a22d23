; Small loops that load or store are unrolled, those that call or only compute are not.
; RUN: %stage=cosy-unroll-loops %s 2>&1 | FileCheck %s
target triple = "bpfel"

; The number of iterations is constant: 32 at once, none remain.
; CHECK-LABEL: define i64 @cosy.main(
; CHECK: loop:
; CHECK-COUNT-32: load i8
; CHECK-NOT: load
; CHECK: icmp eq i64 %{{.*}}, 4096
; CHECK: ret i64
define i64 @cosy.main(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %v = zext i8 %c to i64
  %more = add i64 %sum, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 4096
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}

; The number of iterations is known when the loop is entered: a loop for the rest.
; CHECK-LABEL: define i64 @some(
; CHECK: and i64 %n, 7
; CHECK-COUNT-8: load i8
; CHECK-NOT: load
; CHECK: br i1
; CHECK: load i8
; CHECK-NOT: load
; CHECK: ret i64
define i64 @some(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %v = zext i8 %c to i64
  %more = add i64 %sum, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}

; Only the bytes decide when the loop ends: each iteration has its own test.
; CHECK-LABEL: define i64 @length(
; CHECK-COUNT-8: icmp eq i8 %{{.*}}, 0
; CHECK-NOT: icmp
; CHECK: ret i64
define i64 @length(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %loop
end:
  ret i64 %i
}

; Iterations of many instructions: fewer at once, as the budget allows.
; CHECK-LABEL: define i64 @large(
; CHECK-COUNT-8: load i64
; CHECK-NOT: load
; CHECK: ret i64
define i64 @large(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %x12, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %v = load i64, ptr %at
  %x0 = xor i64 %v, %sum
  %x1 = mul i64 %x0, 31
  %x2 = xor i64 %x1, %v
  %x3 = mul i64 %x2, 37
  %x4 = xor i64 %x3, %v
  %x5 = mul i64 %x4, 41
  %x6 = xor i64 %x5, %v
  %x7 = mul i64 %x6, 43
  %x8 = xor i64 %x7, %v
  %x9 = mul i64 %x8, 47
  %x10 = xor i64 %x9, %v
  %x11 = mul i64 %x10, 53
  %x12 = xor i64 %x11, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 512
  br i1 %done, label %end, label %loop
end:
  ret i64 %x12
}

; CHECK-LABEL: define void @calls(
; CHECK-COUNT-1: call i64 @__cosy_call.39.
; CHECK-NOT: call
; CHECK: ret void
declare i64 @__cosy_call.39.()
define void @calls(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %v = call i64 @__cosy_call.39.()
  %at = getelementptr i64, ptr %p, i64 %i
  store i64 %v, ptr %at
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 512
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define i64 @computes(
; CHECK-COUNT-1: mul i64
; CHECK-NOT: mul i64
; CHECK: ret i64
define i64 @computes(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %x = phi i64 [ %n, %entry ], [ %y, %loop ]
  %z = mul i64 %x, 31
  %y = xor i64 %z, %i
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 512
  br i1 %done, label %end, label %loop
end:
  ret i64 %y
}

; The program asked that this one stay as it is.
; CHECK-LABEL: define void @pragma(
; CHECK-COUNT-1: store i64
; CHECK-NOT: store
; CHECK: ret void
define void @pragma(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  store i64 %i, ptr %at
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 512
  br i1 %done, label %end, label %loop, !llvm.loop !0
end:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
