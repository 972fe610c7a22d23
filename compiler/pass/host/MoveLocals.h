// SPDX-License-Identifier: MIT
//===- MoveLocals.h - Locals that regions touch, in the shared buffer -----===//
#ifndef COSY_PASS_MOVELOCALS_H
#define COSY_PASS_MOVELOCALS_H

#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/ValueHandle.h"

namespace cosy {

/// Moves the locals of F that its regions' inputs lead to into the shared
/// buffer.  Regions are those of F; their counts tell whether a frame pays.
void moveLocals(llvm::Function &F, llvm::ArrayRef<llvm::WeakTrackingVH> Inputs,
                llvm::ArrayRef<llvm::GlobalVariable *> Regions);

} // namespace cosy

#endif // COSY_PASS_MOVELOCALS_H
