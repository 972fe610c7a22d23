; Loops over bytes that search, compare, count or add up take eight at once; others are left alone.
; RUN: %stage=cosy-widen-loops %s 2>&1 | FileCheck %s
; CHECK: 5 cosy-widen-loops - Number of loops that take words
target triple = "bpfel"
declare i64 @__cosy_call.0.lpl(i64, ptr, i64)

; All bytes of the words are the local's, so no page is looked at.
; CHECK-LABEL: define i64 @cosy.main(
; CHECK: [[WORD:%.*]] = load i64, ptr
; CHECK: xor i64 [[WORD]], 9114861777597660798
; CHECK-NOT: 4095
; CHECK: load i8
; CHECK: icmp eq i64 %{{.*}}, 4096
; CHECK: ret i64
define i64 @cosy.main(ptr %context) {
entry:
  %text = alloca [4096 x i8]
  %got = call i64 @__cosy_call.0.lpl(i64 0, ptr %text, i64 4096)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %at = getelementptr i8, ptr %text, i64 %i
  %c = load i8, ptr %at
  %is = icmp eq i8 %c, 126
  br i1 %is, label %end, label %more
more:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 4096
  br i1 %done, label %end, label %loop
end:
  %found = phi i64 [ %i, %loop ], [ 4096, %more ]
  ret i64 %found
}

; Nothing is known of the object: words that cross into another page are left to the bytes, which
; go back to words.
; CHECK-LABEL: define i64 @length(
; CHECK: call ptr asm "", "=r,0"(ptr %p)
; CHECK: and i64 %{{.*}}, 4095
; CHECK: icmp ugt i64 %{{.*}}, 4088
; CHECK: load i64, ptr
; CHECK: load i8
; CHECK: and i64 %{{.*}}, 7
; CHECK: ret i64
define i64 @length(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %loop
end:
  ret i64 %i
}

; The second byte is only there where the first is not the end: each word has its own test, in order.
; CHECK-LABEL: define i64 @same(
; CHECK: [[A:%.*]] = load i64, ptr
; CHECK: sub i64 72340172838076672, [[A]]
; CHECK: br i1
; CHECK: [[B:%.*]] = load i64, ptr
; CHECK: icmp eq i64 [[A]], [[B]]
; CHECK: load i8
; CHECK: ret i64
define i64 @same(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %more
more:
  %other = getelementptr i8, ptr %q, i64 %i
  %d = load i8, ptr %other
  %next = add nuw nsw i64 %i, 1
  %equal = icmp eq i8 %c, %d
  br i1 %equal, label %loop, label %end
end:
  ret i64 %i
}

; Every byte is added up whatever they are: no page is looked at, and eight make one sum.
; CHECK-LABEL: define i64 @sum(
; CHECK: load i64, ptr
; CHECK-NOT: 4095
; CHECK: mul i64 %{{.*}}, 281479271743489
; CHECK: lshr i64 %{{.*}}, 48
; CHECK: load i8
; CHECK: ret i64
define i64 @sum(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %v = zext i8 %c to i64
  %more = add i64 %sum, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}

; A number that may be no byte.
; CHECK-LABEL: define i32 @count(
; CHECK: select i1 %{{.*}}, i64 0, i64 72340172838076673
; CHECK: load i64, ptr
; CHECK: mul i64 %{{.*}}, 72340172838076673
; CHECK: lshr i64 %{{.*}}, 56
; CHECK: load i8
; CHECK: ret i32
define i32 @count(ptr %p, i64 %n, i32 %which) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %v = sext i8 %c to i32
  %is = icmp eq i32 %v, %which
  %one = zext i1 %is to i32
  %more = add i32 %sum, %one
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret i32 %more
}

; Each of these has something that cannot be done for eight bytes at once.
; CHECK-LABEL: define i64 @stores(
; CHECK-NOT: load i64
; CHECK-LABEL: define i64 @steps(
; CHECK-NOT: load i64
; CHECK-LABEL: define i64 @hashes(
; CHECK-NOT: load i64
; CHECK-LABEL: define i64 @watches(
; CHECK-NOT: load i64
; CHECK-LABEL: define i64 @short(
; CHECK-NOT: load i64
define i64 @stores(ptr %p, ptr %q) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %to = getelementptr i8, ptr %q, i64 %i
  store i8 %c, ptr %to
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %loop
end:
  ret i64 %i
}

define i64 @steps(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %next = add nuw nsw i64 %i, 2
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %loop
end:
  ret i64 %i
}

define i64 @hashes(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %v = zext i8 %c to i64
  %x = mul i64 %sum, 31
  %more = add i64 %x, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}

define i64 @watches(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load volatile i8, ptr %at
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %loop
end:
  ret i64 %i
}

define i64 @short(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %p, i64 %i
  %c = load i8, ptr %at
  %v = zext i8 %c to i64
  %more = add i64 %sum, %v
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 12
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}
