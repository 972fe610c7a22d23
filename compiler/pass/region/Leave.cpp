// SPDX-License-Identifier: MIT
//===- Leave.cpp - A region ends before a call that it cannot hold --------===//
//
// Programs tell of errors by stdio and leave, print when a loop has ended, or
// tell of something and go on with the loop.  Such a call, or floating-point
// arithmetic, keeps a region native.  It might as well end there: what follows
// is left to the host.
//
//   error:                                error:
//     call void @perror(ptr %name)          br label %error.left  ; END
//     br label %out                       error.left:             ; of the host
//                                    ->     call void @perror(ptr %name)
//                                           br label %out.left
//   out:                                  out:                    ; as it was
//     call void @__cosy_region_end(..)      call void @__cosy_region_end(..)
//
// Blocks that both come to (out) get a copy for the host.  Where the call is in
// a loop, the region begins at the loop's head instead of its mark, so that the
// host comes to it again: what comes before is the host's, too.
//
//   call void @__cosy_region_start(..)    call void @__cosy_region_start(..)
//   %fd = call i32 @open(..)              %fd = call i32 @open(..) ; host's
//   br label %loop                   ->   br label %loop           ; START
//   loop:                                 loop:
//
//===----------------------------------------------------------------------===//
#include "region/Leave.h"
#include "base/Names.h"
#include "base/Reason.h"
#include "calls/CallTable.h"
#include "calls/Callees.h"
#include "calls/LibcFunctions.h"
#include "region/Markers.h"
#include "region/Natives.h"
#include "region/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#define DEBUG_TYPE "cosy-leave"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumLeft, "Number of calls that regions end before");
ALWAYS_ENABLED_STATISTIC(NumMovedStarts,
                         "Number of regions that begin at a loop's head");

using Blocks = SetVector<BasicBlock *>;

using BlockSet = SmallPtrSet<BasicBlock *, 32>;

/// Returns the blocks of a region that no loop of it comes after.
static BlockSet blocksAfterLoops(const Region &R) {
  DenseMap<BasicBlock *, unsigned> Left; // successors that are not known to be
  SmallVector<BasicBlock *, 32> Work;
  BlockSet After;
  for (BasicBlock *BB : R.Blocks) {
    unsigned Count = count_if(
        successors(BB), [&](BasicBlock *S) { return R.Blocks.contains(S); });
    Left[BB] = Count;
    if (!Count)
      Work.push_back(BB);
  }
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    After.insert(BB);
    for (BasicBlock *P : predecessors(BB))
      if (R.Blocks.contains(P) && !--Left[P])
        Work.push_back(P);
  }
  return After;
}

/// Returns what is reached from some blocks inside Within, these too, but not
/// by way of Stop.
static Blocks reached(ArrayRef<BasicBlock *> From, const Blocks &Within,
                      const BlockSet &Stop) {
  Blocks Found(From.begin(), From.end());
  for (unsigned I = 0; I < Found.size(); ++I)
    if (!Stop.contains(Found[I]))
      for (BasicBlock *S : successors(Found[I]))
        if (Within.contains(S))
          Found.insert(S);
  return Found;
}

namespace {
/// A block that a region may begin with, and what remains of the region then.
struct Beginning {
  BasicBlock *Head;
  DebugLoc Where; ///< Of the loop.
  Blocks Kept;
  unsigned Loops = 0; ///< Those of Kept that make calls and go round in it.
  unsigned Lost = 0;  ///< Native calls that loops come after, but not Head.
  unsigned Calls = 0; ///< Blocks of Kept that make calls.
  /// Of the loop whose head it is, if native calls are in that; UINT_MAX if it
  /// is none's.
  unsigned Depth = 0;

  /// True if more is gained by this one.
  bool operator>(const Beginning &Other) const {
    return std::tuple(Loops, Other.Lost, Calls, Depth) >
           std::tuple(Other.Loops, Lost, Other.Calls, Other.Depth);
  }
};

/// Chooses where a region begins, and the calls that it ends before.
class Cut {
  const Region &R;
  DominatorTree DT;
  LoopInfo LI;
  DenseMap<BasicBlock *, Instruction *> First; ///< In each block with one.
  BlockSet Ending;                             ///< These blocks.
  BlockSet AfterLoops;

public:
  Cut(Function &F, const Region &R)
      : R(R), DT(F), LI(DT), AfterLoops(blocksAfterLoops(R)) {
    Natives Native;
    for (BasicBlock *BB : R.Blocks)
      for (Instruction &I : *BB)
        if (Native.has(I)) {
          First[BB] = &I;
          Ending.insert(BB);
          break;
        }
  }

  bool hasCalls() const { return !Ending.empty(); }

