; Operations that BPF lacks become those that it has.
; RUN: %stage=cosy-legalize %s 2>&1 | FileCheck %s
target triple = "bpfel"

declare void @exit(i32) noreturn nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; CHECK-DAG: 1 cosy-legalize - Number of calls that end a compound
; CHECK-DAG: 3 cosy-legalize - Number of atomic accesses put in terms of BPF
; CHECK-DAG: 1 cosy-legalize - Number of products and shifts of 128 bits
; CHECK-DAG: 1 cosy-legalize - Number of intrinsics that became operations on memory
; CHECK-DAG: 1 cosy-legalize - Number of places that are never reached

; The argument goes into the context, and the host makes the call.
; CHECK-LABEL: define i64 @cosy.main(
; CHECK: store i32 3, ptr %{{.*}}
; CHECK: ret i64 65536
define i64 @cosy.main(ptr %p) {
  %x = call i64 @rest(ptr %p, i64 1, i64 2)
  %end = icmp eq i64 %x, 5
  br i1 %end, label %out, label %back
out:
  call void @exit(i32 3)
  unreachable
back:
  ret i64 %x
}

; CHECK-LABEL: define internal i64 @rest(
; CHECK-NOT: mul i128
; CHECK: call void asm sideeffect "goto +0", "~{memory}"()
; CHECK-NEXT: load volatile i64, ptr %p
; CHECK-NEXT: call void asm sideeffect "goto +0", "~{memory}"()
; CHECK: atomicrmw add ptr %p, i64 %{{.*}} seq_cst
; CHECK: cmpxchg ptr %p
; CHECK: load i64, ptr %{{.*}}, align 1
; CHECK: call void @__cosy_call.65540.ppl(ptr %q, ptr %p, i64 100)
; CHECK: call void @__cosy_call.65537.()
define internal i64 @rest(ptr %p, i64 %a, i64 %b) {
  %q = getelementptr i8, ptr %p, i64 128
  %wa = zext i64 %a to i128
  %wb = zext i64 %b to i128
  %product = mul i128 %wa, %wb
  %high = lshr i128 %product, 64
  %part = trunc i128 %high to i64
  %v = load atomic i64, ptr %p acquire, align 8
  %o = atomicrmw sub ptr %p, i64 %b seq_cst
  %m = atomicrmw max ptr %p, i64 %b seq_cst
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 8, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 100, i1 false)
  %none = icmp eq i64 %part, 7
  br i1 %none, label %never, label %end
never:
  unreachable
end:
  ret i64 %v
}
