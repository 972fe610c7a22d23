// SPDX-License-Identifier: MIT
//===- Iterations.cpp - How many iterations a small loop does at once -----===//
//
// lower/Unroll.cpp unrolls the loops of a compound by this rule, and the tier
// estimates their cost by it.
//
//===----------------------------------------------------------------------===//
#include "base/Iterations.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <algorithm>

using namespace llvm;

/// Iterations at once.  The test and the step that they share are a small part
/// of eight iterations already.
static constexpr unsigned MaxCount = 8;

/// The same in a loop whose number of iterations is constant and at least
/// ManyIterations.  No loop for the rest is needed then.  In short iterations
/// the test and the step are a large part, so unrolling more still gains.
static constexpr unsigned ManyIterations = 512, MaxKnownCount = 32;

unsigned cosy::sizeOfIteration(const Loop &L, ScalarEvolution &SE) {
  unsigned Size = 0;
  bool Accesses = false;
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB) {
      if (isa<CallBase>(I) && (!isa<IntrinsicInst>(I) || isa<MemIntrinsic>(I)))
        return 0;
      if (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I))
        continue;
      ++Size;
      Accesses |= isa<LoadInst>(I) || isa<StoreInst>(I);
    }
  if (!Accesses)
    return 0;
  // If the number of iterations is constant, a sum, comparison and branch go.
  return SE.getSmallConstantTripCount(&L) ? std::max(Size, 4u) - 3 : Size;
}

unsigned cosy::iterationsAtOnce(const Loop &L, ScalarEvolution &SE,
                                unsigned Budget) {
  if (!L.isInnermost() || hasUnrollTransformation(&L) & TM_Disable)
    return 0;
  unsigned Size = sizeOfIteration(L, SE);
  if (!Size)
    return 0;
  // Take what the program or cosy-widen-loops asks for, or what gains most.
  unsigned Count = SE.getSmallConstantTripCount(&L) < ManyIterations
                       ? MaxCount
                       : MaxKnownCount;
  if (auto Asked = getOptionalIntLoopAttribute(&L, "llvm.loop.unroll.count"))
    Count = std::clamp<int>(*Asked, 1, MaxKnownCount);
  while (Count * Size > Budget)
    Count /= 2;
  unsigned Most = SE.getSmallConstantMaxTripCount(&L);
  return Most ? std::min(Count, Most) : Count;
}