  /// Returns the best way to begin, or nothing.
  std::optional<Beginning> choose() {
    std::optional<Beginning> Best;
    auto Consider = [&](BasicBlock *Head, const Loop *L) {
      std::optional<Beginning> B = beginAt(Head, L);
      if (B && (!Best || *B > *Best))
        Best = std::move(B);
    };
    Consider(R.Blocks[0], nullptr);
    for (const Loop *L : LI.getLoopsInPreorder())
      if (L->getHeader() != R.Blocks[0] && R.Blocks.contains(L->getHeader()) &&
          !L->getHeader()->isEHPad())
        Consider(L->getHeader(), L);
    return Best;
  }

  /// Returns the calls that a region with this beginning ends before.
  SmallVector<Instruction *, 4> callsOf(const Beginning &B) const {
    SmallVector<Instruction *, 4> Calls;
    for (BasicBlock *BB : B.Kept)
      if (Instruction *I = First.lookup(BB))
        Calls.push_back(I);
    return Calls;
  }

private:
  /// True if something is done in a block, before what the region ends at.
  bool doesCall(BasicBlock *BB) const {
    for (Instruction &I : *BB) {
      if (&I == First.lookup(BB))
        return false;
      const auto *C = dyn_cast<CallBase>(&I);
      if (C && !isa<IntrinsicInst>(C) && !C->doesNotReturn())
        return true;
    }
    return false;
  }

  /// True if Kept goes round in a loop, and does something then.
  bool goesRound(const Loop &L, const Blocks &Kept) const {
    BasicBlock *Head = L.getHeader();
    if (!Kept.contains(Head) || Ending.contains(Head))
      return false;
    Blocks Within;
    for (BasicBlock *BB : L.blocks())
      if (Kept.contains(BB) && !Ending.contains(BB))
        Within.insert(BB);
    Blocks Round = reached(Head, Within, {});
    return any_of(Round, [&](BasicBlock *BB) { return doesCall(BB); }) &&
           any_of(Round, [&](BasicBlock *BB) {
             return is_contained(successors(BB), Head);
           });
  }

  std::optional<Beginning> beginAt(BasicBlock *Head, const Loop *L) const {
    Beginning B{Head, L ? L->getStartLoc() : DebugLoc(),
                reached(Head, R.Blocks, Ending)};
    if (L && !goesRound(*L, B.Kept))
      return std::nullopt;
    for (const Loop *Inner : LI.getLoopsInPreorder())
      B.Loops += goesRound(*Inner, B.Kept);
    bool Last = true; // no loop comes after one
    for (BasicBlock *BB : B.Kept) {
      B.Calls += doesCall(BB);
      if (!Ending.contains(BB) || AfterLoops.contains(BB))
        continue;
      Last = false;
      if (L && L->contains(BB))
        B.Depth = L->getLoopDepth();
      B.Lost += !L || !reached(BB, R.Blocks, {}).contains(Head);
    }
    if (!L)
      B.Depth = UINT_MAX;
    // Do not enter the kernel for the few calls before the first of a loop.
    if (!B.Calls || (!B.Loops && !Last))
      return std::nullopt;
    return B;
  }
};
} // namespace

/// True if the result of an invoke goes into a phi where the invoke leads to,
/// which cannot be put into memory.
static bool hasInvokeResult(BasicBlock *BB) {
  return any_of(BB->phis(), [](PHINode &Phi) {
    return any_of(Phi.incoming_values(),
                  [](Value *V) { return isa<InvokeInst>(V); });
  });
}

/// Tells whether a block can be copied for the host.
static bool isCopied(BasicBlock *BB) {
  return !BB->hasAddressTaken() && !hasInvokeResult(BB) &&
         none_of(successors(BB), hasInvokeResult) &&
         none_of(*BB, [](Instruction &I) {
           const auto *C = dyn_cast<CallBase>(&I);
           return isa<AllocaInst, CallBrInst, IndirectBrInst>(I) ||
                  I.getType()->isTokenTy() ||
                  (C && (C->cannotDuplicate() || C->isMustTailCall()));
         });
}

/// Puts what the blocks, and those behind them, have of phis and what is used
/// in others into memory: a copy of a block may follow another's original.
static SmallVector<AllocaInst *, 8> demote(const Blocks &Shared) {
  SmallVector<AllocaInst *, 8> Memory;
  Blocks Joining = Shared;
  for (BasicBlock *BB : Shared)
    Joining.insert(succ_begin(BB), succ_end(BB));
  for (BasicBlock *BB : Joining)
    while (auto *Phi = dyn_cast<PHINode>(&BB->front()))
      Memory.push_back(DemotePHIToStack(Phi));
  for (BasicBlock *BB : Shared)
    for (Instruction &I : make_early_inc_range(*BB))
      if (any_of(I.users(), [&](User *U) {
            return cast<Instruction>(U)->getParent() != BB;
          }))
        Memory.push_back(DemoteRegToStack(I));
  erase(Memory, nullptr);
  return Memory;
}

