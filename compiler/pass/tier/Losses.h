// SPDX-License-Identifier: MIT
//===- Losses.h - What loops without calls would lose ---------------------===//
#ifndef COSY_PASS_LOSSES_H
#define COSY_PASS_LOSSES_H

#include "tier/LoopAnalyses.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cosy {

/// Gives loops the form in which their losses can be counted, where that is
/// possible.
void simplifyLoops(llvm::Function &F);
/// Has a native twin add up what these loops would have lost in the kernel.
/// Counts is asked for code, at a place before a loop, that tells whether
/// anybody still counts.  AtExit is called for each block where a loop ends,
/// with a place there and the sum.
void countLosses(
    llvm::Function &Twin,
    llvm::function_ref<llvm::Value *(llvm::BasicBlock::iterator)> Counts,
    llvm::function_ref<void(llvm::BasicBlock::iterator, llvm::Value *)> AtExit);

} // namespace cosy

#endif // COSY_PASS_LOSSES_H
