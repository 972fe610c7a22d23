// SPDX-License-Identifier: MIT
//===- PendingLosses.h - What iterations lose until the next call ---------===//
#ifndef COSY_PASS_PENDINGLOSSES_H
#define COSY_PASS_PENDINGLOSSES_H

#include "region/Extracted.h"
#include "tier/LoopAnalyses.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace cosy {

/// Has a region's twin keep what iterations of loops lose until it is counted.
class PendingLosses {
  Extracted &R;
  llvm::ValueToValueMapTy &Map; ///< From the region's body, which stays.
  LoopAnalyses A;               ///< Of the body.

public:
  PendingLosses(Extracted &R, llvm::ValueToValueMapTy &Map);

  /// Does so for the loop around a way in of the body at a call: the loop's
  /// calls in R.Seldom count what was lost before them.  Returns the local with
  /// what was lost before the way in's own call, which code at the end of the
  /// way in's block is to count and clear.
  llvm::AllocaInst *keepAtCalls(llvm::BasicBlock &WayIn, int64_t Loss);
  /// Does so for the loop with this head: the beginnings of inner loops count.
  void keepAtInnerLoops(llvm::BasicBlock &Head, int64_t Loss);

private:
  std::optional<LoopCounter> counterInTwin(const llvm::Loop &L);
};

} // namespace cosy

#endif // COSY_PASS_PENDINGLOSSES_H
