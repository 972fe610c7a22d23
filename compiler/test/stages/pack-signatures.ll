; Arguments beyond what fits five registers, and a result of more than one, go through the caller's memory.
; RUN: %stage=cosy-pack-signatures %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK: 3 cosy-pack-signatures - Number of functions with packed signatures

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: store i64 5, ptr %[[AT:.*]]
; CHECK: store i64 6, ptr %{{.*}}
; CHECK: call i64 @six(i64 1, i64 2, i64 3, i64 4, ptr %[[SIX:.*]])
; CHECK: call void @wide(i64 1, ptr %[[WIDE:.*]])
; CHECK: load { i64, i64 }, ptr
; CHECK: call i64 @fits(i64 1, i64 2, i64 3, i64 4, i64 5)
define i64 @cosy.main(ptr %p) {
  %a = call i64 @six(i64 1, i64 2, i64 3, i64 4, i64 5, i64 6)
  %b = call { i64, i64 } @wide(i64 1)
  %c = extractvalue { i64, i64 } %b, 1
  %d = call i64 @fits(i64 1, i64 2, i64 3, i64 4, i64 5)
  %e = add i64 %a, %c
  %f = add i64 %e, %d
  ret i64 %f
}

define internal i64 @six(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f) noinline {
  ret i64 %f
}

define internal { i64, i64 } @wide(i64 %a) noinline {
  ret { i64, i64 } zeroinitializer
}

define internal i64 @fits(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e) noinline {
  ret i64 %e
}

; A call may pass the function that it calls, which is then used twice there.
; CHECK-LABEL: define i64 @passes_itself(
; CHECK: call i64 @again(i64 1, i64 2, i64 3, i64 4, ptr %{{.*}})
; CHECK-NOT: call
; CHECK: ret i64
define i64 @passes_itself() {
  %a = call i64 @again(i64 1, i64 2, i64 3, i64 4, i64 5, ptr @again)
  ret i64 %a
}

define internal i64 @again(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, ptr %f) noinline {
  ret i64 %e
}
