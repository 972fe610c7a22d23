// SPDX-License-Identifier: MIT
//===- Extract.cpp - A region becomes a function of its own ---------------===//
//
// CodeExtractor finds inputs, outputs and exits.  It passes scalars, so that
// inlining the function back gives the code that was there before: that is the
// native twin.
//
//   call i32 @__cosy_region_start(i32 12)    call void @f.cosy(i32 %fd, ptr %r)
//   %n = call i64 @read(i32 %fd, ..)     ->  %n = load i64, ptr %r
//   call void @__cosy_region_end(..)
//
//===----------------------------------------------------------------------===//
#include "region/Extract.h"
#include "base/Reason.h"
#include "region/Extracted.h"
#include "region/Markers.h"
#include "region/Private.h"
#include "region/Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

#define DEBUG_TYPE "cosy-extract"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumExtracted,
                         "Number of regions that became functions");
ALWAYS_ENABLED_STATISTIC(NumUnmovable,
                         "Number of regions that cannot become functions");

/// Returns what keeps an instruction from being moved to another function, or
/// null.
static const char *unmovable(const Instruction &I) {
  if (isa<IndirectBrInst>(I))
    return "a computed goto";
  if (isa<CallBrInst>(I))
    return "an asm goto";
  if (isa<AllocaInst>(I))
    return "alloca() or a variable length array";
  const auto *C = dyn_cast<CallBase>(&I);
  if (!C)
    return nullptr;
  if (C->hasFnAttr(Attribute::ReturnsTwice))
    return "a call that may return twice (setjmp, vfork)";
  if (C->isMustTailCall())
    return "a call marked musttail";
  const auto *Intr = dyn_cast<IntrinsicInst>(C);
  switch (Intr ? Intr->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::vastart:
  case Intrinsic::vacopy:
  case Intrinsic::vaend:
    return "va_start, va_copy or va_end";
  case Intrinsic::stacksave:
    return "alloca() or a variable length array";
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::localescape:
    return "the address of a stack frame";
  case Intrinsic::eh_typeid_for:
    return "a catch handler";
  default:
    return nullptr;
  }
}

static void checkMovable(const Region &R, Reasons &Why) {
  for (BasicBlock *BB : R.Blocks) {
    if (BB->hasAddressTaken())
      Why.push_back(
          {"the target of a computed goto", BB->front().getDebugLoc()});
    for (Instruction &I : *BB)
      if (const char *What = unmovable(I))
        Why.push_back({What, I.getDebugLoc()});
  }
  for (BasicBlock *BB : R.Blocks)
    if (isReachedFromOutside(BB, R.Blocks)) {
      Why.push_back({"a jump into the region", BB->front().getDebugLoc()});
      break;
    }
}

static bool isLifetime(const User *U) {
  const auto *Intr = dyn_cast<IntrinsicInst>(U);
  return Intr && Intr->isLifetimeStartOrEnd();
}

/// True if a local's life starts inside the region, so that it can live in the
/// compound's context.  A local that is only used inside will not do: a later
/// run, or a pointer that was kept, may find it again.
static bool isLocalToRegion(AllocaInst &A, const Region &R) {
  bool Starts = false;
  for (User *U : A.users()) {
    auto *Intr = dyn_cast<IntrinsicInst>(U);
    bool IsEnd = Intr && Intr->getIntrinsicID() == Intrinsic::lifetime_end;
    if (!R.Blocks.contains(cast<Instruction>(U)->getParent()) && !IsEnd)
      return false;
    Starts |= Intr && Intr->getIntrinsicID() == Intrinsic::lifetime_start;
  }
  return Starts;
}

/// True if a local is used only where its life has begun in this iteration: the
/// region may begin again at the loop's head, in another frame.
static bool beginsBeforeUse(AllocaInst &A, DominatorTree &DT) {
  SmallVector<Instruction *, 4> Starts;
  for (User *U : A.users())
    if (auto *I = dyn_cast<LifetimeIntrinsic>(U);
        I && I->getIntrinsicID() == Intrinsic::lifetime_start)
      Starts.push_back(I);
  return all_of(A.users(), [&](User *U) {
    return isLifetime(U) || any_of(Starts, [&](Instruction *Start) {
             return DT.dominates(Start, cast<Instruction>(U));
           });
  });
}

/// True if one call of the function may come to the region more than once.
static bool isRepeated(const Region &R) {
  return any_of(R.Blocks, [&](BasicBlock *BB) {
    return any_of(successors(BB), [&](BasicBlock *S) {
      return !R.Blocks.contains(S) && isPotentiallyReachable(S, R.Blocks[0]);
    });
  });
}

/// Bytes of a local that moves into the region; contexts are small.
static constexpr uint64_t MaxSunk = 32 << 10;

/// True if nobody else uses a local, or a pointer into it.
static bool isUsedInRegion(AllocaInst &A, const Region &R) {
  std::optional<LocalPointers> Pointers = pointersInto(A);
  return Pointers && all_of(*Pointers, [&](Value *V) {
           return all_of(V->users(), [&](User *U) {
             return isLifetime(U) ||
                    R.Blocks.contains(cast<Instruction>(U)->getParent());
           });
         });
}