/// Gives the blocks of the host copies of those which the region has, too.
static void copyShared(Function &F, const Blocks &Shared, const Blocks &Host) {
  SmallVector<AllocaInst *, 8> Memory = demote(Shared);
  ValueToValueMapTy Map;
  SmallVector<BasicBlock *, 8> Copies;
  for (BasicBlock *BB : Shared) {
    Copies.push_back(CloneBasicBlock(BB, Map, ".left", &F));
    Map[BB] = Copies.back();
  }
  for (BasicBlock *Copy : Copies)
    for (Instruction &I : *Copy) {
      auto Flags = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;
      RemapInstruction(&I, Map, Flags);
      RemapDbgRecordRange(F.getParent(), I.getDbgRecordRange(), Map, Flags);
    }
  for (BasicBlock *BB : Host)
    if (!Shared.contains(BB))
      for (auto [Old, Copy] : zip(Shared, Copies))
        BB->getTerminator()->replaceSuccessorWith(Old, Copy);
  DominatorTree DT(F);
  PromoteMemToReg(Memory, DT);
}

/// Instructions of clean-ups, destructors' calls, that are copied for a way
/// out.
static constexpr int MaxCleanUp = 24;

/// Says why a region ends before an instruction.
static std::string whyEnded(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return "the region ends before floating-point arithmetic";
  const Function *Callee = calleeOf(*Call);
  return formatv("the region ends before the call of '{0}': {1}",
                 shownName(Callee->getName()),
                 Callee->isDeclaration() ? whyNoWrapper(Callee->getName())
                                         : "a compound cannot do that")
      .str();
}

static bool holdsNative(const Region &R) {
  Natives Native;
  return any_of(R.Blocks, [&](BasicBlock *BB) {
    return any_of(*BB, [&](Instruction &I) { return Native.has(I); });
  });
}

/// Clang has a `return` out of a loop go by way of the clean-ups of the loop's
/// locals, with a number that says where to go after them, as if it could go on
/// with the loop (Exits.cpp).
void cosy::threadExits(Function &F, FunctionAnalysisManager &FAM) {
  if (F.callsFunctionThatReturnsTwice() || !anyRegion(F, holdsNative))
    return;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (auto *C = dyn_cast<CallInst>(&I); C && !C->isMustTailCall() &&
                                            calleeOf(*C) &&
                                            neverReturns(*calleeOf(*C))) {
        changeToUnreachable(C->getNextNode());
        break;
      }
  EliminateUnreachableBlocks(F);
  FAM.invalidate(F, PreservedAnalyses::none());
  JumpThreadingPass(MaxCleanUp).run(F, FAM);
  FAM.invalidate(F, PreservedAnalyses::none());
}

void cosy::leaveEarly(Function &F, Region &R, Reasons &Left) {
  if (F.callsFunctionThatReturnsTwice())
    return;
  Cut C(F, R);
  if (!C.hasCalls())
    return;
  std::optional<Beginning> Begin = C.choose();
  if (!Begin)
    return;

  BasicBlock *Head = Begin->Head, *Entry = R.Blocks[0];
  SmallVector<Instruction *, 4> Calls = C.callsOf(*Begin);
  Blocks Others = R.Blocks, From, Shared;
  Others.remove(Head);
  if (Head != Entry)
    From.insert(Entry);
  for (Instruction *I : Calls)
    for (BasicBlock *S : successors(I->getParent()))
      if (Others.contains(S))
        From.insert(S);
  Blocks Host = reached(From.getArrayRef(), Others, {});
  for (BasicBlock *BB : Host) {
    if (any_of(*BB, isMarker))
      return;
    if (Begin->Kept.contains(BB))
      Shared.insert(BB);
  }
  if (any_of(Calls,
             [](Instruction *I) {
               return any_of(
                   make_range(I->getIterator(), I->getParent()->end()),
                   isMarker);
             }) ||
      !all_of(Shared, isCopied))
    return;

  for (Instruction *I : Calls) {
    Left.push_back({whyEnded(*I), I->getDebugLoc()});
    BasicBlock *BB = I->getParent();
    Host.insert(BB->splitBasicBlock(I, BB->getName() + ".left"));
  }
  NumLeft += Calls.size();
  if (Head != Entry) {
    ++NumMovedStarts;
    Left.push_back({"the region begins at this loop, because it ends before a "
                    "call inside",
                    Begin->Where});
    Host.insert(R.Start->getParent());
  }
  if (!Shared.empty())
    copyShared(F, Shared, Host);
  R.Blocks = Begin->Kept;
  R.EndsEarly = true;
  R.BeginsAgain = Head != Entry;
}
