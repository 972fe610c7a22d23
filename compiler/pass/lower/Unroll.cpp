// SPDX-License-Identifier: MIT
//===- Unroll.cpp - Unrolls small loops over memory -----------------------===//
//
// In a compound the loads and stores of straight code share a test, and each
// iteration of a loop spends fuel (docs/inside/sandbox.md).  So a small loop
// that calls nothing is unrolled:
//
//	loop:  c = load p		loop:  c = load p; test c
//	       test c			       c = load p + 1; test c
//	       p = p + 1		       ..
//	       br loop			       p = p + 8
//					       br loop
//
// This stage chooses the loops, by base/Iterations.cpp.  LLVM's unroller
// does it, with a loop for the iterations that remain if their number is known
// before the loop.  Every instruction costs at LOAD, also in processes whose
// loops are short, so there is a budget for a loop and one for the compound.
//
//===----------------------------------------------------------------------===//
#include "lower/Unroll.h"
#include "base/Iterations.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "lower/Optimize.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
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

/// Instructions of IR that all loops of a compound may have after.
static constexpr unsigned CompoundBudget = 384;

namespace {
/// Marks the loops that LLVM's unroller is to unroll.
struct ChooseLoops : PassInfoMixin<ChooseLoops> {
  Compound &C;
  unsigned Left = CompoundBudget;

  explicit ChooseLoops(Compound &C) : C(C) {}

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (Loop *L : LI.getLoopsInPreorder()) {
      unsigned Count =
          iterationsAtOnce(*L, SE, std::min(Left, UnrolledLoopBudget));
      if (Count < 2)
        continue;
      Left -= Count * sizeOfIteration(*L, SE);
      addStringMetadataToLoop(L, "llvm.loop.unroll.count", Count);
      C.Choices.push_back(
          {true,
           formatv("loop unrolled {0} times, with one test for its loads and "
                   "stores",
                   Count)
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
  // If the first iteration's index is a multiple of the count, InstCombine uses
  // `or` for the other indices, which hides that they are a constant away.
  FPM.addPass(SeparateConstOffsetFromGEPPass());
  FPM.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  FPM.addPass(SimplifyCFGPass());
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  runPasses(B, Passes);
}
