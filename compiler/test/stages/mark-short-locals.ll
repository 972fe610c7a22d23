; A local of a recursive function that is not used after a recursive call, until its lifetime begins again, may be
; one object for all frames.  Not so one that is used after the call, whose address is kept, passed to the call, or
; comes back from an operation.
; RUN: %stage=cosy-mark-short-locals %s 2>&1 | FileCheck %s
target triple = "bpfel"

; CHECK: 2 cosy-mark-short-locals - Number of locals that end before recursive calls

; CHECK-LABEL: define internal void @walk(
; CHECK: %st = alloca [144 x i8], align 8, !cosy.short
; CHECK: %out = alloca [512 x i8], align 8, !cosy.short
; CHECK: %after = alloca [144 x i8], align 8{{$}}
; CHECK: %given = alloca [64 x i8], align 8{{$}}
; CHECK: %kept = alloca [64 x i8], align 8{{$}}
; CHECK: %found = alloca [64 x i8], align 8{{$}}
define internal void @walk(ptr %name, i64 %n) #0 {
entry:
  %st = alloca [144 x i8], align 8
  %out = alloca [512 x i8], align 8
  %after = alloca [144 x i8], align 8
  %given = alloca [64 x i8], align 8
  %kept = alloca [64 x i8], align 8
  %found = alloca [64 x i8], align 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @llvm.lifetime.start.p0(i64 144, ptr %st)
  call void @llvm.lifetime.start.p0(i64 512, ptr %out)
  %r = call i64 @__cosy_call.6.pp(ptr %name, ptr %st)
  %at = getelementptr i8, ptr %st, i64 24
  %mode = load i32, ptr %at
  %p = call i64 @writes(ptr %out)
  call void @llvm.lifetime.end.p0(i64 512, ptr %out)
  %q = call i64 @__cosy_call.6.pp(ptr %name, ptr %after)
  store ptr %kept, ptr %given
  %slash = call i64 @__cosy_call.65551.pl(ptr %found, i64 47)
  call void @walk(ptr %given, i64 %i)
  %size = load i64, ptr %after
  %char = inttoptr i64 %slash to ptr
  store i8 0, ptr %char
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

define internal i64 @writes(ptr %data) noinline {
entry:
  br label %loop
loop:
  %p = phi ptr [ %data, %entry ], [ %rest, %loop ]
  %n = call i64 @__cosy_call.1.lpl(i64 1, ptr %p, i64 8)
  %rest = getelementptr i8, ptr %p, i64 %n
  %more = icmp sgt i64 %n, 0
  br i1 %more, label %loop, label %end
end:
  ret i64 %n
}

define i64 @cosy.main(ptr %0) {
  call void @walk(ptr %0, i64 3)
  ret i64 0
}

declare i64 @__cosy_call.6.pp(ptr, ptr)
declare i64 @__cosy_call.1.lpl(i64, ptr, i64)
declare i64 @__cosy_call.65551.pl(ptr, i64)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)

attributes #0 = { noinline "cosy-recursive" }
