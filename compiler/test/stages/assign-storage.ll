; Locals go to the context, after the fields that are there, or to the software stack where a function recurses;
; a global's address is a field, a small table that a loop reads is copied, and of a larger one libcosy keeps a copy.
; RUN: %stage=cosy-assign-storage %s 2>&1 | FileCheck %s
target triple = "bpfel"

@global = external global i32
@table = available_externally constant [4 x i64] [i64 2, i64 3, i64 5, i64 7]
@larger = available_externally constant [100 x i64] zeroinitializer

declare ptr @__cosy_context()

; CHECK-DAG: 1 cosy-assign-storage - Number of locals in the context
; CHECK-DAG: 1 cosy-assign-storage - Number of locals on the software stack
; CHECK-DAG: 1 cosy-assign-storage - Number of globals whose addresses are fields
; CHECK-DAG: 1 cosy-assign-storage - Number of constant tables copied into the context
; CHECK-DAG: 1 cosy-assign-storage - Number of constant tables kept in the shared buffer

; CHECK-LABEL: define i64 @cosy.main(ptr %0)
; CHECK-NOT: alloca
; CHECK: %[[LOCAL:.*]] = getelementptr inbounds i8, ptr %0, i64 16
; CHECK: store i64 1, ptr %[[LOCAL]]
; CHECK: %[[G:.*]] = load ptr, ptr %
; CHECK: store i32 1, ptr %[[G]]
; CHECK-NOT: @__cosy_context
define i64 @cosy.main(ptr %0) {
entry:
  %local = alloca i64
  %ctx = call ptr @__cosy_context()
  %field = getelementptr i8, ptr %ctx, i64 8
  %n = load i64, ptr %field
  store i64 1, ptr %local
  store i32 1, ptr @global
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [4 x i64], ptr @table, i64 0, i64 %i
  %v = load i64, ptr %at
  %other = getelementptr [100 x i64], ptr @larger, i64 0, i64 %v
  %w = load i64, ptr %other
  %some = add i64 %i, %w
  %next = add i64 %some, %v
  %again = icmp ult i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  %r = call i64 @deep(i64 %next)
  ret i64 %r
}

; CHECK-LABEL: define internal i64 @deep(
; CHECK: call i64 @__cosy_call.65539.l(i64 16)
; CHECK-NOT: alloca
define internal i64 @deep(i64 %n) "cosy-recursive" {
  %own = alloca i64
  store volatile i64 %n, ptr %own
  %r = call i64 @deep(i64 %n)
  ret i64 %r
}
