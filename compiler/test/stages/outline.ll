; The code that enters the kernel becomes a function where a call need not come to a region, or the
; region loses, and stays where each call does.
; RUN: %stage=cosy-outline %s 2>&1 | FileCheck %s
; CHECK: 2 cosy-outline - Number of ways into the kernel put out of line
target triple = "x86_64-pc-linux-gnu"

; The seventh field is the compound's entry: none, so these are regions and not loops of one.
@region = internal global { i64, i64, i64, i64, i64, i64, ptr } { i64 1, i64 0, i64 0, i64 0, i64 0, i64 0, ptr null }
@also = internal global { i64, i64, i64, i64, i64, i64, ptr } { i64 1, i64 0, i64 0, i64 0, i64 0, i64 0, ptr null }
; The tenth field is flags: 2 is that the region loses.
@loses = internal global { i64, i64, i64, i64, i64, i64, ptr, i32, i32, i32 } { i64 1, i64 0, i64 0, i64 0, i64 0, i64 0, ptr null, i32 0, i32 0, i32 2 }

declare ptr @__cosy_enter(ptr)
declare i32 @__cosy_run(ptr)
declare i64 @native(i64)

; CHECK-LABEL: define i64 @lookup(
; CHECK: cached:
; CHECK-NEXT: ret i64 7
; CHECK: load i64, ptr @region
; CHECK-NOT: @__cosy_
; CHECK: call {{.*}} @lookup.cosy.enter(
; CHECK-NOT: @__cosy_
; CHECK: call i64 @native(
define i64 @lookup(i64 %x) {
entry:
  %hit = icmp ne i64 %x, 0
  br i1 %hit, label %cached, label %ask
cached:
  ret i64 7
ask:
  %left = load i64, ptr @region
  %open = icmp ule i64 %left, 2147483647
  br i1 %open, label %stay, label %settled
settled:
  %earned = icmp slt i64 %left, 0
  br i1 %earned, label %enter, label %stay
enter:
  %context = call ptr @__cosy_enter(ptr @region)
  %none = icmp eq ptr %context, null
  br i1 %none, label %stay, label %run
run:
  %r = call i32 @__cosy_run(ptr %context)
  %v = load i64, ptr %context
  br label %join
stay:
  %n = call i64 @native(i64 %x)
  br label %join
join:
  %sum = phi i64 [ %v, %run ], [ %n, %stay ]
  ret i64 %sum
}

; CHECK-LABEL: define i64 @always(
; CHECK: call ptr @__cosy_enter(
define i64 @always(i64 %x) {
entry:
  %left = load i64, ptr @also
  %open = icmp ule i64 %left, 2147483647
  br i1 %open, label %stay, label %settled
settled:
  %earned = icmp slt i64 %left, 0
  br i1 %earned, label %enter, label %stay
enter:
  %context = call ptr @__cosy_enter(ptr @also)
  %none = icmp eq ptr %context, null
  br i1 %none, label %stay, label %run
run:
  %r = call i32 @__cosy_run(ptr %context)
  %v = load i64, ptr %context
  br label %join
stay:
  %n = call i64 @native(i64 %x)
  br label %join
join:
  %sum = phi i64 [ %v, %run ], [ %n, %stay ]
  ret i64 %sum
}

; CHECK-LABEL: define i64 @native_only(
; CHECK-NOT: @__cosy_
; CHECK: call {{.*}} @native_only.cosy.enter(
define i64 @native_only(i64 %x) {
entry:
  %left = load i64, ptr @loses
  %ask = icmp slt i64 %left, 0
  br i1 %ask, label %enter, label %stay
enter:
  %context = call ptr @__cosy_enter(ptr @loses)
  %none = icmp eq ptr %context, null
  br i1 %none, label %stay, label %run
run:
  %r = call i32 @__cosy_run(ptr %context)
  %v = load i64, ptr %context
  br label %join
stay:
  %n = call i64 @native(i64 %x)
  br label %join
join:
  %sum = phi i64 [ %v, %run ], [ %n, %stay ]
  ret i64 %sum
}

; CHECK: define internal {{.*}} @lookup.cosy.enter(
; CHECK: call ptr @__cosy_enter(
; CHECK: call i32 @__cosy_run(
