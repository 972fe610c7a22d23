; A caller tests first whether a function that is called returns at once, and takes the result it would return.  A
; function that stores, or uses its locals, before that stays as it is.
; RUN: %stage=cosy-inline-early-returns %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK: 2 cosy-inline-early-returns - Number of calls before which callers test

; CHECK-LABEL: define i64 @cosy.main(
; CHECK: %[[SEEN:.*]] = load i32, ptr %node
; CHECK: %[[NOW:.*]] = icmp eq i32 %[[SEEN]], 0
; CHECK: br i1 %[[NOW]], label %[[SLOW:.*]], label %[[QUICK:.*]]
; CHECK: [[QUICK]]:
; CHECK: %[[AT:.*]] = getelementptr i8, ptr %node, i64 8
; CHECK: %[[RESULT:.*]] = load i64, ptr %[[AT]]
; CHECK: [[SLOW]]:
; CHECK: %a = call i64 @check(ptr %node)
; CHECK: phi i64 [ %[[RESULT]], %[[QUICK]] ], [ %a, %[[SLOW]] ]
; CHECK-NOT: quick
; CHECK: call i64 @counts(
define i64 @cosy.main(ptr %node) {
  %a = call i64 @check(ptr %node)
  %b = call i64 @counts(i64 %a)
  ret i64 %b
}

; CHECK-LABEL: define internal i64 @check(
; CHECK: %left = load ptr, ptr %node
; CHECK: load i32, ptr %left
; CHECK: quick
; CHECK: call i64 @check(ptr %left)
define internal i64 @check(ptr %node) noinline {
entry:
  %room = alloca [64 x i8]
  %seen = load i32, ptr %node
  %first = icmp eq i32 %seen, 0
  br i1 %first, label %visit, label %known
visit:
  store i32 1, ptr %node
  %left = load ptr, ptr %node
  %r = call i64 @check(ptr %left)
  br label %known
known:
  %offset = phi i64 [ 8, %entry ], [ %r, %visit ]
  %at = getelementptr i8, ptr %node, i64 %offset
  %result = load i64, ptr %at
  ret i64 %result
}

; CHECK-LABEL: define internal i64 @counts(
; CHECK-NOT: quick
; CHECK: call i64 @counts(
define internal i64 @counts(i64 %n) noinline {
  %calls = load i64, ptr inttoptr (i64 4096 to ptr)
  %more = add i64 %calls, 1
  store i64 %more, ptr inttoptr (i64 4096 to ptr)
  %end = icmp eq i64 %n, 0
  br i1 %end, label %done, label %again
again:
  %next = sub i64 %n, 1
  %r = call i64 @counts(i64 %next)
  ret i64 %r
done:
  ret i64 0
}
