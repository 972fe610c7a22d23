// SPDX-License-Identifier: MIT
//===- Exits.cpp - Early exits of a native twin ---------------------------===//
//
// Clang sends a `return` through the clean-ups of the locals of each block that
// it leaves, with a number that selects where to go after them.  In a twin the
// locals are registers already.  So LLVM would compute the number of a loop's
// error exit by arithmetic, before it sees that it is a constant on each path,
// and each iteration would test it:
//
//   %n = phi [ 1, %error ], [ 0, %body ]       br label %exit   (in %error)
//   br (icmp eq %n, 0), %next, %exit           br label %next   (in %body)
//
// LLVM's jump threading removes the test while the constants are still there.
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
