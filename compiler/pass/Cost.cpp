// SPDX-License-Identifier: MIT
//===- Cost.cpp - What a region gains in the kernel -----------------------===//
//
// Estimates from the native twin's code and the measured costs of
// core/costs.h: each system call saves its crossing, each access to memory and
// each round of a loop costs more than outside.  Nobody knows how often a loop
// will go round, so one that makes no calls is assumed to be short.
//
//===----------------------------------------------------------------------===//
#include "CallTable.h"
#include "Region.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>
#include <costs.h>

using namespace llvm;
using namespace cosy;

/// Rounds that a loop is assumed to go.
static constexpr int64_t AssumedRounds = 64;

static Gain operator+(Gain A, Gain B) {
  return {A.Saved + B.Saved, A.Plain + B.Plain};
}
static Gain operator*(Gain A, int64_t N) { return {A.Saved * N, A.Plain * N}; }

static bool isCall(const Instruction &I) {
  return isa<CallBase>(I) && !isa<IntrinsicInst>(I);
}

bool cosy::roundsMakeCalls(const Loop &L, const LoopInfo &LI) {
  // Look for a way round without a call.  A call in an inner loop does not
  // count, since that may go no round at all.
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Work{L.getHeader()};
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (!L.contains(BB) || !Seen.insert(BB).second)
      continue;
    if (LI.getLoopFor(BB) == &L && any_of(*BB, isCall))
      continue;
    for (const BasicBlock *S : successors(BB)) {
      if (S == L.getHeader())
        return false;
      Work.push_back(S);
    }
  }
  return true;
}

namespace {
class Estimate {
  /// Results for functions that are called; 0 while one is looked at, for
  /// recursion.
  DenseMap<const Function *, Gain> Known;

public:
  /// Sums up a function, each loop for as many rounds as are assumed.
  Gain ofFunction(const Function &F) {
    auto [It, New] = Known.insert({&F, Gain{}});
    if (!New)
      return It->second;
    DominatorTree DT(const_cast<Function &>(F));
    LoopInfo LI(DT);
    Gain Ret = ofEntry(F, LI);
    for (const Loop *L : LI.getLoopsInPreorder())
      if (roundsMakeCalls(*L, LI))
        Ret = Ret + ofRound(*L, LI) * AssumedRounds;
    return Known[&F] = Ret;
  }

  /// Sums up the code that is in no loop whose rounds all make calls.
  Gain ofEntry(const Function &F, const LoopInfo &LI) {
    Gain Ret;
    for (const BasicBlock &BB : F)
      Ret = Ret + ofBlock(BB, nullptr, LI);
    return Ret;
  }

  /// Sums up one round, without inner loops whose rounds all make calls.
  Gain ofRound(const Loop &L, const LoopInfo &LI) {
    Gain Ret{-COSY_LOSS_ROUND, 0};
    for (const BasicBlock *BB : L.blocks())
      Ret = Ret + ofBlock(*BB, &L, LI);
    return Ret;
  }

private:
  /// Sums up a block, for each round of the loop or each entry of the function.
  /// The losses of an inner loop count for every assumed round, its calls once.
  Gain ofBlock(const BasicBlock &BB, const Loop *Around, const LoopInfo &LI) {
    int64_t Rounds = 1;
    for (const Loop *L = LI.getLoopFor(&BB); L != Around;
         L = L->getParentLoop()) {
      if (roundsMakeCalls(*L, LI))
        return {};
      Rounds = std::min(Rounds * AssumedRounds, AssumedRounds * AssumedRounds);
    }
    Gain Ret;
    for (const Instruction &I : BB) {
      Gain G = ofInstruction(I);
      Ret = Ret + (G.Saved > 0 ? G : G * Rounds);
    }
    const Loop *Own = LI.getLoopFor(&BB);
    if (Own != Around && Own->getHeader() == &BB)
      Ret.Saved -= COSY_LOSS_ROUND * Rounds;
    return Ret;
  }

  Gain ofInstruction(const Instruction &I) {
    if (const auto *Call = dyn_cast<CallBase>(&I))
      return isa<IntrinsicInst>(I) ? Gain{} : ofCall(*Call);
    const Value *Pointer = getLoadStorePointerOperand(&I);
    if (!Pointer)
      return {0, 1};
    // All but globals may be in the shared buffer, or in a register.
    bool Elsewhere = isa<GlobalVariable>(getUnderlyingObject(Pointer));
    return {Elsewhere ? -COSY_LOSS_ELSEWHERE : -COSY_LOSS_SHARED, 1};
  }

  Gain ofCall(const CallBase &Call) {
    const Function *F = Call.getCalledFunction();
    if (!F)
      return {};
    if (!F->isDeclaration())
      return ofFunction(*F);
    const Wrapper *W = findWrapper(F->getName());
    if (!W)
      return {0, COSY_PLAIN_CALL};
    if (!W->MakesCalls)
      return {-COSY_LOSS_STRING, 0};
    if (hasFastVersion(W->Number))
      return {COSY_GAIN_FAST, COSY_PLAIN_FAST};
    return {COSY_GAIN_CALL, COSY_PLAIN_CALL};
  }
};
} // namespace

void cosy::estimateGain(const Function &Body, ArrayRef<BasicBlock *> Heads,
                        RegionCost &Ret) {
  Estimate E;
  DominatorTree DT(const_cast<Function &>(Body));
  LoopInfo LI(DT);
  Gain Entry = E.ofEntry(Body, LI), All = Entry;
  Ret.Entry = Entry.Saved - COSY_COST_RUN;
  Ret.Loses = Ret.Entry <= 0;
  for (const BasicBlock *Head : Heads) {
    Gain Round = E.ofRound(*LI.getLoopFor(Head), LI);
    Ret.Rounds.push_back(Round.Saved);
    Ret.Loses &= Round.Saved <= 0;
    All = All + Round * AssumedRounds;
  }
  // The part saved of the cost outside: it turns the rule about the cost that
  // ran outside (core/costs.h) into one about the cost that would have been
  // saved.
  int64_t Share = All.Plain ? COSY_TIER_SHARE * All.Saved / All.Plain : 1;
  Ret.Share = std::clamp<int64_t>(Share, 1, COSY_TIER_SHARE);
}

uint64_t cosy::loadCost(size_t Instructions) {
  return COSY_COST_LOAD + uint64_t(COSY_COST_LOAD_INSN) * Instructions;
}
