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
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "region/Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <utility>

#define DEBUG_TYPE "cosy-loop-analyses"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumSearched,
                         "Number of functions searched for system calls");
ALWAYS_ENABLED_STATISTIC(NumFrequencies,
                         "Number of functions whose frequencies were computed");

/// True for a function of libc's that only computes, in a compound.
bool cosy::isComputed(StringRef Name) {
  if (const Wrapper *W = findWrapper(Name))
    return !W->MakesCalls;
  return Name == "__errno_location" || isLocator(Name) ||
         (isInRuntime(Name) && !runtimeMakesCalls(Name));
}

Makes SystemCalls::in(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(I) || Call->isInlineAsm())
    return Makes::Never;
  const Function *F = Call->getCalledFunction();
  if (!F)
    return Makes::Always;
  if (!F->isDeclaration())
    return in(*F);
  return isComputed(F->getName()) || isFormat(*Call) ? Makes::Never
                                                     : Makes::Always;
}

Makes SystemCalls::in(const BasicBlock &BB) {
  auto It = Blocks.find(&BB);
  if (It != Blocks.end())
    return It->second;
  return Blocks[&BB] = search(BB);
}

Makes SystemCalls::search(const BasicBlock &BB) {
  Makes Ret = Makes::Never;
  for (const Instruction &I : BB)
    Ret = std::max(Ret, in(I));
  return Ret;
}

Makes SystemCalls::in(const Function &F) {
  auto [It, New] = Functions.insert({&F, Makes::Sometimes});
  if (!New) {
    Recursive |= Active.contains(&F);
    return It->second;
  }
  Active.insert(&F);
  Makes Ret = search(F);
  Active.erase(&F);
  // What was found within a recursion holds for the function only with which
  // the search began.
  if (Active.empty() && std::exchange(Recursive, false))
    Functions.clear();
  return Functions[&F] = Ret;
}

Makes SystemCalls::search(const Function &F) {
  ++NumSearched;
  if (none_of(F,
              [&](const BasicBlock &BB) { return search(BB) != Makes::Never; }))
    return Makes::Never;
  return returnsWithoutCall(F) ? Makes::Sometimes : Makes::Always;
}

bool SystemCalls::returnsWithoutCall(const Function &F) {
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Work{&F.getEntryBlock()};
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (!Seen.insert(BB).second || search(*BB) == Makes::Always)
      continue;
    if (isa<ReturnInst>(BB->getTerminator()))
      return true;
    append_range(Work, successors(BB));
  }
  return false;
}

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

bool LoopAnalyses::countsLosses(const Loop &L) {
  auto It = Losses.find(&L);
  if (It != Losses.end())
    return It->second;
  return Losses[&L] = canCountLosses(L, *this);
}

const LoopCounts &LoopAnalyses::counts(const Loop &L) {
  std::unique_ptr<LoopCounts> &Ret = Counts[&L];
  if (!Ret)
    Ret = std::make_unique<LoopCounts>(countLoop(L, *this));
  return *Ret;
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
