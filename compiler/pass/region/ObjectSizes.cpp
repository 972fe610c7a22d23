// SPDX-License-Identifier: MIT
//===- ObjectSizes.cpp - The sizes that _FORTIFY_SOURCE compares with -----===//
//
// What a region uses becomes memory whose size LLVM cannot know: an argument of
// the region's function, a place in the shared buffer (MoveLocals.cpp).  So the
// sizes that are known before that are put in place first, in all of a function
// that has regions:
//
//   %size = call i64 @llvm.objectsize.i64.p0(ptr %local, i1 false, ...)
//
// The C library asks for them in functions that are always inlined, with their
// argument: those are inlined here.
//
//===----------------------------------------------------------------------===//
#include "region/ObjectSizes.h"
#include "region/Normalize.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

#define DEBUG_TYPE "cosy-object-sizes"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumSizes, "Number of objects whose size was known");

static SmallVector<IntrinsicInst *, 8> sizesAskedIn(Function &F) {
  SmallVector<IntrinsicInst *, 8> Ret;
  for (Instruction &I : instructions(F))
    if (auto *Size = dyn_cast<IntrinsicInst>(&I);
        Size && Size->getIntrinsicID() == Intrinsic::objectsize)
      Ret.push_back(Size);
  return Ret;
}

/// Inlines calls of functions that are always inlined and ask for a size.
static bool inlineAsking(Function &F) {
  SmallVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && Callee != &F && !Callee->isDeclaration() &&
        Callee->hasFnAttribute(Attribute::AlwaysInline) &&
        !sizesAskedIn(*Callee).empty())
      Calls.push_back(Call);
  }
  bool Any = false;
  for (CallBase *Call : Calls) {
    InlineFunctionInfo Info;
    Any |= InlineFunction(*Call, Info).isSuccess();
  }
  return Any;
}

void cosy::resolveObjectSizes(Function &F, FunctionAnalysisManager &FAM) {
  if (inlineAsking(F))
    normalizeFunction(F, FAM);
  auto &TLI = FAM.getResult<TargetLibraryAnalysis>(F);
  for (IntrinsicInst *Size : sizesAskedIn(F)) {
    Value *Known = lowerObjectSizeCall(Size, F.getParent()->getDataLayout(),
                                       &TLI, /*MustSucceed=*/false);
    if (!Known)
      continue;
    Size->replaceAllUsesWith(Known);
    Size->eraseFromParent();
    ++NumSizes;
  }
  FAM.invalidate(F, PreservedAnalyses::none());
}
