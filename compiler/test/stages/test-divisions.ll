; Divisions that may trap natively are tested: by zero, and the least integer by -1.
; RUN: %stage=cosy-test-divisions %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK-DAG: 14 cosy-divisions - Number of divisions that are tested
; CHECK-DAG: 9 cosy-divisions - Number of divisions that cannot trap

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: [[ZERO:%.*]] = icmp eq i64 %b, 0
; CHECK-NEXT: br i1 [[ZERO]], label %divide.error, label %[[NEXT:.*]], !prof
; CHECK: [[NEXT]]:
; CHECK-NEXT: [[ONE:%.*]] = icmp eq i64 %b, -1
; CHECK-NEXT: br i1 [[ONE]], label %[[OVERFLOW:.*]], label %[[DIVIDE:.*]], !prof
; CHECK: [[OVERFLOW]]:
; CHECK-NEXT: [[LEAST:%.*]] = icmp eq i64 %a, -9223372036854775808
; CHECK-NEXT: br i1 [[LEAST]], label %divide.error, label %[[DIVIDE]], !prof
; CHECK: [[DIVIDE]]:
; CHECK-NEXT: %q = sdiv i64 %a, %b
; The remainder of the same needs no test.
; CHECK-NEXT: %r = srem i64 %a, %b
; CHECK-NEXT: add i64
; CHECK-NEXT: ret i64
; CHECK: divide.error:
; CHECK-NEXT: call void @__cosy_call.65579.() #[[NORETURN:[0-9]+]]
; CHECK-NEXT: unreachable
define i64 @cosy.main(ptr %p) {
  %a = load i64, ptr %p
  %at = getelementptr i8, ptr %p, i64 8
  %b = load i64, ptr %at
  %q = sdiv i64 %a, %b
  %r = srem i64 %a, %b
  %sum = add i64 %q, %r
  ret i64 %sum
}

