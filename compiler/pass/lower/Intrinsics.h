// SPDX-License-Identifier: MIT
//===- Intrinsics.h - Intrinsics that BPF lacks ---------------------------===//
#ifndef COSY_PASS_INTRINSICS_H
#define COSY_PASS_INTRINSICS_H

#include "lower/BpfModule.h"
#include "llvm/IR/IntrinsicInst.h"

namespace cosy {

/// Calls, before an intrinsic on memory, the operation that stands for it.
void createMemoryOperation(BpfModule &B, llvm::MemIntrinsic *Mem);
/// Returns null when done, else what to refuse; "" to refuse it by its own
/// name.
const char *legalizeIntrinsic(BpfModule &B, llvm::CallInst *Call);

} // namespace cosy

#endif // COSY_PASS_INTRINSICS_H