/// True if a local of the function might as well be declared in the region,
/// which runs once in a call of the function.
static bool mayBeDeclaredIn(AllocaInst &A, const Region &R) {
  auto Size = A.getAllocationSize(A.getModule()->getDataLayout());
  return Size && !Size->isScalable() && Size->getFixedValue() <= MaxSunk &&
         isUsedInRegion(A, R);
}

/// Lets a local live as long as the function.
static void dropLifetimes(AllocaInst &A) {
  for (User *U : make_early_inc_range(A.users()))
    if (isLifetime(U))
      cast<Instruction>(U)->eraseFromParent();
}

/// Moves the region's own locals to its entry.
static SmallVector<AllocaInst *, 8> sinkLocals(Function &F, const Region &R) {
  SmallVector<AllocaInst *, 8> Sunk;
  bool Once = !F.callsFunctionThatReturnsTwice() && !isRepeated(R);
  DominatorTree DT(F);
  for (Instruction &I : F.getEntryBlock()) {
    auto *A = dyn_cast<AllocaInst>(&I);
    if (!A || !A->isStaticAlloca() || R.Blocks.contains(A->getParent()))
      continue;
    bool Local = isLocalToRegion(*A, R);
    // What comes after an early end may have pointers to the region's locals,
    // or the region what it had of them before.
    if (Local && ((R.EndsEarly && !isUsedInRegion(*A, R)) ||
                  (R.BeginsAgain && !beginsBeforeUse(*A, DT))))
      dropLifetimes(*A); // which would tell CodeExtractor to move it
    // AddressSanitizer takes a local for dead if the host's part of an
    // iteration ends its life, and the next iteration begins it in the region.
    else if (!Local && R.EndsEarly &&
             F.hasFnAttribute(Attribute::SanitizeAddress))
      dropLifetimes(*A);
    else if (Local || (Once && mayBeDeclaredIn(*A, R)))
      Sunk.push_back(A);
  }
  BasicBlock *Entry = R.Blocks[0];
  for (AllocaInst *A : Sunk) {
    for (User *U : make_early_inc_range(A->users()))
      if (isLifetime(U) &&
          !R.Blocks.contains(cast<Instruction>(U)->getParent()))
        cast<Instruction>(U)->eraseFromParent();
    A->moveBefore(*Entry, Entry->getFirstInsertionPt());
    SmallVector<DbgVariableIntrinsic *, 2> Old;
    SmallVector<DbgVariableRecord *, 2> Records;
    findDbgUsers(Old, A, &Records);
    for (DbgVariableRecord *D : Records)
      if (!R.Blocks.contains(D->getParent())) {
        D->removeFromParent();
        Entry->insertDbgRecordAfter(D, A);
      }
  }
  return Sunk;
}

bool cosy::extractRegion(Function &F, Region &R, Extracted &Ret, Reasons &Why) {
  checkMovable(R, Why);
  if (!Why.empty()) {
    ++NumUnmovable;
    return false;
  }

  SmallVector<AllocaInst *, 8> Locals = sinkLocals(F, R);
  DominatorTree DT(F);
  AssumptionCache AC(F);
  CodeExtractorAnalysisCache Cache(F);
  CodeExtractor Extractor(R.Blocks.getArrayRef(), &DT, /*AggregateArgs=*/false,
                          /*BFI=*/nullptr, /*BPI=*/nullptr, &AC,
                          /*AllowVarArgs=*/false, /*AllowAlloca=*/true,
                          /*AllocationBlock=*/nullptr, "cosy");
  SetVector<Value *> Inputs, Outputs;
  Function *Body = Extractor.isEligible()
                       ? Extractor.extractCodeRegion(Cache, Inputs, Outputs)
                       : nullptr;
  if (!Body) {
    Why.push_back({"a jump between the region and its surroundings that cannot "
                   "be separated",
                   {}});
    BasicBlock &HostEntry = F.getEntryBlock();
    for (AllocaInst *A : Locals)
      A->moveBefore(HostEntry, HostEntry.getFirstInsertionPt());
    return false;
  }
  ++NumExtracted;
  BasicBlock &BodyEntry = Body->getEntryBlock();
  for (AllocaInst *A : Locals)
    A->moveBefore(BodyEntry, BodyEntry.getFirstInsertionPt());
  dropMarkers(*Body, Region());

  Ret.Host = &F;
  Ret.Body = Body;
  Ret.Call = cast<CallInst>(*Body->user_begin());
  Ret.NumInputs = Body->arg_size() - Outputs.size();
  for (Value *V : Outputs)
    Ret.Outputs.push_back(V->getType());
  for (unsigned I = Ret.NumInputs; I < Body->arg_size(); ++I)
    Body->addParamAttr(I, Attribute::get(F.getContext(), ResultAttr));
  Ret.Line = R.Line;
  Ret.Where = R.Start->getDebugLoc();
  Ret.BeginsAgain = R.BeginsAgain;
  Body->setLinkage(GlobalValue::InternalLinkage);
  return true;
}
