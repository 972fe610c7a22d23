; The iterations of loops without calls are added up in a register and counted at each exit, in a
; copy that one entry in 31 goes through.  A loop that calls loses nothing.
; RUN: %stage=cosy-count-losses %s 2>&1 | FileCheck %s
; CHECK: 4 cosy-losses - Number of loops whose losses are counted
; CHECK: 3 cosy-samples - Number of loops of which a copy counts
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i64 @read(i32, ptr, i64)

; CHECK: @cosy.turn = private global i32 15
; CHECK: @[[TURN:cosy.turn.*]] = private global i32 15

; Nothing is counted in the loop itself, and its exit's block stays.
; CHECK-LABEL: define internal void @list.cosy(
; CHECK: %[[COUNTS:.*]] = call i1 @cosy.counts()
; CHECK-NEXT: br i1 %[[COUNTS]], label %cosy.turn, label %cosy.plain
; CHECK: cosy.plain:
; CHECK-NEXT: br label %walk
; CHECK: cosy.turn:
; CHECK-NEXT: %[[WAS:.*]] = load atomic i32, ptr @cosy.turn monotonic
; CHECK-NEXT: %[[NOW:.*]] = sub i32 %[[WAS]], 1
; CHECK-NEXT: store atomic i32 %[[NOW]], ptr @cosy.turn monotonic
; CHECK-NEXT: %[[ITS:.*]] = icmp slt i32 %[[NOW]], 0
; CHECK-NEXT: br i1 %[[ITS]], label %cosy.sample, label %cosy.plain, !prof
; CHECK: cosy.sample:
; CHECK-NEXT: store atomic i32 30, ptr @cosy.turn monotonic
; CHECK-NEXT: br label %walk.counting
; CHECK: walk:
; CHECK-NOT: cosy.lost
; CHECK: br i1 %more, label %walk, label %[[END:.*]]
; CHECK: [[END]]:
; CHECK-NEXT: call void asm sideeffect "", ""()
; CHECK-NEXT: br label %[[JOIN:.*]]
; CHECK: walk.counting:
; CHECK: %[[LOST:cosy.lost.*]] = add i64 %{{.*}}, {{[1-9][0-9]*}}
; CHECK: br i1 %more.counting, label %walk.counting, label %[[END]].counting
; CHECK: [[END]].counting:
; CHECK-NEXT: %[[ALL:.*]] = mul i64 %[[LOST]], 31
; CHECK-NEXT: call void @cosy.lose(i64 %[[ALL]])
; CHECK-NEXT: br label %[[JOIN]]
define ptr @list(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %walk
walk:
  %q = phi ptr [ %p, %entry ], [ %r, %walk ]
  %r = load ptr, ptr %q
  %more = icmp ne ptr %r, null
  br i1 %more, label %walk, label %end
end:
  call void @__cosy_region_end(ptr %token)
  ret ptr %q
}

; Each loop adds in its latch; the inner one goes on with what the outer one has lost.
; CHECK-LABEL: define internal void @nested.cosy(
; CHECK: call i64 @read(
; CHECK: load atomic i32, ptr @[[TURN]] monotonic
; CHECK: {{^}}rows:
; CHECK-NOT: cosy.lost
; CHECK: rows.counting:
; CHECK: %[[BEFORE:cosy.lost.*]] = phi i64 [ %[[OUTER:cosy.lost[0-9]*]], %next.counting ], [ 0, %cosy.sample ]
; CHECK: %{{cosy.lost.*}} = phi i64 [ %[[BEFORE]], %rows.counting ], [ %[[INNER:cosy.lost[0-9]*]], %words.counting ]
; CHECK: %[[INNER]] = add i64 %{{.*}}, {{[0-9]+}}
; CHECK: %[[OUTER]] = add i64 %{{.*}}, {{[0-9]+}}
; CHECK: %[[SUM:.*]] = mul i64 %[[OUTER]], 31
; CHECK: call void @cosy.lose(i64 %[[SUM]])
; CHECK-NOT: call void @cosy.lose(
define i64 @nested(i32 %fd, ptr %p) {
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

; Two exits: the copy tells what it lost at each, and the values that it found go on.
; CHECK-LABEL: define internal void @search.cosy(
; CHECK: {{^}}scan:
; CHECK-NOT: cosy.lost
; CHECK: {{^}}here:
; CHECK-NEXT: %[[HERE:.*]] = phi i64 [ %i, %look ]
; CHECK: here.split:
; CHECK-NEXT: phi i64 [ %[[HERE]], %here ], [ %[[THERE:.*]], %here.counting ]
; CHECK: scan.counting:
; CHECK: gone.counting:
; CHECK: call void @cosy.lose(
; CHECK: here.counting:
; CHECK-NEXT: %[[THERE]] = phi i64 [ %i.counting, %look.counting ]
; CHECK: call void @cosy.lose(
; CHECK-NOT: call void @cosy.lose(
define i64 @search(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %scan
scan:
  %i = phi i64 [ %n, %entry ], [ %h, %next ]
  %none = icmp eq i64 %i, 0
  br i1 %none, label %gone, label %look
look:
  %at = getelementptr i8, ptr %p, i64 %i
  %byte = load i8, ptr %at
  %found = icmp eq i8 %byte, 10
  br i1 %found, label %here, label %next
next:
  %h = add i64 %i, -1
  br label %scan
gone:
  store i8 0, ptr %p
  br label %end
here:
  br label %end
end:
  %r = phi i64 [ 0, %gone ], [ %i, %here ]
  call void @__cosy_region_end(ptr %token)
  ret i64 %r
}

; A loop that must not be copied counts all of its iterations.
; CHECK-LABEL: define internal void @alone.cosy(
; CHECK-NOT: call i1 @cosy.counts()
; CHECK: {{^}}walk:
; CHECK: %[[LOST:cosy.lost.*]] = add i64 %{{.*}}, {{[1-9][0-9]*}}
; CHECK: call void @cosy.lose(i64 %[[LOST]])
define void @alone(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %walk
walk:
  %q = phi ptr [ %p, %entry ], [ %r, %walk ]
  call void asm "", ""() noduplicate
  %r = load ptr, ptr %q
  %more = icmp ne ptr %r, null
  br i1 %more, label %walk, label %end
end:
  call void @__cosy_region_end(ptr %token)
  ret void
}
