// SPDX-License-Identifier: MIT
//===- Counters.cpp - A loop's counter where the loop ends ----------------===//
//
// Losses.cpp takes a loop's own counter for how often the loop went round.
// That makes one more user of the counter, and LSR gives all users in a loop,
// and those of its values, the same register as far as it can.  Where the test
// at the loop's end wants another value than that user, one of them has to be
// computed, and LSR does not prefer the one that is outside.  So after LLVM's
// optimisations the copy is made of the value that the test leaves:
//
//   loop:                               loop:
//     %i = phi i64 [ .. ], [ %h, .. ]     %i = phi i64 [ .. ], [ %h, .. ]
//     ..                                  ..
//     %h = add i64 %i, -1                 %h = add i64 %i, -1
//     %c = icmp ugt i64 %i, 1             %c = icmp ugt i64 %i, 1
//     br i1 %c, label %loop, ..           br i1 %c, label %loop, ..
//   end:                                end:
//     %n = asm(%i)                        %j = add i64 %i, 1
//                                         %k = asm(%j)
//                                         %n = sub i64 %k, 1
//
// LSR keeps %j in a register: after its step that is what the test looks at.
//
//===----------------------------------------------------------------------===//
#include "Counters.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "cosy-counters"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumMoved, "Number of counters taken before the step");

static InlineAsm *copyOf(Type *Ty) {
  return InlineAsm::get(FunctionType::get(Ty, {Ty}, false), "", "=r,0",
                        /*hasSideEffects=*/false);
}

Value *cosy::copyCounter(IRBuilder<> &B, Value *Counter) {
  return B.CreateCall(copyOf(Counter->getType()), Counter);
}

/// Returns what the test at a loop's end looks at, if that steps as Place does.
static const SCEV *testedAtEnd(const Loop &L, const SCEVAddRecExpr *Place,
                               ScalarEvolution &SE) {
  const BasicBlock *Latch = L.getLoopLatch();
  const auto *Branch =
      Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
  const auto *Test = Branch && Branch->isConditional()
                         ? dyn_cast<ICmpInst>(Branch->getCondition())
                         : nullptr;
  if (!Test || Test->getOperand(0)->getType() != Place->getType())
    return nullptr;
  for (const Use &U : Test->operands()) {
    const auto *Tested = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(U));
    if (Tested && Tested->getLoop() == &L &&
        Tested->getStepRecurrence(SE) == Place->getStepRecurrence(SE))
      return Tested;
  }
  return nullptr;
}

/// Returns by how much a copy's value is to be moved: at an exit after the step
/// the test has just seen the value, at others its step is still to come.
static const SCEVConstant *wayToTest(const CallInst &Copy, DominatorTree &DT,
                                     ScalarEvolution &SE) {
  const auto *Place =
      dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Copy.getArgOperand(0)));
  if (!Place || !Place->isAffine() || Place->getLoop()->contains(&Copy))
    return nullptr;
  const Loop &L = *Place->getLoop();
  const SCEV *Tested = testedAtEnd(L, Place, SE);
  if (!Tested)
    return nullptr;
  if (!DT.dominates(L.getLoopLatch(), Copy.getParent()))
    Tested = SE.getMinusSCEV(Tested, Place->getStepRecurrence(SE));
  return dyn_cast<SCEVConstant>(SE.getMinusSCEV(Tested, Place));
}

PreservedAnalyses CountersPass::run(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<CallInst *, 8> Copies;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I);
        Call && Call->isInlineAsm() && Call->arg_size() == 1 &&
        Call->getType()->isIntegerTy() &&
        Call->getCalledOperand() == copyOf(Call->getType()))
      Copies.push_back(Call);
  if (Copies.empty())
    return PreservedAnalyses::all();
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  bool Changed = false;
  for (CallInst *Copy : Copies) {
    const SCEVConstant *Way = wayToTest(*Copy, DT, SE);
    if (!Way || Way->isZero())
      continue;
    IRBuilder<> B(Copy);
    Copy->setArgOperand(0,
                        B.CreateAdd(Copy->getArgOperand(0), Way->getValue()));
    B.SetInsertPoint(std::next(Copy->getIterator()));
    auto *Back = BinaryOperator::CreateSub(Copy, Way->getValue());
    Copy->replaceAllUsesWith(Back);
    Back->setOperand(0, Copy);
    B.Insert(Back);
    ++NumMoved;
    Changed = true;
  }
  if (!Changed)
    return PreservedAnalyses::all();
  PreservedAnalyses PA;
  PA.preserveSet<CFGAnalyses>();
  return PA;
}
