// SPDX-License-Identifier: MIT
//===- Atomics.h - Atomic accesses ----------------------------------------===//
#ifndef COSY_PASS_ATOMICS_H
#define COSY_PASS_ATOMICS_H

#include "base/Reason.h"
#include "lower/BpfModule.h"

namespace cosy {

/// Keeps a volatile load in its place among the other loads.
void keepOrder(llvm::LoadInst *L);

/// Keeps the loads before an empty assembly that may access memory before those
/// after it.
void keepOrder(llvm::CallInst *Asm);

/// Handles an atomic access, fence, exchange or update; false when I is none.
bool legalizeAtomic(BpfModule &B, llvm::Instruction *I, Reasons &Why);

} // namespace cosy

#endif // COSY_PASS_ATOMICS_H
