// SPDX-License-Identifier: MIT
//===- Natives.cpp - Which calls no compound can hold ---------------------===//
//
// A region ends before such calls, and so before a call of a function that
// makes them.  But that function may make all system calls of an iteration, and
// only report its errors itself.  So it is inlined into the region, which then
// ends before the report:
//
//   loop:                                loop:
//     call void @visit(ptr %name)          %r = call i32 @fstatat(..)
//     br label %next               ->      br i1 .., label %next, label %failed
//                                        failed:
//                                          call void @perror(ptr %name)
//                                          br label %next
//
//===----------------------------------------------------------------------===//
#include "region/Natives.h"
#include "calls/CallTable.h"
#include "calls/Callees.h"
#include "calls/FormatCalls.h"
#include "calls/LibcCalls.h"
#include "calls/LibcFunctions.h"
#include "region/Inliner.h"
#include "region/Markers.h"
#include "region/Normalize.h"
#include "region/Region.h"
#include "region/Written.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "cosy-natives"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumInlined,
                         "Number of calls inlined for what a region ends at");

/// True for arithmetic that no compound can do, as for what is to be printed.
static bool computesFloat(const Instruction &I) {
  auto IsFloat = [](const Value *V) {
    return V->getType()->isFPOrFPVectorTy();
  };
  return isa<BinaryOperator, UnaryOperator, CmpInst, CastInst>(I) &&
         (IsFloat(&I) || any_of(I.operand_values(), IsFloat));
}

bool Natives::has(const Instruction &I) {
  const auto *C = dyn_cast<CallBase>(&I);
  const Function *F = C ? calleeOf(*C) : nullptr;
  if (computesFloat(I))
    return true;
  // Nothing in a compound throws, so that what ends the program then is dead.
  if (!F || F->isIntrinsic() || F->getName() == "__clang_call_terminate")
    return false;
  if (!F->isDeclaration()) {
    // The region cannot end inside a function that recurses; the compound
    // leaves there, and comes back.
    const Facts &Of = factsOf(*F);
    return Of.Has && (!Of.Recurses || Of.HasOther);
  }
  // One that does not return is the host's already.
  return !C->doesNotReturn() && !isCovered(libcName(*C)) && !isFormat(*C) &&
         !isLeftFor(*C);
}

/// True for what has() finds, if a compound cannot leave for it and come back.
bool Natives::isOther(const Instruction &I) {
  const auto *C = dyn_cast<CallBase>(&I);
  const Function *F = C ? calleeOf(*C) : nullptr;
  if (!F || F->isIntrinsic())
    return has(I);
  return F->isDeclaration() ? has(I) && !canCallOut(*C) : factsOf(*F).HasOther;
}

bool Natives::isMixed(const Function &F) {
  Facts Of = factsOf(F);
  return Of.Has && (Of.Calls ? !neverReturns(F) : Of.Avoids && !Of.Loops);
}

const Natives::Facts &Natives::factsOf(const Function &F) {
  // A function that calls itself is taken as one that makes no such call.
  if (auto It = Known.find(&F); It != Known.end())
    return It->second;
  Known[&F] = Facts();
  Facts Of;
  Of.Recurses = recurses(const_cast<Function &>(F));
  for (const Instruction &I : instructions(F)) {
    const auto *C = dyn_cast<CallBase>(&I);
    const Function *Callee = C ? calleeOf(*C) : nullptr;
    Of.Has |= has(I);
    Of.HasOther |= isOther(I);
    if (!Callee || Callee->isIntrinsic())
      continue;
    if (Callee->isDeclaration()) {
      const Wrapper *W = findWrapper(libcName(*C));
      Of.Calls |= W && W->MakesCalls;
    } else {
      Facts Its = factsOf(*Callee);
      Of.Calls |= Its.Calls;
      Of.Loops |= Its.Loops;
    }
  }
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
  FindFunctionBackedges(F, Back);
  Of.Loops |= !Back.empty();
  Of.Avoids = !Of.Has || avoids(F);
  return Known[&F] = Of;
}

