; A counter that is looked at after a loop is the one that the test at the loop's end looks at next,
; so that one register is enough.
; RUN: %stage=cosy-counters %s 2>&1 | FileCheck %s
; CHECK: 2 cosy-counters - Number of counters taken before the step
target triple = "x86_64-pc-linux-gnu"

; The test looks at the counter before its step: the copy is made of what came before it.
; CHECK-LABEL: define i64 @before(
; CHECK: found:
; CHECK-NEXT: %[[MOVED:.*]] = add i64 %i, 1
; CHECK-NEXT: %[[COPY:.*]] = call i64 asm "", "=r,0"(i64 %[[MOVED]])
; CHECK-NEXT: %[[END:.*]] = sub i64 %[[COPY]], 1
; CHECK-NEXT: ret i64 %[[END]]
define i64 @before(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %h, %next ]
  %at = getelementptr i8, ptr %p, i64 %i
  %byte = load i8, ptr %at
  %is = icmp eq i8 %byte, 10
  br i1 %is, label %found, label %next
next:
  %h = add i64 %i, -1
  %more = icmp ugt i64 %i, 1
  br i1 %more, label %loop, label %none
found:
  %c = call i64 asm "", "=r,0"(i64 %i)
  ret i64 %c
none:
  ret i64 -1
}

; It looks at it after its step, as the copy at the loop's end does.  In the middle that is the
; counter itself.
; CHECK-LABEL: define i64 @after(
; CHECK: found:
; CHECK-NEXT: call i64 asm "", "=r,0"(i64 %i)
; CHECK: none:
; CHECK-NEXT: call i64 asm "", "=r,0"(i64 %h)
define i64 @after(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %h, %next ]
  %at = getelementptr i8, ptr %p, i64 %i
  %byte = load i8, ptr %at
  %is = icmp eq i8 %byte, 10
  br i1 %is, label %found, label %next
next:
  %h = add i64 %i, 1
  %more = icmp ult i64 %h, %n
  br i1 %more, label %loop, label %none
found:
  %c = call i64 asm "", "=r,0"(i64 %i)
  ret i64 %c
none:
  %d = call i64 asm "", "=r,0"(i64 %h)
  ret i64 %d
}

; At the loop's end, with a test of the value before the step.
; CHECK-LABEL: define i64 @end(
; CHECK: none:
; CHECK-NEXT: %[[MOVED:.*]] = add i64 %h, 1
; CHECK-NEXT: call i64 asm "", "=r,0"(i64 %[[MOVED]])
define i64 @end(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %h, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %byte = load i8, ptr %at
  %h = add i64 %i, -1
  %more = icmp ugt i64 %i, 1
  br i1 %more, label %loop, label %none
none:
  %d = call i64 asm "", "=r,0"(i64 %h)
  ret i64 %d
}

; Another asm, and a loop whose end tests no counter, stay as they are.
; CHECK-LABEL: define i64 @others(
; CHECK: call i64 asm "nop", "=r,0"(i64 %i)
; CHECK-NEXT: call i64 asm "", "=r,0"(i64 %i)
define i64 @others(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %h, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %byte = load i8, ptr %at
  %h = add i64 %i, 1
  %more = icmp ne i8 %byte, 0
  br i1 %more, label %loop, label %none
none:
  %c = call i64 asm "nop", "=r,0"(i64 %i)
  %d = call i64 asm "", "=r,0"(i64 %i)
  ret i64 %d
}
