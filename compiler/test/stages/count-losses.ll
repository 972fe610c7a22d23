; The rounds of loops without calls are added up in a register and told at each exit.  A loop that
; calls loses nothing.
; RUN: %stage=cosy-count-losses %s 2>&1 | FileCheck %s
; CHECK: 1 cosy-losses - Number of loops whose losses are counted
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i64 @read(i32, ptr, i64)

define i64 @f(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  br label %loop
loop:
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  %more = icmp eq i64 %n, 8
  br i1 %more, label %loop, label %rows
rows:
  %i = phi i64 [ 0, %loop ], [ %k, %next ]
  br label %words
words:
  %j = phi i64 [ 0, %rows ], [ %l, %words ]
  %at = getelementptr i64, ptr %p, i64 %j
  store i64 %i, ptr %at
  %l = add i64 %j, 1
  %row = icmp eq i64 %l, %n
  br i1 %row, label %next, label %words
next:
  %k = add i64 %i, 1
  %all = icmp eq i64 %k, 5
  br i1 %all, label %end, label %rows
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %n
}

; Each loop adds in its latch; the inner one goes on with what the outer one has lost.
; CHECK-LABEL: define internal void @f.cosy(
; CHECK: call i64 @read(
; CHECK-NOT: %cosy.lost
; CHECK: %[[BEFORE:.*]] = phi i64 [ %[[OUTER:cosy.lost[0-9]*]], %next ], [ 0, %
; CHECK: phi i64 [ %[[BEFORE]], %rows ], [ %[[INNER:cosy.lost[0-9]*]], %words ]
; CHECK: %[[INNER]] = add i64 %{{.*}}, {{[0-9]+}}
; CHECK: %[[OUTER]] = add i64 %[[INNER]], {{[0-9]+}}
; CHECK: call void @cosy.lose(i64 %[[OUTER]])
; CHECK-NOT: call void @cosy.lose(
; CHECK: ret void
