// SPDX-License-Identifier: MIT
//===- Exits.cpp - Early exits of a native twin ---------------------------===//
//
// Clang has a `return` leave a block by way of the clean-ups of the block's
// locals, with a number that says where to go after them.  In a twin locals are
// registers already, so LLVM would make the number of a loop's error exit by
// arithmetic, before it sees that there is a constant on each way, and have
// each round test it:
//
//   %n = phi [ 1, %error ], [ 0, %round ]      br label %exit   (in %error)
//   br (icmp eq %n, 0), %next, %exit           br label %next   (in %round)
//
// LLVM's jump threading goes straight on, while the constants are still there.
//
//===----------------------------------------------------------------------===//
#include "host/Exits.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"

#define DEBUG_TYPE "cosy-exits"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumThreaded,
                         "Number of functions whose exits were threaded");

/// True if the function has a region's way into the kernel.
static bool hasWayIn(const Function &F) {
  for (const Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      if (const Function *Callee = Call->getCalledFunction();
          Callee && Callee->getName() == "__cosy_enter")
        return true;
  return false;
}

PreservedAnalyses ExitsPass::run(Function &F, FunctionAnalysisManager &FAM) {
  if (!hasWayIn(F))
    return PreservedAnalyses::all();
  PreservedAnalyses PA = JumpThreadingPass().run(F, FAM);
  if (!PA.areAllPreserved())
    ++NumThreaded;
  return PA;
}
