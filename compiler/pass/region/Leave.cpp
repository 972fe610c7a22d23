// SPDX-License-Identifier: MIT
//===- Leave.cpp - A region ends before a call that it cannot hold --------===//
//
// Programs use stdio to report an error and give up, to print a result after a
// loop, or to report something and continue the loop.  No compound can hold
// such a call, nor floating-point arithmetic, which counts as such a call here.
// Instead of staying native, the region ends before the call, and the host runs
// what follows.
//
//   error:                                error:
//     call void @perror(ptr %name)          br label %error.left  ; END
//     br label %out                       error.left:             ; in host
//                                    ->     call void @perror(ptr %name)
//                                           br label %out.left
//   out:                                  out:                    ; as it was
//     call void @__cosy_region_end(..)      call void @__cosy_region_end(..)
//
// The host gets a copy of blocks that both reach (out).  If the call is in a
// loop, the region begins at the loop's head instead of at its mark, so that
// the next iteration enters it again.  The host also runs the code before that
// head:
//
//   call void @__cosy_region_start(..)    call void @__cosy_region_start(..)
//   %fd = call i32 @open(..)              %fd = call i32 @open(..) ; in host
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

/// Returns the blocks of a region from which no loop inside it can be reached.
static BlockSet blocksAfterLoops(const Region &R) {
  DenseMap<BasicBlock *, unsigned> Undecided; // successors, not yet in After
  SmallVector<BasicBlock *, 32> Work;
  BlockSet After;
  for (BasicBlock *BB : R.Blocks) {
    unsigned Count = count_if(
        successors(BB), [&](BasicBlock *S) { return R.Blocks.contains(S); });
    Undecided[BB] = Count;
    if (!Count)
      Work.push_back(BB);
  }
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    After.insert(BB);
    for (BasicBlock *P : predecessors(BB))
      if (R.Blocks.contains(P) && !--Undecided[P])
        Work.push_back(P);
  }
  return After;
}

/// Returns From and the blocks of Within that it reaches on paths inside Within
/// that do not go through a block of Stop.
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
/// A block at which a region may begin, and the region that this gives.
struct Beginning {
  BasicBlock *Head;
  DebugLoc Where;     ///< Of the loop.
  Blocks Kept;        ///< The blocks of the region.
  unsigned Loops = 0; ///< Loops that make calls and can iterate inside Kept.
  /// Native calls after which there are loops, but no way back to Head.
  unsigned Lost = 0;
  unsigned Calls = 0; ///< Blocks of Kept that make calls.
  /// Depth of the loop that Head begins; 0 if all native calls are outside that
  /// loop, UINT_MAX if Head is the region's entry.
  unsigned Depth = 0;

  /// True if this beginning gains more.
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
  /// The first native call of each block with one.
  DenseMap<BasicBlock *, Instruction *> First;
  BlockSet Ending; ///< The blocks with a native call.
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

  /// Returns the best beginning, or nothing if the kernel would not gain.
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
  /// True if a block makes a call before its native call, if any.
  bool makesCall(BasicBlock *BB) const {
    for (Instruction &I : *BB) {
      if (&I == First.lookup(BB))
        return false;
      const auto *C = dyn_cast<CallBase>(&I);
      if (C && !isa<IntrinsicInst>(C) && !C->doesNotReturn())
        return true;
    }
    return false;
  }

  /// True if a loop can iterate inside Kept, and makes calls in such an
  /// iteration.
  bool iterates(const Loop &L, const Blocks &Kept) const {
    BasicBlock *Head = L.getHeader();
    if (!Kept.contains(Head) || Ending.contains(Head))
      return false;
    Blocks Within;
    for (BasicBlock *BB : L.blocks())
      if (Kept.contains(BB) && !Ending.contains(BB))
        Within.insert(BB);
    Blocks Found = reached(Head, Within, {});
    return any_of(Found, [&](BasicBlock *BB) { return makesCall(BB); }) &&
           any_of(Found, [&](BasicBlock *BB) {
             return is_contained(successors(BB), Head);
           });
  }

  /// Rates a beginning at Head: the head of L, or the region's entry if L is
  /// null.
  std::optional<Beginning> beginAt(BasicBlock *Head, const Loop *L) const {
    Beginning B{Head, L ? L->getStartLoc() : DebugLoc(),
                reached(Head, R.Blocks, Ending)};
    if (L && !iterates(*L, B.Kept))
      return std::nullopt;
    for (const Loop *Inner : LI.getLoopsInPreorder())
      B.Loops += iterates(*Inner, B.Kept);
    bool LoopsFollow = false;
    for (BasicBlock *BB : B.Kept) {
      B.Calls += makesCall(BB);
      if (!Ending.contains(BB) || AfterLoops.contains(BB))
        continue;
      LoopsFollow = true;
      if (L && L->contains(BB))
        B.Depth = L->getLoopDepth();
      B.Lost += !L || !reached(BB, R.Blocks, {}).contains(Head);
    }
    if (!L)
      B.Depth = UINT_MAX;
    // Do not enter the kernel only for the few calls before a native loop.
    if (!B.Calls || (!B.Loops && LoopsFollow))
      return std::nullopt;
    return B;
  }
};
} // namespace

/// True if a phi of a block takes the result of an invoke: DemotePHIToStack
/// cannot store it.
static bool hasInvokeResult(BasicBlock *BB) {
  return any_of(BB->phis(), [](PHINode &Phi) {
    return any_of(Phi.incoming_values(),
                  [](Value *V) { return isa<InvokeInst>(V); });
  });
}

/// True if a block can be copied for the host.
static bool canCopy(BasicBlock *BB) {
  return !BB->hasAddressTaken() && !hasInvokeResult(BB) &&
         none_of(successors(BB), hasInvokeResult) &&
         none_of(*BB, [](Instruction &I) {
           const auto *C = dyn_cast<CallBase>(&I);
           return isa<AllocaInst, CallBrInst, IndirectBrInst>(I) ||
                  I.getType()->isTokenTy() ||
                  (C && (C->cannotDuplicate() || C->isMustTailCall()));
         });
}

/// Keeps in memory what blocks pass to other blocks, because a copied block may
/// run after an original one.  Returns the locals, which are to be promoted.
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

/// Has the blocks of the host go on in copies of the blocks that are also the
/// region's.
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

/// Instructions of a clean-up (calls of destructors) that may be copied for an
/// exit.
static constexpr int MaxCleanUp = 24;

/// Returns the remark about an instruction that a region ends before.
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

/// Clang sends a `return` in a loop through the clean-ups of the loop's locals,
/// with a number that selects where to go after them (Exits.cpp).  Until jump
/// threading has copied the clean-ups, the `return` looks like a part of the
/// loop.
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
  // Find the blocks that the host will run, and the blocks that both will.
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
      !all_of(Shared, canCopy))
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
