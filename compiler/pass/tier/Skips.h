// SPDX-License-Identifier: MIT
//===- Skips.h - Iterations of a loop that make no call -------------------===//
#ifndef COSY_PASS_SKIPS_H
#define COSY_PASS_SKIPS_H

#include "tier/LoopAnalyses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>

namespace cosy {

/// How the iterations of a loop are counted natively: see Skips.cpp.
struct LoopCounts {
  /// At the head: the blocks of iterations without a call.
  std::optional<llvm::SmallVector<const llvm::BasicBlock *, 8>> Skipped;
  llvm::CallBase *Call = nullptr; ///< At this call and others.
  bool AddsUp = false;            ///< Where inner loops begin.
};

/// Finds out how the iterations of a loop are to be counted.  Skipped is set
/// where those without a call, if any, only see that none is needed.  Else Call
/// is the most frequent call that is in no inner loop, or AddsUp says that all
/// calls are in inner loops.  Neither is set where it would slow the other
/// iterations down too much to add up what they lose.
LoopCounts countLoop(const llvm::Loop &L, LoopAnalyses &A);

/// A function's loops with how each is counted, computed once.
struct CountedLoops : LoopAnalyses {
  using LoopAnalyses::LoopAnalyses;
  const LoopCounts &counts(const llvm::Loop &L);

private:
  llvm::DenseMap<const llvm::Loop *, std::unique_ptr<LoopCounts>> Counts;
};

} // namespace cosy

#endif // COSY_PASS_SKIPS_H
