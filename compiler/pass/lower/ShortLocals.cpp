// SPDX-License-Identifier: MIT
//===- ShortLocals.cpp - Locals that end before a recursive call ----------===//
//
// The locals of a recursive function live on the software stack, where an
// access costs three times as much as in the context.  But many hold nothing
// while the function calls itself: the result of lstat, the pieces of a format.
// One object in the context serves all frames for such a local.  It is a local
// whose address only loads, stores and calls that do not keep it know, and that
// is not used after a recursive call until its lifetime begins again:
//
//   %st = alloca %struct.stat         ->   %st = .., !cosy.short
//   ..
//   call void @llvm.lifetime.start.p0(i64 144, ptr %st)
//   %r = call i64 @__cosy_call.6(ptr %name, ptr %st)
//   %mode = load i32, ptr %st.mode
//   call void @walk(ptr %name)
//
//===----------------------------------------------------------------------===//
#include "lower/ShortLocals.h"
#include "calls/CallTable.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "cosy-mark-short-locals"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumShort,
                         "Number of locals that end before recursive calls");

namespace {
/// What is done with a local.
struct LocalUses {
  SmallPtrSet<const Instruction *, 16> Accesses, Starts;
};
} // namespace

/// True for an instruction whose result may be the address that it gets.
static bool passesOn(const Instruction &I) {
  return isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst>(I);
}

static bool forgetsAddress(const CallBase &Call, const Use &U,
                           SmallPtrSetImpl<const Value *> &Seen);

/// Follows an address; false: somebody else may know it.  Access: gets what is
/// done with it.
static bool follow(const Value &Address, SmallPtrSetImpl<const Value *> &Seen,
                   function_ref<void(const Instruction &)> Access) {
  SmallVector<const Value *, 8> Work{&Address};
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    for (const Use &U : V->uses()) {
      const auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        return false;
      const auto *Store = dyn_cast<StoreInst>(I);
      const auto *Call = dyn_cast<CallBase>(I);
      if (passesOn(*I))
        Work.push_back(I);
      else if (isa<LoadInst>(I) ||
               (Store &&
                U.getOperandNo() == StoreInst::getPointerOperandIndex()) ||
               (Call && forgetsAddress(*Call, U, Seen)))
        Access(*I);
      else if (!isa<ICmpInst>(I))
        return false;
    }
  }
  return true;
}

/// True if a call that gets a local's address does not keep it, and does not
/// come to the local's function again.
static bool forgetsAddress(const CallBase &Call, const Use &U,
                           SmallPtrSetImpl<const Value *> &Seen) {
  const Function *F = Call.getCalledFunction();
  if (!F || !Call.isArgOperand(&U))
    return false;
  uint32_t Number;
  if (isNumberedCall(F, Number))
    return !keepsAddress(Number) &&
           (Call.use_empty() || !pointsIntoArgument(Number));
  if (isa<MemIntrinsic>(Call) || cast<Instruction>(Call).isLifetimeStartOrEnd())
    return true;
  unsigned No = Call.getArgOperandNo(&U);
  return !F->isDeclaration() && !F->isVarArg() && No < F->arg_size() &&
         !F->hasFnAttribute(RecursiveAttr) &&
         follow(*F->getArg(No), Seen, [](const Instruction &) {});
}

/// Finds all uses of a local; nullopt: not all of them are known.
static std::optional<LocalUses> usesOf(const AllocaInst &Local) {
  LocalUses Ret;
  SmallPtrSet<const Value *, 16> Seen;
  if (!follow(Local, Seen, [&](const Instruction &I) {
        if (!I.isLifetimeStartOrEnd())
          Ret.Accesses.insert(&I);
        else if (cast<IntrinsicInst>(I).getIntrinsicID() ==
                 Intrinsic::lifetime_start)
          Ret.Starts.insert(&I);
      }))
    return std::nullopt;
  return Ret;
}

/// True if a use is reached from an instruction on, before the lifetime begins
/// again.
static bool isUsedAfter(const Instruction &From, const LocalUses &Uses) {
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const Instruction *, 16> Work{From.getNextNode()};
  while (!Work.empty()) {
    bool Begins = false;
    for (const Instruction *I = Work.pop_back_val(); I && !Begins;
         I = I->getNextNode()) {
      if (Uses.Accesses.contains(I))
        return true;
      Begins = Uses.Starts.contains(I);
      if (!Begins && I->isTerminator())
        for (const BasicBlock *Next : successors(I))
          if (Seen.insert(Next).second)
            Work.push_back(&Next->front());
    }
  }
  return false;
}

void cosy::markShortLocals(BpfModule &B) {
  LLVMContext &Ctx = B.M->getContext();
  for (Function &F : *B.M) {
    if (!F.hasFnAttribute(RecursiveAttr))
      continue;
    SmallVector<const CallBase *, 8> Recursive;
    SmallVector<AllocaInst *, 8> Locals;
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (Call && (!Call->getCalledFunction() ||
                   Call->getCalledFunction()->hasFnAttribute(RecursiveAttr)))
        Recursive.push_back(Call);
      if (auto *Local = dyn_cast<AllocaInst>(&I);
          Local && Local->isStaticAlloca())
        Locals.push_back(Local);
    }
    for (AllocaInst *Local : Locals) {
      std::optional<LocalUses> Uses = usesOf(*Local);
      if (!Uses || any_of(Recursive, [&](const CallBase *Call) {
            return isUsedAfter(*Call, *Uses);
          }))
        continue;
      Local->setMetadata(ShortLocalName, MDNode::get(Ctx, {}));
      ++NumShort;
    }
  }
}
