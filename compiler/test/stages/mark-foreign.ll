; A function that no header of the C library declares may be the program's own, whatever its name is.
; RUN: %stage=cosy-mark-foreign %s 2>&1 | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

declare i64 @read(i32, ptr, i64) "llvm.assume"="cosy_libc"
declare i32 @bind(i32, ptr, i32)
; Its name is the implementation's.
declare ptr @__errno_location()

; CHECK: 1 cosy-mark-foreign - Number of functions that may be the program's own
; CHECK: declare i64 @read(i32, ptr, i64) #[[LIBC:[0-9]+]]
; CHECK: declare i32 @bind(i32, ptr, i32) #[[OWN:[0-9]+]]
; CHECK: declare ptr @__errno_location(){{$}}
; CHECK: attributes #[[LIBC]] = { "llvm.assume"="cosy_libc" }
; CHECK: attributes #[[OWN]] = { "cosy-foreign" }
