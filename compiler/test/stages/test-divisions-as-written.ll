; Before optimisation only the divisions of functions are tested that the host does not optimise,
; and what tests them stays where nobody uses the result.
; RUN: %stage=cosy-test-divisions-as-written %s 2>&1 | FileCheck %s
; RUN: %stage=cosy-test-divisions-as-written,cosy-optimize %s 2>&1 | FileCheck --check-prefix=OPT %s
target triple = "bpfel"

; CHECK-DAG: 2 cosy-divisions - Number of divisions that are tested

; CHECK-LABEL: define i64 @cosy.main(
; CHECK-NOT: icmp
; CHECK: udiv
; CHECK: ret i64
; OPT-LABEL: define {{.*}}i64 @cosy.main(
; OPT-NOT: udiv
; OPT: icmp eq i64 %{{.*}}, 0
; OPT-NEXT: br i1
; OPT-NOT: udiv
; OPT: call void @__cosy_call.65579.()
define i64 @cosy.main(ptr %p) {
  %a = load i64, ptr %p
  %unused = udiv i64 1, %a
  call void @written(i64 %a)
  ret i64 %a
}

; CHECK-LABEL: define internal void @written(
; CHECK: icmp eq i64 %a, 0
; CHECK: udiv i64 2, %a
define internal void @written(i64 %a) "cosy-as-written" {
  %variable = alloca i64
  %q = udiv i64 2, %a
  store i64 %q, ptr %variable
  call void @pinned(i64 %a)
  ret void
}

; The pins of the native twin have done their work.
; CHECK-LABEL: define internal void @pinned(
; CHECK: icmp eq i64 %a, 0
; CHECK: [[Q:%.*]] = udiv i64 7, %a
; CHECK-NOT: asm
; CHECK: ret void
define internal void @pinned(i64 %a) "cosy-as-written" {
  %by = call i64 asm "", "=r,0"(i64 %a), !cosy.pin !0
  %q = udiv i64 7, %by
  call void asm sideeffect "", "r"(i64 %q), !cosy.pin !0
  ret void
}
!0 = !{}