; CHECK-LABEL: define i32 @unsigned(
; CHECK: icmp eq i32 %b, 0
; CHECK-NOT: icmp
; CHECK: udiv i32 %a, %b
define i32 @unsigned(i32 %a, i32 %b) {
  %q = udiv i32 %a, %b
  ret i32 %q
}

; Another dividend may be the least integer; by zero was tested.
; CHECK-LABEL: define i16 @other(
; CHECK: icmp eq i16 %b, 0
; CHECK: icmp eq i16 %b, -1
; CHECK: icmp eq i16 %a, -32768
; CHECK: srem i16 %a, %b
; CHECK-NOT: icmp eq i16 %b, 0
; CHECK: icmp eq i16 %b, -1
; CHECK: icmp eq i16 %c, -32768
; CHECK: srem i16 %c, %b
define i16 @other(i16 %a, i16 %b, i16 %c) {
  %r = srem i16 %a, %b
  %s = srem i16 %c, %b
  %t = add i16 %r, %s
  ret i16 %t
}

; A division on one way says nothing about the other.
; CHECK-LABEL: define i32 @ways(
; CHECK: icmp eq i32 %b, 0
; CHECK: udiv i32 %a, %b
; CHECK: icmp eq i32 %b, 0
; CHECK: urem i32 %a, %b
define i32 @ways(i32 %a, i32 %b, i1 %which) {
  br i1 %which, label %one, label %two
one:
  %q = udiv i32 %a, %b
  ret i32 %q
two:
  %r = urem i32 %a, %b
  ret i32 %r
}

; Only -1 is left of what the divisor may be.
; CHECK-LABEL: define i32 @odd(
; CHECK-NOT: icmp eq i32 %{{.*}}, 0
; CHECK: icmp eq i32 %odd, -1
; CHECK: icmp eq i32 %a, -2147483648
; CHECK: sdiv i32 %a, %odd
define i32 @odd(i32 %a, i32 %b) {
  %odd = or i32 %b, 1
  %q = sdiv i32 %a, %odd
  ret i32 %q
}

; Only zero is: the dividend is not the least integer.
; CHECK-LABEL: define i32 @short(
; CHECK: icmp eq i32 %b, 0
; CHECK-NOT: icmp
; CHECK: sdiv i32 %wide, %b
define i32 @short(i16 %a, i32 %b) {
  %wide = sext i16 %a to i32
  %q = sdiv i32 %wide, %b
  ret i32 %q
}

; CHECK-LABEL: define i32 @proven(
; CHECK-NOT: divide.error
; CHECK: ret i32
define i32 @proven(i32 %a, i32 %b, ptr %p) {
entry:
  %seven = sdiv i32 %a, 7
  %ten = urem i32 %a, 10
  %minus = sdiv i32 %a, -3
  %odd = or i32 %b, 1
  %by.odd = udiv i32 %a, %odd
  %size = load i32, ptr %p, !range !0
  %by.size = srem i32 %a, %size
  %positive = icmp sgt i32 %b, 0
  br i1 %positive, label %loop, label %end
loop:
  %i = phi i32 [ 1, %entry ], [ %next, %loop ]
  %by.b = sdiv i32 %a, %b
  %by.i = udiv i32 %a, %i
  %next = add nuw i32 %i, 1
  %done = icmp eq i32 %next, 100
  br i1 %done, label %end, label %loop
end:
  %sum = phi i32 [ %minus, %entry ], [ %by.i, %loop ]
  ret i32 %sum
}

; CHECK-LABEL: define i32 @assumed(
; CHECK-NOT: divide.error
; CHECK: ret i32
declare void @llvm.assume(i1)
define i32 @assumed(i32 %a, i32 %b) {
  %is = icmp ne i32 %b, 0
  call void @llvm.assume(i1 %is)
  %q = udiv i32 %a, %b
  ret i32 %q
}

; Natively nobody promises that a product does not overflow, nor that a value has an opposite.
; CHECK-LABEL: define i32 @promised(
; CHECK: icmp eq i32 %product, 0
; CHECK: sdiv i32 %a, %product
; CHECK: icmp eq i32 %absolute, -2147483648
; CHECK: sdiv i32 %absolute, %c
declare i32 @llvm.abs.i32(i32, i1)
define i32 @promised(i32 %a, i32 %b, i32 %c) {
entry:
  %positive = icmp sgt i32 %b, 0
  %two = icmp sgt i32 %c, 0
  %both = and i1 %positive, %two
  br i1 %both, label %divide, label %end
divide:
  %product = mul nsw i32 %b, %c
  %q = sdiv i32 %a, %product
  ret i32 %q
end:
  %absolute = call i32 @llvm.abs.i32(i32 %a, i1 true)
  %s = sdiv i32 %absolute, %c
  ret i32 %s
}

; The processor divides 24 bits as 32, and 3 as 8, where the least does not overflow.
; CHECK-LABEL: define i24 @wider(
; CHECK: icmp eq i24 %b, 0
; CHECK-NOT: icmp
; CHECK: sdiv i24 %a, %b
; CHECK: icmp eq i3 %d, 0
; CHECK-NOT: icmp
; CHECK: srem i3 %c, %d
; CHECK: icmp eq i8 %f, 0
; CHECK: icmp eq i8 %f, -1
; CHECK: sdiv i8 %e, %f
define i24 @wider(i24 %a, i24 %b, i3 %c, i3 %d, i8 %e, i8 %f) {
  %q = sdiv i24 %a, %b
  %r = srem i3 %c, %d
  %s = sdiv i8 %e, %f
  %t = sext i3 %r to i24
  %u = sext i8 %s to i24
  %sum = add i24 %q, %t
  %all = add i24 %sum, %u
  ret i24 %all
}

; A function of the compiler's own divides 128 bits, which has a result for the least by -1.
; CHECK-LABEL: define i128 @widest(
; CHECK: icmp eq i128 %b, 0
; CHECK-NOT: icmp
; CHECK: sdiv i128 %a, %b
define i128 @widest(i128 %a, i128 %b) {
  %q = sdiv i128 %a, %b
  ret i128 %q
}

; CHECK: attributes #[[NORETURN]] = { noreturn }
!0 = !{i32 1, i32 65536}