/// Looks for a way to a return without such a call.
bool Natives::avoids(const Function &F) {
  auto Passes = [&](const Instruction &I) {
    const auto *C = dyn_cast<CallBase>(&I);
    const Function *Callee = C ? calleeOf(*C) : nullptr;
    return !has(I) ||
           (Callee && !Callee->isDeclaration() && factsOf(*Callee).Avoids);
  };
  SmallSetVector<const BasicBlock *, 16> Found;
  Found.insert(&F.getEntryBlock());
  for (unsigned I = 0; I < Found.size(); ++I) {
    const BasicBlock *BB = Found[I];
    if (!all_of(*BB, Passes))
      continue;
    if (isa<ReturnInst>(BB->getTerminator()))
      return true;
    Found.insert(succ_begin(BB), succ_end(BB));
  }
  return false;
}

/// Instructions of mixed functions that are inlined into one function's
/// regions, and bytes of locals with them: these stay in the host's frame,
/// which may be there often.
static constexpr unsigned MaxMixed = 3000;
static constexpr uint64_t MaxLocals = 16 << 10, MaxLocalsOften = 1 << 10;

/// True for what would keep the region native that it gets into, where the call
/// of the function that has it does not.
static bool isRefused(const Instruction &I) {
  if (isMarker(I) || I.getType()->isVectorTy() ||
      (isa<BinaryOperator>(I) && I.getType()->isIntegerTy() &&
       I.getType()->getIntegerBitWidth() > 64))
    return true;
  if (auto *A = dyn_cast<AllocaInst>(&I))
    return !A->isStaticAlloca();
  if (auto *Pad = dyn_cast<LandingPadInst>(&I))
    return Pad->getNumClauses() > 0;
  auto *C = dyn_cast<CallBase>(&I);
  if (!C)
    return false;
  switch (C->getIntrinsicID()) {
  case Intrinsic::not_intrinsic:
    return !isPinned(I) && (C->isInlineAsm() || !calleeOf(*C));
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::eh_typeid_for:
    return true;
  default:
    return false;
  }
}

static uint64_t bytesOfLocals(const Function &F) {
  uint64_t Bytes = 0;
  for (const Instruction &I : instructions(F))
    if (auto *A = dyn_cast<AllocaInst>(&I))
      if (auto Size = A->getAllocationSize(F.getParent()->getDataLayout()))
        Bytes += Size->getKnownMinValue();
  return Bytes;
}

void cosy::inlineMixed(Function &F, ArrayRef<Function *> Hosts,
                       FunctionAnalysisManager &FAM) {
  if (F.callsFunctionThatReturnsTwice())
    return;
  SmallSetVector<CallBase *, 16> Calls;
  anyRegion(F, [&](const Region &R) {
    for (BasicBlock *BB : R.Blocks)
      for (Instruction &I : *BB)
        if (auto *C = dyn_cast<CallBase>(&I))
          Calls.insert(C);
    return false;
  });
  Natives Native;
  unsigned Room = MaxMixed;
  uint64_t RoomForLocals = recurses(F) ? MaxLocalsOften : MaxLocals;
  unsigned Inlined = inlineCalls(Calls.getArrayRef(), [&](CallBase &Call) {
    Function *Callee = Call.getCalledFunction();
    // A function that holds a region counts for that one.
    if (!canInline(F, Call) || any_of(instructions(*Callee), isRefused) ||
        is_contained(Hosts, Callee) || !Native.isMixed(*Callee))
      return false;
    unsigned Size = Callee->getInstructionCount();
    uint64_t Locals = bytesOfLocals(*Callee);
    if (Size > Room || Locals > RoomForLocals)
      return false;
    if (isAsWritten(*Callee))
      pinDivisions(*Callee);
    Room -= Size;
    RoomForLocals -= Locals;
    return true;
  });
  NumInlined += Inlined;
  if (Inlined)
    normalizeFunction(F, FAM);
}
