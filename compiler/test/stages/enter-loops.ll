; The native twin leaves at the head of each loop whose iterations make calls, for a function that
; is all of the region from there on.  The values that are alive at the head are its arguments.
; RUN: %stage=cosy-enter-loops %s 2>&1 | FileCheck %s
; CHECK-DAG: 1 cosy-loops - Number of loops with a way in at the head
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i64 @read(i32, ptr, i64)

; CHECK-LABEL: define i64 @f(
; CHECK: call void @f.cosy.twin(i32 %fd, ptr %p,
define i64 @f(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  br label %loop
loop:
  %sum = phi i64 [ 0, %entry ], [ %next, %loop ]
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  %next = add i64 %sum, %n
  %more = icmp eq i64 %n, 8
  br i1 %more, label %loop, label %words
words:
  %i = phi i64 [ 0, %loop ], [ %j, %words ]
  %at = getelementptr i64, ptr %p, i64 %i
  store i64 0, ptr %at
  %j = add i64 %i, 1
  %all = icmp eq i64 %j, %next
  br i1 %all, label %end, label %words
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %next
}

; The second loop makes no call.
; CHECK-LABEL: define internal void @f.cosy.twin(
; CHECK: %[[SUM:.*]] = phi i64 [ 0,
; CHECK: br i1 poison, label %[[LEAVE:.*]], label %[[ROUND:.*]]
; CHECK-NOT: br i1 poison
; CHECK: [[LEAVE]]:
; CHECK: call void @f.cosy.loop({{.*}}i64 %[[SUM]]
; CHECK-NEXT: ret void

; CHECK-LABEL: define internal void @f.cosy.loop(
; CHECK-NEXT: cosy.entry:
; CHECK-NEXT: br label %[[HEAD:.*]]
; CHECK: [[HEAD]]:
; CHECK-NEXT: phi i64 {{.*}}[ %{{[0-9]+}}, %cosy.entry ]
; CHECK-NOT: define internal void @f.cosy.loop
