; A region ends before a call that it cannot hold; blocks that both the region and such a call lead to
; get a copy for the host.  Where the call is in a loop, the region begins at the loop's head.
; Functions that make such calls beside others are inlined first.
; RUN: %stage=cosy-leave %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i32 @getppid() #0
declare void @report(i64)

; CHECK: 4 cosy-extract - Number of regions that became functions
; CHECK: 6 cosy-leave - Number of calls that regions end before
; CHECK: 2 cosy-leave - Number of regions that begin at a loop's head
; CHECK: 2 cosy-natives - Number of calls inlined for what a region ends at

; CHECK-LABEL: define i64 @joined(
; CHECK: call i1 @joined.cosy(
; CHECK: call void @report(i64
; CHECK: phi i64
; CHECK: ret i64
; CHECK: add i64 %{{.*}}, 7
define i64 @joined(i64 %n) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = call i32 @getppid()
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %bad = icmp eq i64 %n, 3
  br i1 %bad, label %tell, label %join
tell:
  call void @report(i64 %next)
  br label %join
join:
  %v = phi i64 [ 1, %done ], [ 2, %tell ]
  %w = mul i64 %v, %next
  %x = add i64 %w, 7
  br label %out
out:
  call void @__cosy_region_end(ptr %token)
  ret i64 %x
}

; The host comes back to the loop's head, after a copy of the rest of the iteration.
; CHECK-LABEL: define i64 @again(
; CHECK: call i32 @getppid()
; CHECK: [[HEAD:[a-z.A-Z0-9]+]]:
; CHECK: call i1 @again.cosy(i64 %n, i64 %{{[a-z.A-Z0-9]+}}, i32 %first, ptr
; CHECK: call void @report(
; CHECK: icmp ult
; CHECK: br i1 %{{.*}}, label %[[HEAD]],
define i64 @again(i64 %n) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 17)
  store i32 %start, ptr %token
  %first = call i32 @getppid()
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %p = call i32 @getppid()
  %next = add i64 %i, 1
  %bad = icmp eq i32 %p, %first
  br i1 %bad, label %tell, label %again
tell:
  call void @report(i64 %next)
  br label %again
again:
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %out
out:
  call void @__cosy_region_end(ptr %token)
  ret i64 %next
}

; Each iteration makes the call.
; CHECK-LABEL: define void @kept(
; CHECK-NOT: @report
; CHECK: call void @kept.cosy(
; CHECK-NOT: @report
; CHECK: ret void
define void @kept(i64 %n) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 22)
  store i32 %start, ptr %token
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = call i32 @getppid()
  %next = add i64 %i, 1
  call void @report(i64 %next)
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %out
out:
  call void @__cosy_region_end(ptr %token)
  ret void
}

; Makes a call, and sometimes reports it.
define internal i32 @visit(i64 %i) {
  %p = call i32 @getppid()
  %bad = icmp eq i32 %p, 7
  br i1 %bad, label %tell, label %out
tell:
  call void @report(i64 %i)
  br label %out
out:
  ret i32 %p
}

; Sometimes reports.
define internal void @sometimes(i64 %i) {
  %tells = icmp eq i64 %i, 12
  br i1 %tells, label %tell, label %out
tell:
  call void @report(i64 %i)
  br label %out
out:
  ret void
}

; Does nothing else.
define internal void @always(i64 %i) {
  call void @report(i64 %i)
  ret void
}

; Stays a function of its own.
define internal void @apart(i64 %i) noinline {
  %p = call i32 @getppid()
  call void @report(i64 %i)
  ret void
}

; CHECK-LABEL: define void @helpers(
; CHECK: call i16 @helpers.cosy(
; CHECK-DAG: call void @apart(
; CHECK-DAG: call void @always(
; CHECK-DAG: call void @report(i64 %i
; CHECK: ret void
define void @helpers(i64 %n) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 27)
  store i32 %start, ptr %token
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %next = add i64 %i, 1
  %p = call i32 @visit(i64 %i)
  call void @sometimes(i64 %i)
  switch i32 %p, label %again [
    i32 1, label %one
    i32 2, label %two
  ]
one:
  call void @always(i64 %i)
  br label %again
two:
  call void @apart(i64 %i)
  br label %again
again:
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %out
out:
  call void @__cosy_region_end(ptr %token)
  ret void
}

; CHECK-LABEL: define internal {{.*}}i1 @joined.cosy(
; CHECK-NOT: @report
; CHECK-LABEL: define internal {{.*}}i1 @again.cosy(
; CHECK-NOT: @report
; CHECK-LABEL: define internal void @kept.cosy(
; CHECK: call void @report(
; CHECK-LABEL: define internal {{.*}}i16 @helpers.cosy(
; CHECK-NOT: @report
; CHECK-NOT: @visit
; CHECK-NOT: @always
; CHECK-NOT: @apart
; CHECK: }

attributes #0 = { nounwind "llvm.assume"="cosy_libc" }
