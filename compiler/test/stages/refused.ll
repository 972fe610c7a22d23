; Each construct that no compound can have is a reason of its own to stay native.
; RUN: %stage=cosy-legalize %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare i32 @printf(ptr, ...)
declare i64 @fork()

; CHECK: in function cosy.main {{.*}}: floating-point or vector arithmetic
; CHECK: in function cosy.main {{.*}}: a 128-bit division
; CHECK: in function cosy.main {{.*}}: inline assembly
; CHECK: in function cosy.main {{.*}}: a call of 'fork': the child would start in the middle of a compound
; CHECK: in function cosy.main {{.*}}: a call through a pointer that is not a constant
; CHECK: {{[5-9]}} cosy-legalize - Number of reasons to stay native
define i64 @cosy.main(ptr %p) {
  %f = load double, ptr %p
  %g = fadd double %f, 1.0
  store volatile double %g, ptr %p
  %w = load i128, ptr %p
  %d = udiv i128 %w, 3
  store volatile i128 %d, ptr %p
  call void asm sideeffect "nop", ""()
  %x = call i64 @fork()
  call void %p()
  ret i64 %x
}
