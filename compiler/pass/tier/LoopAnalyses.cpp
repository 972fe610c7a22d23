// SPDX-License-Identifier: MIT
//===- LoopAnalyses.cpp - A function's loops and their calls --------------===//
//
// What the stages on native loops ask about a function while it does not
// change: which blocks make system calls, how often they run, how each loop is
// counted.  Each answer is computed once, so that a stage may ask for every
// block of a large loop.
//
//===----------------------------------------------------------------------===//
#include "tier/LoopAnalyses.h"
#include "tier/SystemCalls.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <utility>

#define DEBUG_TYPE "cosy-loop-analyses"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumFrequencies,
                         "Number of functions whose frequencies were computed");

LoopAnalyses::LoopAnalyses(Function &F)
    : Libc(Triple(F.getParent()->getTargetTriple())), TLI(Libc, &F), AC(F),
      DT(F), LI(DT), SE(F, TLI, AC, DT, LI) {}

bool LoopAnalyses::mayMakeCall(const Loop &L) {
  auto [It, New] = CallsOf.insert({&L, false});
  if (New)
    It->second = any_of(L.blocks(),
                        [&](const BasicBlock *BB) { return mayMakeCall(*BB); });
  return It->second;
}

CallBase *LoopAnalyses::firstCall(BasicBlock &BB) {
  for (Instruction &I : BB)
    if (Calls.in(I) == Makes::Always)
      return cast<CallBase>(&I);
  return nullptr;
}

void LoopAnalyses::findFrequencies() {
  if (BFI)
    return;
  ++NumFrequencies;
  const Function &F = *DT.getRoot()->getParent();
  BPI = std::make_unique<BranchProbabilityInfo>(F, LI, &TLI, &DT);
  BFI = std::make_unique<BlockFrequencyInfo>(F, *BPI, LI);
}

double LoopAnalyses::frequency(const BasicBlock &BB) {
  findFrequencies();
  return BFI->getBlockFreq(&BB).getFrequency();
}

double LoopAnalyses::frequency(const BasicBlock &From, const BasicBlock &To) {
  findFrequencies();
  return (BFI->getBlockFreq(&From) * BPI->getEdgeProbability(&From, &To))
      .getFrequency();
}

static bool hasPadExit(const Loop &L) {
  SmallVector<BasicBlock *, 4> Exits;
  L.getExitBlocks(Exits);
  return any_of(Exits, [](const BasicBlock *BB) { return BB->isEHPad(); });
}

bool LoopAnalyses::canCountLosses(const Loop &L) {
  const Loop *Parent = L.getParentLoop();
  return !mayMakeCall(L) && (!Parent || mayMakeCall(*Parent)) &&
         L.getLoopPreheader() && L.hasDedicatedExits() && !hasPadExit(L);
}

bool LoopAnalyses::countsLosses(const Loop &L) {
  auto It = Losses.find(&L);
  if (It != Losses.end())
    return It->second;
  return Losses[&L] = canCountLosses(L);
}

std::optional<LoopCounter> cosy::findCounter(const Loop &L, LoopAnalyses &A) {
  const DataLayout &DL = L.getHeader()->getDataLayout();
  for (PHINode &Phi : L.getHeader()->phis()) {
    if (!A.SE.isSCEVable(Phi.getType()))
      continue;
    const auto *Place = dyn_cast<SCEVAddRecExpr>(A.SE.getSCEV(&Phi));
    const auto *Step =
        Place && Place->getLoop() == &L && Place->isAffine()
            ? dyn_cast<SCEVConstant>(Place->getStepRecurrence(A.SE))
            : nullptr;
    unsigned Bits = DL.getTypeSizeInBits(Phi.getType());
    // Leave the difference of two values room for many iterations.
    if (Step && !Step->isZero() && (Bits == 32 || Bits == 64) &&
        Step->getAPInt().abs().ult(1 << Bits / 4))
      return LoopCounter{&Phi, Step->getAPInt().getSExtValue()};
  }
  return std::nullopt;
}
