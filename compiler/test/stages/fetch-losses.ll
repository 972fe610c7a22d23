; Loads of nearby bytes outside the shared buffer lose less together than alone, as the sandbox
; fetches them: in a block, and in the iterations that a compound does at once.
; RUN: %stage=cosy-count-losses %s 2>&1 | FileCheck %s
; RUN: sed 's/@allocate/@cosy_malloc/' %s | %stage=cosy-count-losses - 2>&1 | FileCheck %s \
; RUN:   --check-prefix=MALLOC
target triple = "x86_64-pc-linux-gnu"

@text = internal global [4096 x i8] zeroinitializer
%entry = type { i64, i64, i64, i64 }
@table = internal global [100 x %entry] zeroinitializer

declare i32 @__cosy_region_start(i32)
declare void @__cosy_region_end(ptr)
declare i64 @read(i32, ptr, i64)
declare ptr @allocate(i64)

; Eight bytes by one thunk: 17 and 2 for their word; and 6 for the fuel of eight iterations.
; CHECK-LABEL: define internal void @hash.cosy(
; CHECK: %{{cosy.lost.*}} = add i64 %{{.*}}, 3{{$}}
define i64 @hash(i32 %fd) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr @text, i64 4095)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %h = phi i64 [ 0, %entry ], [ %mixed, %more ]
  %at = getelementptr i8, ptr @text, i64 %i
  %c = load i8, ptr %at
  %ends = icmp eq i8 %c, 0
  br i1 %ends, label %end, label %more
more:
  %byte = zext i8 %c to i64
  %times = mul i64 %h, 33
  %mixed = add i64 %times, %byte
  %next = add i64 %i, 1
  br label %loop
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %h
}

; All fields of four iterations by one thunk, on both ways: 17 and 32; and 6 for their fuel.
; CHECK-LABEL: define internal void @fields.cosy(
; CHECK: %{{cosy.lost.*}} = add i64 %{{.*}}, 14{{$}}
define i64 @fields(i32 %fd) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr @table, i64 3200)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %h = phi i64 [ 0, %entry ], [ %result, %join ]
  %a.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 0
  %b.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 1
  %c.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 2
  %d.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 3
  %a = load i64, ptr %a.at
  %b = load i64, ptr %b.at
  %c = load i64, ptr %c.at
  %d = load i64, ptr %d.at
  %ab = xor i64 %a, %b
  %cd = xor i64 %c, %d
  %all = xor i64 %ab, %cd
  %times = mul i64 %h, 31
  %mixed = add i64 %times, %all
  %odd = trunc i64 %mixed to i1
  br i1 %odd, label %other, label %join
other:
  %turned = xor i64 %mixed, 85
  br label %join
join:
  %result = phi i64 [ %mixed, %loop ], [ %turned, %other ]
  %next = add i64 %i, 1
  %done = icmp uge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %result
}

; A store to a place that is not known ends the fetch.  It is 5 itself.
; CHECK-LABEL: define internal void @stored.cosy(
; CHECK: %{{cosy.lost.*}} = add i64 %{{.*}}, 36{{$}}
define i64 @stored(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr @table, i64 3200)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %h = phi i64 [ 0, %entry ], [ %result, %join ]
  %a.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 0
  %b.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 1
  %c.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 2
  %d.at = getelementptr [100 x %entry], ptr @table, i64 0, i64 %i, i32 3
  %a = load i64, ptr %a.at
  %b = load i64, ptr %b.at
  store i64 %h, ptr %p
  %c = load i64, ptr %c.at
  %d = load i64, ptr %d.at
  %ab = xor i64 %a, %b
  %cd = xor i64 %c, %d
  %all = xor i64 %ab, %cd
  %times = mul i64 %h, 31
  %mixed = add i64 %times, %all
  %odd = trunc i64 %mixed to i1
  br i1 %odd, label %other, label %join
other:
  %turned = xor i64 %mixed, 85
  br label %join
join:
  %result = phi i64 [ %mixed, %loop ], [ %turned, %other ]
  %next = add i64 %i, 1
  %done = icmp uge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %result
}

; Natively this becomes vector code, so it counts as it is written.
; CHECK-LABEL: define internal void @sum.cosy(
; CHECK: %{{cosy.lost.*}} = add i64 %{{.*}}, 23{{$}}
define i32 @sum(i32 %fd) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr @table, i64 3200)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %sum, %loop ]
  %at = getelementptr i32, ptr @table, i64 %i
  %v = load i32, ptr %at
  %sum = add i32 %s, %v
  %next = add i64 %i, 1
  %done = icmp uge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  call void @__cosy_region_end(ptr %token)
  ret i32 %sum
}

; Nodes lie outside the buffer, and two loads count as made alone: 17 each.  In a file that
; allocates in the buffer they may lie there: 5 each.
; CHECK-LABEL: define internal void @nodes.cosy(
; CHECK: %{{cosy.lost.*}} = add i64 %{{.*}}, 35{{$}}
; MALLOC-LABEL: define internal void @nodes.cosy(
; MALLOC: %{{cosy.lost.*}} = add i64 %{{.*}}, 11{{$}}
define i64 @nodes(i32 %fd, ptr %p) {
entry:
  %token = alloca i32
  %start = call i32 @__cosy_region_start(i32 12)
  store i32 %start, ptr %token
  %n = call i64 @read(i32 %fd, ptr %p, i64 8)
  br label %walk
walk:
  %q = phi ptr [ %p, %entry ], [ %r, %walk ]
  %s = phi i64 [ 0, %entry ], [ %sum, %walk ]
  %value.at = getelementptr i8, ptr %q, i64 8
  %r = load ptr, ptr %q
  %value = load i64, ptr %value.at
  %sum = add i64 %s, %value
  %more = icmp ne ptr %r, null
  br i1 %more, label %walk, label %end
end:
  call void @__cosy_region_end(ptr %token)
  ret i64 %sum
}
