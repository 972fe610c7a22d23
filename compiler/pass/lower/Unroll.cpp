// SPDX-License-Identifier: MIT
//===- Unroll.cpp - Loops over memory go several rounds at once -----------===//
//
// In a compound the loads and stores of straight code share a test, and each
// round of a loop spends fuel (docs/inside/sandbox.md).  So a small loop that
// calls nothing goes several rounds at once:
//
//	loop:  c = load p		loop:  c = load p; test c
//	       test c			       c = load p + 1; test c
//	       p = p + 1		       ..
//	       br loop			       p = p + 8
//					       br loop
//
// This stage chooses the loops and the rounds; LLVM's unroller does the rest,
// with a loop for the rounds that remain where their number is known before.
// Every instruction is paid for at LOAD, also in processes whose loops are
// short, so there is a budget for a loop and one for the compound.
//
//===----------------------------------------------------------------------===//
#include "lower/Unroll.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "lower/Optimize.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#define DEBUG_TYPE "cosy-unroll-loops"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumUnrolled, "Number of loops unrolled");

/// Rounds at once.  The test and the step that they share are a small part of
/// eight rounds already.
static constexpr unsigned MaxRounds = 8;

/// Rounds at once of a loop that is known to have ManyRounds or more.  No loop
/// for the rest is needed then, and in a round of few instructions the test and
/// the step are a large part, so more rounds at once still gain.
static constexpr unsigned ManyRounds = 512, MaxKnownRounds = 32;

/// Instructions of IR that a loop, and all loops of a compound, may have after.
static constexpr unsigned LoopBudget = 128, CompoundBudget = 384;

/// Returns how many instructions a round has, 0 if unrolling gains nothing.
static unsigned sizeOfRound(const Loop &L, ScalarEvolution &SE) {
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
  // Known rounds are not counted one by one: no sum, comparison and branch.
  return SE.getSmallConstantTripCount(&L) ? std::max(Size, 4u) - 3 : Size;
}

static unsigned roundsAtOnce(const Loop &L, ScalarEvolution &SE,
                             unsigned Budget) {
  if (!L.isInnermost() || hasUnrollTransformation(&L) & TM_Disable)
    return 0;
  unsigned Size = sizeOfRound(L, SE);
  if (!Size)
    return 0;
  // Take what the program or cosy-widen-loops asks for, or what gains most.
  unsigned Rounds = SE.getSmallConstantTripCount(&L) < ManyRounds
                        ? MaxRounds
                        : MaxKnownRounds;
  if (auto Asked = getOptionalIntLoopAttribute(&L, "llvm.loop.unroll.count"))
    Rounds = std::clamp<int>(*Asked, 1, MaxKnownRounds);
  while (Rounds * Size > Budget)
    Rounds /= 2;
  unsigned Most = SE.getSmallConstantMaxTripCount(&L);
  return Most ? std::min(Rounds, Most) : Rounds;
}

namespace {
/// Writes down for the unroller which loops it is to unroll.
struct ChooseLoops : PassInfoMixin<ChooseLoops> {
  Compound &C;
  unsigned Left = CompoundBudget;

  explicit ChooseLoops(Compound &C) : C(C) {}

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (Loop *L : LI.getLoopsInPreorder()) {
      unsigned Rounds = roundsAtOnce(*L, SE, std::min(Left, LoopBudget));
      if (Rounds < 2)
        continue;
      Left -= Rounds * sizeOfRound(*L, SE);
      addStringMetadataToLoop(L, "llvm.loop.unroll.count", Rounds);
      C.Choices.push_back(
          {true,
           formatv("loop unrolled {0} times, with one test for its loads and "
                   "stores",
                   Rounds)
               .str(),
           L->getStartLoc()});
      ++NumUnrolled;
    }
    return PreservedAnalyses::all();
  }
};
} // namespace

void cosy::unrollLoops(BpfModule &B, Compound &C) {
  FunctionPassManager FPM;
  FPM.addPass(ChooseLoops(C));
  FPM.addPass(LoopUnrollPass(LoopUnrollOptions(2, /*OnlyWhenForced=*/true)));
  FPM.addPass(InstCombinePass());
  // Where a round begins at a multiple of so many, the others' indices are made
  // by `or`, which hides that their places are constants away from its own.
  FPM.addPass(SeparateConstOffsetFromGEPPass());
  FPM.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  FPM.addPass(SimplifyCFGPass());
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  runPasses(B, Passes);
}
