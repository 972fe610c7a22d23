// SPDX-License-Identifier: MIT
//===- Losses.cpp - Counts what loops without calls would lose ------------===//
//
// A loop that makes no call costs more in the kernel than outside.  How often
// it goes round is known when it ends.  So the native twin adds up in a
// register what its rounds, and those of inner loops, would have lost, and adds
// the sum to the region's `left`.
//
//   loop:                       loop:
//     ...                         %l = phi i64 [ 0, .. ], [ %m, %loop ]
//     br .., %loop, %end          %m = add i64 %l, 11
//                                 ...
//                                 br .., %loop, %end
//   end:                        end:
//                                 <left += %m, unless that is settled>
//
// For a loop whose exits also lead in from elsewhere there is no place to do
// that: Cost.cpp estimates how often it goes round.
//
//===----------------------------------------------------------------------===//
#include "Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "cosy-losses"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumLoops, "Number of loops whose losses are counted");

void cosy::simplifyLoops(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (Loop *L : LI)
    simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr,
                 /*PreserveLCSSA=*/false);
}

static bool isWithoutCalls(const Loop &L) {
  return none_of(L.blocks(),
                 [](const BasicBlock *BB) { return makesCall(*BB); });
}

bool cosy::countsLosses(const Loop &L) {
  const Loop *Parent = L.getParentLoop();
  if (!isWithoutCalls(L) || (Parent && isWithoutCalls(*Parent)) ||
      !L.getLoopPreheader() || !L.hasDedicatedExits())
    return false;
  SmallVector<BasicBlock *, 4> Exits;
  L.getExitBlocks(Exits);
  return none_of(Exits, [](const BasicBlock *BB) { return BB->isEHPad(); });
}

/// Adds up what the rounds of one loop that countsLosses would lose.
static void countLoop(const Loop &L, const LoopInfo &LI,
                      function_ref<void(BasicBlock *, Value *)> AtExit) {
  Type *I64 = Type::getInt64Ty(L.getHeader()->getContext());
  SSAUpdater Updater;
  Updater.Initialize(I64, "cosy.lost");
  Updater.AddAvailableValue(L.getLoopPreheader(), ConstantInt::get(I64, 0));
  SmallVector<Instruction *, 4> Sums;
  for (const Loop *Inner : L.getLoopsInPreorder()) {
    // Count at the latch: at the head, a loop that is left there before its
    // first round would count one.
    BasicBlock *Place = Inner->getLoopLatch();
    if (!Place)
      Place = Inner->getHeader();
    // Its operand is set once all sums are known.
    auto *Sum = BinaryOperator::CreateAdd(
        PoisonValue::get(I64),
        ConstantInt::getSigned(I64, lossPerRound(*Inner, LI)), "cosy.lost",
        Place->getFirstNonPHIIt());
    Updater.AddAvailableValue(Place, Sum);
    Sums.push_back(Sum);
  }
  for (Instruction *Sum : Sums)
    Sum->setOperand(0, Updater.GetValueInMiddleOfBlock(Sum->getParent()));
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  for (BasicBlock *Exit : Exits)
    AtExit(Exit, Updater.GetValueInMiddleOfBlock(Exit));
}

void cosy::countLosses(Function &Twin,
                       function_ref<void(BasicBlock *, Value *)> AtExit) {
  DominatorTree DT(Twin);
  LoopInfo LI(DT);
  // Count in loops that are known before the exits change.
  SmallVector<const Loop *, 4> Counted;
  for (const Loop *L : LI.getLoopsInPreorder())
    if (countsLosses(*L))
      Counted.push_back(L);
  for (const Loop *L : Counted) {
    countLoop(*L, LI, AtExit);
    ++NumLoops;
  }
}
