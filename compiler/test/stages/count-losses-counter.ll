; A loop without calls whose number of rounds nobody knows, or only by a division, is left as it is
; where it has a counter: its rounds are how far that has come, at each exit.
; RUN: %stage=cosy-count-losses %s 2>&1 | FileCheck %s
; CHECK: 4 cosy-losses - Number of loops that count their rounds themselves
; CHECK: 5 cosy-losses - Number of loops whose losses are counted
target triple = "x86_64-pc-linux-gnu"

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i64 @read(i32, ptr, i64)

; Backwards, and left in the middle, too: nothing is added to a round.
; CHECK-LABEL: define internal void @backwards.cosy(
; CHECK: scan:
; CHECK-NEXT: %i = phi i64 [ %n, %{{.*}} ], [ %h, %next ]
; CHECK-NOT: cosy.lost
; CHECK: %[[END:.*]] = call i64 asm "", "=r,0"(i64 %i)
; CHECK-NEXT: %[[ROUNDS:.*]] = sub i64 %n, %[[END]]
; CHECK-NEXT: %[[ALL:.*]] = mul i64 %[[ROUNDS]], 11
; CHECK-NEXT: %[[LOST:.*]] = add i64 0, %[[ALL]]
; CHECK-NEXT: call void @cosy.lose(i64 %[[LOST]])
define i64 @backwards(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %scan
scan:
  %i = phi i64 [ %n, %entry ], [ %h, %next ]
  %none = icmp eq i64 %i, 0
  br i1 %none, label %end, label %look
look:
  %at = getelementptr i8, ptr %p, i64 %i
  %byte = load i8, ptr %at
  %found = icmp eq i8 %byte, 10
  br i1 %found, label %end, label %next
next:
  %h = add i64 %i, -1
  br label %scan
end:
  %r = phi i64 [ 0, %scan ], [ %i, %look ]
  call void @__cosy_region_end(ptr %token)
  ret i64 %r
}

; A pointer to words, which has moved on where the loop ends at its end.
; CHECK-LABEL: define internal void @pointer.cosy(
; CHECK: ptrtoint ptr %r to i64
; CHECK: [[START:%.*]] = ptrtoint ptr %p to i64
; CHECK-NEXT: [[WAY:%.*]] = sub i64 %{{.*}}, [[START]]
; CHECK-NEXT: lshr i64 [[WAY]], 3
define ptr @pointer(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %scan
scan:
  %q = phi ptr [ %p, %entry ], [ %r, %scan ]
  %r = getelementptr i64, ptr %q, i64 1
  %word = load i64, ptr %q
  %more = icmp ne i64 %word, 0
  br i1 %more, label %scan, label %end
end:
  call void @__cosy_region_end(ptr %token)
  ret ptr %q
}

; No counter: a sum in the loop.
; CHECK-LABEL: define internal void @list.cosy(
; CHECK: %[[LOST:cosy.lost.*]] = add i64 %{{.*}}, {{[0-9]+}}
; CHECK-NOT: asm
; CHECK: call void @cosy.lose(i64 %[[LOST]])
define void @list(i32 %fd, ptr %p) {
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
  ret void
}

; An inner loop's rounds join the outer one's sum, also where it leaves both.
; CHECK-LABEL: define internal void @nested.cosy(
; CHECK: rows:
; CHECK: %[[BEFORE:.*]] = phi i64 [ 0, %{{.*}} ], [ %[[ALL:cosy.lost[0-9]*]], %next ]
; CHECK: call i64 asm "", "=r,0"(i64 %j)
; CHECK: %[[LEFT:cosy.lost[0-9]*]] = add i64 %[[BEFORE]], %
; CHECK-NEXT: call void @cosy.lose(i64 %[[LEFT]])
; CHECK: call void @cosy.lose(i64 %[[ALL]])
; CHECK: next:
; CHECK-NEXT: %[[OUTER:cosy.lost[0-9]*]] = add i64 %[[BEFORE]], {{[0-9]+}}
; CHECK: call i64 asm "", "=r,0"(i64 %l)
; CHECK: %[[ALL]] = add i64 %[[OUTER]], %
define i64 @nested(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %rows
rows:
  %i = phi i64 [ 0, %entry ], [ %k, %next ]
  br label %words
words:
  %j = phi i64 [ 0, %rows ], [ %l, %more ]
  %at = getelementptr i64, ptr %p, i64 %j
  %word = load i64, ptr %at
  %bad = icmp eq i64 %word, 0
  br i1 %bad, label %end, label %more
more:
  %l = add i64 %j, 1
  %row = icmp eq i64 %word, %n
  br i1 %row, label %next, label %words
next:
  %k = add i64 %i, %n
  %again = icmp ne i64 %word, %i
  br i1 %again, label %rows, label %end
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %n
}

; Three bytes a round: how many rounds there are would be divided out in the loop's place, so LLVM
; would keep the sum.
; CHECK-LABEL: define internal void @thirds.cosy(
; CHECK: triples:
; CHECK-NOT: cosy.lost
; CHECK: %[[END:.*]] = call i64 asm "", "=r,0"(i64 %j)
; CHECK-NEXT: %[[WAY:.*]] = sub i64 %[[END]], 0
; CHECK-NEXT: %[[ROUNDS:.*]] = udiv i64 %[[WAY]], 3
; CHECK-NEXT: mul i64 %[[ROUNDS]], 11
define i64 @thirds(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %triples
triples:
  %i = phi i64 [ 0, %entry ], [ %j, %triples ]
  %at = getelementptr i8, ptr %p, i64 %i
  store i8 0, ptr %at
  %j = add nuw nsw i64 %i, 3
  %more = icmp ult i64 %j, %n
  br i1 %more, label %triples, label %end
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %n
}
