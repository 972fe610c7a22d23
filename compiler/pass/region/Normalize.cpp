// SPDX-License-Identifier: MIT
//===- Normalize.cpp - The form in which regions are found ----------------===//
//
// Regions are found in functions whose scalars are in registers, without dead
// blocks and without landing pads that only end regions.
//
//===----------------------------------------------------------------------===//
#include "region/Normalize.h"
#include "region/Markers.h"
#include "region/Written.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#define DEBUG_TYPE "cosy-normalize"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumPads,
                         "Number of landing pads that only ended regions");

void cosy::promoteLocals(Function &F) {
  SmallVector<AllocaInst *, 16> Locals;
  for (Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I); A && isAllocaPromotable(A))
      Locals.push_back(A);
  DominatorTree DT(F);
  PromoteMemToReg(Locals, DT);
}

/// True for a local whose address is used only to load and store it.
static bool isPlainVariable(const Value *V) {
  const auto *A = dyn_cast<AllocaInst>(V);
  return A && all_of(A->users(), [&](const User *U) {
           const auto *S = dyn_cast<StoreInst>(U);
           return isa<LoadInst>(U) || (S && S->getPointerOperand() == A);
         });
}

/// True if unwinding does nothing in these blocks but end regions.
static bool onlyEndsRegions(const BasicBlock *BB) {
  SmallPtrSet<const BasicBlock *, 8> Seen;
  while (BB && Seen.insert(BB).second) {
    for (const Instruction &I : *BB) {
      if (isa<ResumeInst>(I))
        return true;
      const auto *Pad = dyn_cast<LandingPadInst>(&I);
      const auto *Store = dyn_cast<StoreInst>(&I);
      const auto *Load = dyn_cast<LoadInst>(&I);
      bool Harmless =
          (Pad && Pad->isCleanup() && Pad->getNumClauses() == 0) ||
          (Store && isPlainVariable(Store->getPointerOperand())) ||
          (Load && isPlainVariable(Load->getPointerOperand())) ||
          isa<PHINode, InsertValueInst, ExtractValueInst, DbgInfoIntrinsic>(
              I) ||
          I.isLifetimeStartOrEnd() || isEndMarker(I) ||
          (I.isTerminator() && BB->getSingleSuccessor());
      if (!Harmless)
        return false;
    }
    BB = BB->getSingleSuccessor();
  }
  return false;
}

/// Makes invokes calls again where the clean-up of a region's scope is the only
/// one: then nothing has to be done when such a call unwinds.
static void dropEmptyPads(Function &F) {
  SmallVector<InvokeInst *, 8> Invokes;
  bool Others = false;
  for (Instruction &I : instructions(F)) {
    auto *Invoke = dyn_cast<InvokeInst>(&I);
    if (Invoke && onlyEndsRegions(Invoke->getUnwindDest()))
      Invokes.push_back(Invoke);
    else
      Others |= Invoke != nullptr;
  }
  for (InvokeInst *Invoke : Invokes)
    changeToCall(Invoke);
  NumPads += Invokes.size();
  if (!Invokes.empty() && !Others)
    F.setPersonalityFn(nullptr);
}

void cosy::lowerExpectations(Module &M, FunctionAnalysisManager &FAM) {
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasOptNone())
      LowerExpectIntrinsicPass().run(F, FAM);
}

void cosy::normalizeFunction(Function &F, FunctionAnalysisManager &FAM) {
  // A variable in memory may keep its value across longjmp, so stay away.
  if (!F.callsFunctionThatReturnsTwice()) {
    bool AsWritten = isAsWritten(F);
    if (AsWritten)
      pinDivisions(F);
    SROAPass(SROAOptions::ModifyCFG).run(F, FAM);
    // Else what is dead might become a value that a region has to give.
    if (!AsWritten)
      ADCEPass().run(F, FAM);
  }
  dropEmptyPads(F);
  EliminateUnreachableBlocks(F);
  FAM.invalidate(F, PreservedAnalyses::none());
}

/// Calls from one function to the next: as many as pointersInto follows.
static constexpr unsigned MaxCallDepth = 4;

/// Returns the function that is called with an address and may be normalized
/// before its time, or null.
static Function *calleeWithAddress(Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  Function *F = Call ? Call->getCalledFunction() : nullptr;
  if (!F || F->isDeclaration() || F->isInterposable() || isAsWritten(*F) ||
      F->hasFnAttribute(Attribute::SanitizeAddress) ||
      F->isPresplitCoroutine() || hasMarkers(*F))
    return nullptr;
  bool Takes = any_of(Call->args(), [](const Value *Argument) {
    return Argument->getType()->isPointerTy();
  });
  return Takes ? F : nullptr;
}

void cosy::normalizeCallees(Function &F, FunctionAnalysisManager &FAM) {
  SmallSetVector<Function *, 8> Found;
  Found.insert(&F);
  for (unsigned Depth = 0, I = 0; Depth < MaxCallDepth; ++Depth)
    for (unsigned End = Found.size(); I < End; ++I)
      for (Instruction &At : instructions(*Found[I]))
        if (Function *Callee = calleeWithAddress(At))
          Found.insert(Callee);
  for (Function *Callee : drop_begin(Found))
    normalizeFunction(*Callee, FAM);
}
