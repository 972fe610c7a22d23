; A way out of a loop that is told by a number, with a constant on each way, is gone straight.
; RUN: %stage=cosy-exits %s 2>&1 | FileCheck %s
; CHECK: 1 cosy-exits - Number of functions whose exits were threaded
target triple = "x86_64-pc-linux-gnu"

@region = external global i8
declare ptr @__cosy_enter(ptr)
declare i32 @next()
declare i64 @seek()

; CHECK-LABEL: define i32 @leaves(
; CHECK: br i1 %none, label %again, label %[[NEXT:.*]]
; CHECK: br i1 %failed, label %out, label %[[NEXT]]
; CHECK: {{^}}[[NEXT]]:
; CHECK-NEXT: br label %loop
; CHECK: out:
define i32 @leaves() {
entry:
  %ctx = call ptr @__cosy_enter(ptr @region)
  br label %loop
loop:
  %c = call i32 @next()
  %none = icmp slt i32 %c, 0
  br i1 %none, label %again, label %round
again:
  %at = call i64 @seek()
  %failed = icmp slt i64 %at, 0
  br i1 %failed, label %error, label %round
error:
  br label %clean
round:
  br label %clean
clean:
  %number = phi i32 [ 1, %error ], [ 0, %round ]
  %goes_on = icmp eq i32 %number, 0
  br i1 %goes_on, label %loop, label %out
out:
  ret i32 %number
}

; A function without a region is left as it is.
; CHECK-LABEL: define i32 @other(
; CHECK: phi i32 [ 1, %error ], [ 0, %round ]
define i32 @other() {
entry:
  br label %loop
loop:
  %at = call i64 @seek()
  %failed = icmp slt i64 %at, 0
  br i1 %failed, label %error, label %round
error:
  br label %clean
round:
  br label %clean
clean:
  %number = phi i32 [ 1, %error ], [ 0, %round ]
  %goes_on = icmp eq i32 %number, 0
  br i1 %goes_on, label %loop, label %out
out:
  ret i32 %number
}
