// SPDX-License-Identifier: MIT
//===- PendingLosses.cpp - What iterations lose until the next call -------===//
//
// Where a loop is counted at its calls (Skips.cpp), the native twin takes what
// the iterations since the last call would have lost in the kernel off what the
// next call saves.  The loop's end counts the rest.
//
//   loop:                            loop:
//     %i = phi i64 [ 0, .. ], ..       %i = phi i64 [ 0, .. ], ..
//     ..                               ..
//     br .., %call, %next              br .., %call, %next
//   call:                            call:
//                                      %lost = 11 * (%i - %last)
//                                      %last = %i
//                                      <left -= 939 - %lost>
//     call i32 @lstat(..)              call i32 @lstat(..)
//
// Where no value of the loop changes by the same step in each iteration, as an
// index does, a register adds up: one instruction more in each iteration.
//
//===----------------------------------------------------------------------===//
#include "tier/PendingLosses.h"
#include "region/Extracted.h"
#include "tier/LoopAnalyses.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#define DEBUG_TYPE "cosy-pending-losses"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumByCounter,
                         "Number of loops whose iterations a value counts");
ALWAYS_ENABLED_STATISTIC(NumAdded,
                         "Number of loops whose iterations are added up");

namespace {
/// Keeps what the iterations of one of the twin's loops lose.
class Pending {
  Extracted &R;
  const Loop &L;
  int64_t Loss; ///< Of an iteration.
  std::optional<LoopCounter> Counter;
  AllocaInst *Lost;
  AllocaInst *Last = nullptr; ///< The counter, one step before what counts.

public:
  Pending(Extracted &R, const Loop &L, int64_t Loss,
          std::optional<LoopCounter> Counter)
      : R(R), L(L), Loss(Loss), Counter(Counter) {
    IRBuilder<> B(&R.Twin->front(), R.Twin->front().begin());
    Lost = B.CreateAlloca(B.getInt64Ty(), nullptr, "cosy.lost");
    if (Counter)
      beginCounter();
    else
      addUp();
    ++(Counter ? NumByCounter : NumAdded);
    SmallVector<BasicBlock *, 4> Exits;
    if (L.hasDedicatedExits())
      L.getUniqueExitBlocks(Exits);
    for (BasicBlock *Exit : Exits)
      if (!Exit->isEHPad())
        countAt(*Exit->getFirstInsertionPt());
  }

  /// Returns what is lost at this place, in a local which the code there
  /// clears.
  AllocaInst *lostAt(Instruction &Place) {
    if (!Counter)
      return Lost;
    IRBuilder<> B(&Place);
    Value *Now = counted(B, Counter->Phi);
    Value *Steps = B.CreateSub(Now, B.CreateLoad(Now->getType(), Last));
    if (Counter->Step != 1)
      Steps = B.CreateSDiv(
          Steps, ConstantInt::getSigned(Now->getType(), Counter->Step));
    B.CreateStore(B.CreateMul(B.CreateSExt(Steps, B.getInt64Ty()),
                              B.getInt64(Loss), "cosy.lost"),
                  Lost);
    B.CreateStore(Now, Last);
    return Lost;
  }

  /// Has the twin count at a place what is lost there.
  void countAt(Instruction &Place) {
    R.Seldom.push_back({&Place, 0, lostAt(Place), nullptr, 0});
  }

private:
  /// Returns a value of the counter as an integer.  The program may have no
  /// other use for it, and leave it undefined.
  static Value *counted(IRBuilder<> &B, Value *V) {
    if (V->getType()->isPointerTy())
      V = B.CreatePtrToInt(V, B.getInt64Ty());
    return B.CreateFreeze(V);
  }

  void beginCounter() {
    PHINode &Phi = *Counter->Phi;
    for (BasicBlock *Pred : predecessors(L.getHeader())) {
      if (L.contains(Pred))
        continue;
      IRBuilder<> B(Pred->getTerminator());
      Value *First = counted(B, Phi.getIncomingValueForBlock(Pred));
      if (!Last)
        Last = IRBuilder<>(&R.Twin->front(), R.Twin->front().begin())
                   .CreateAlloca(First->getType(), nullptr, "cosy.last");
      B.CreateStore(B.CreateSub(First, ConstantInt::getSigned(First->getType(),
                                                              Counter->Step)),
                    Last);
    }
  }

  void addUp() {
    IRBuilder<> B(R.Twin->getContext());
    for (BasicBlock *Pred : predecessors(L.getHeader()))
      if (!L.contains(Pred)) {
        B.SetInsertPoint(Pred->getTerminator());
        B.CreateStore(B.getInt64(0), Lost);
      }
    B.SetInsertPoint(L.getHeader(), L.getHeader()->getFirstInsertionPt());
    B.CreateStore(
        B.CreateAdd(B.CreateLoad(B.getInt64Ty(), Lost), B.getInt64(Loss)),
        Lost);
  }
};
} // namespace

PendingLosses::PendingLosses(Extracted &R, ValueToValueMapTy &Map)
    : R(R), Map(Map), A(*R.Body) {}

std::optional<LoopCounter> PendingLosses::counterInTwin(const Loop &L) {
  std::optional<LoopCounter> Ret = findCounter(L, A);
  if (Ret)
    Ret->Phi = cast<PHINode>(Map.lookup(Ret->Phi));
  return Ret;
}

AllocaInst *PendingLosses::keepAtCalls(BasicBlock &WayIn, int64_t Loss) {
  auto *InTwin = cast<BasicBlock>(Map.lookup(&WayIn));
  DominatorTree DT(*R.Twin);
  LoopInfo LI(DT);
  const Loop &L = *LI.getLoopFor(InTwin);
  size_t Calls = R.Seldom.size();
  Pending P(R, L, Loss, counterInTwin(*A.LI.getLoopFor(&WayIn)));
  for (size_t I = 0; I < Calls; ++I)
    if (SeldomCall &S = R.Seldom[I];
        !S.Lost && LI.getLoopFor(S.Call->getParent()) == &L)
      S.Lost = P.lostAt(*S.Call);
  return P.lostAt(*InTwin->getFirstNonPHI());
}

void PendingLosses::keepAtInnerLoops(BasicBlock &Head, int64_t Loss) {
  DominatorTree DT(*R.Twin);
  LoopInfo LI(DT);
  const Loop &L = *LI.getLoopFor(cast<BasicBlock>(Map.lookup(&Head)));
  Pending P(R, L, Loss, counterInTwin(*A.LI.getLoopFor(&Head)));
  for (const Loop *Inner : L)
    if (BasicBlock *Before = Inner->getLoopPreheader())
      P.countAt(*Before->getTerminator());
}
