// SPDX-License-Identifier: MIT
//===- Skips.cpp - Iterations of a loop that make no call -----------------===//
//
// Finds the paths of an iteration that avoid the loop's system calls.  They
// decide where the loop's iterations are counted natively (LoopCounts):
//
//   every iteration makes a call, or those    at the head (Skipped)
//   without one are short
//   other iterations without a call           at the calls (Call): see
//                                             PendingLosses.cpp
//   all calls are in inner loops              where inner loops begin (AddsUp):
//                                             see PendingLosses.cpp
//   as above, but adding costs too much       not at all: Cost.cpp assumes a
//                                             number
//
//===----------------------------------------------------------------------===//
#include "tier/Skips.h"
#include "tier/LoopAnalyses.h"
#include "tier/SystemCalls.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace cosy;

namespace {
/// A block, and those of its phis that are constant on some path to it.
struct Arrival {
  const BasicBlock *BB;
  std::vector<std::pair<const PHINode *, const ConstantInt *>> Known;

  bool operator<(const Arrival &Other) const {
    return std::tie(BB, Known) < std::tie(Other.BB, Other.Known);
  }

  const ConstantInt *valueOf(const Value *V) const {
    if (const auto *Constant = dyn_cast<ConstantInt>(V))
      return Constant;
    for (auto [Phi, Constant] : Known)
      if (Phi == V)
        return Constant;
    return nullptr;
  }

  /// Goes on to a successor.
  Arrival next(const BasicBlock *S) const {
    Arrival Ret{S, {}};
    for (const PHINode &Phi : S->phis())
      if (const ConstantInt *C = valueOf(Phi.getIncomingValueForBlock(BB)))
        Ret.Known.push_back({&Phi, C});
    return Ret;
  }
};
} // namespace

/// Returns the value of a condition of the block, if the known phis decide it:
/// as after `a && b`, or in a comparison of `a ? -1 : b`.
static const ConstantInt *conditionAt(const Arrival &At,
                                      const Value *Condition) {
  const auto *Compare = dyn_cast<ICmpInst>(Condition);
  if (!Compare)
    return At.valueOf(Condition);
  const ConstantInt *Left = At.valueOf(Compare->getOperand(0));
  const auto *Right = dyn_cast<ConstantInt>(Compare->getOperand(1));
  if (!Left || !Right)
    return nullptr;
  return ConstantInt::getBool(At.BB->getContext(),
                              ICmpInst::compare(Left->getValue(),
                                                Right->getValue(),
                                                Compare->getPredicate()));
}

/// True if the block does not continue in Succ.
static bool isNeverTaken(const Arrival &At, const BasicBlock *Succ) {
  const Instruction *End = At.BB->getTerminator();
  if (const auto *Switch = dyn_cast<SwitchInst>(End)) {
    // clang makes such a switch at the end of a scope with a clean-up, for
    // `return`, `break` and `continue` in it.
    const ConstantInt *Known = conditionAt(At, Switch->getCondition());
    return Known && Switch->findCaseValue(Known)->getCaseSuccessor() != Succ;
  }
  const auto *Branch = dyn_cast<BranchInst>(End);
  if (!Branch || !Branch->isConditional() ||
      Branch->getSuccessor(0) == Branch->getSuccessor(1))
    return false;
  const ConstantInt *Known = conditionAt(At, Branch->getCondition());
  return Known && Branch->getSuccessor(Known->isZero()) != Succ;
}

namespace {
/// Finds the paths of an iteration that make no call.  A call in an inner loop
/// does not count, because that loop may not iterate at all.
class WaysWithoutCall {
  /// Instructions of a function that finds out whether there is something to
  /// call for, before it is optimised.
  static constexpr unsigned MaxShort = 40;

  /// Paths that are distinguished by what is known on them.
  static constexpr size_t MaxArrivals = 1024;

  const Loop &L;
  LoopAnalyses &A;
  SmallSetVector<const BasicBlock *, 16> Blocks; // none: there is no such way

public:
  WaysWithoutCall(const Loop &L, LoopAnalyses &A) : L(L), A(A) {
    std::map<Arrival, SmallVector<const Arrival *, 2>> Seen; // and from where
    SmallVector<std::pair<Arrival, const Arrival *>, 16> Work{
        {{L.getHeader(), {}}, nullptr}};
    SmallVector<const Arrival *, 16> Back;
    while (!Work.empty()) {
      auto [At, From] = Work.pop_back_val();
      if (!L.contains(At.BB) || isOwnCall(*At.BB))
        continue;
      // If there are too many paths, forget what is known on further ones.
      if (Seen.size() >= MaxArrivals)
        At.Known.clear();
      auto [It, New] = Seen.try_emplace(At);
      It->second.push_back(From);
      if (!New)
        continue;
      for (const BasicBlock *S : successors(At.BB)) {
        if (isNeverTaken(At, S))
          continue;
        if (S == L.getHeader())
          Back.push_back(&It->first);
        else
          Work.push_back({At.next(S), &It->first});
      }
    }
    // Drop what only precedes a call, or leaves the loop.
    SmallPtrSet<const Arrival *, 16> Iteration;
    while (!Back.empty()) {
      const Arrival *At = Back.pop_back_val();
      if (!At || !Iteration.insert(At).second)
        continue;
      Blocks.insert(At->BB);
      append_range(Back, Seen.find(*At)->second);
    }
  }

  bool exist() const { return !Blocks.empty(); }
  ArrayRef<const BasicBlock *> blocks() const { return Blocks.getArrayRef(); }

  /// True if such an iteration only finds that there is nothing to call for, as
  /// a loop over a directory passes over "." and "..".  Once that is known, it
  /// does nothing more.  Nor does it go through an array, unless it calls some
  /// function: counting the iteration would cost more than a byte of the array.
  bool areShort() const {
    SmallPtrSet<const BasicBlock *, 16> Undecided = beforeCalls();
    if (Undecided.empty())
      return false;
    bool Counts = alwaysCallFunctions();
    for (const BasicBlock *BB : Blocks) {
      if (A.LI.getLoopFor(BB) != &L)
        return false;
      for (const Instruction &I : *BB)
        if ((!Counts && goesThroughArray(I)) || isLongCall(I) ||
            (!Undecided.contains(BB) && I.mayReadOrWriteMemory() &&
             !isa<IntrinsicInst>(I)))
          return false;
    }
    return true;
  }

  /// True if an addition in each such iteration costs little: the iteration is
  /// long, goes through an inner loop, or waits for the next pointer of a list.
  /// In a loop over bytes, an addition would be 10 % of the iteration.
  bool areWorthAdding() const {
    return alwaysCallFunctions() || alwaysLength() >= MinAdded ||
           alwaysLoop() || followsPointers();
  }

private:
  /// Instructions of an iteration, before it is optimised, to which one more
  /// does not matter.
  static constexpr unsigned MinAdded = 40;

  /// Returns how many instructions each iteration without a call has at least.
  unsigned alwaysLength() const {
    unsigned Ret = 0;
    const BasicBlock *Latch = L.getLoopLatch();
    for (const BasicBlock *BB : Blocks)
      if (Latch && A.DT.dominates(BB, Latch))
        Ret += BB->sizeWithoutDebug();
    return Ret;
  }

  /// True if each round without a call enters an inner loop.
  bool alwaysLoop() const {
    const BasicBlock *Latch = L.getLoopLatch();
    return Latch && any_of(L.getSubLoops(), [&](const Loop *Inner) {
             return A.DT.dominates(Inner->getHeader(), Latch);
           });
  }

  bool isOwnCall(const BasicBlock &BB) const {
    return A.LI.getLoopFor(&BB) == &L && A.makesCall(BB);
  }

  /// True if the next iteration takes a pointer from memory.
  bool followsPointers() const {
    const BasicBlock *Latch = L.getLoopLatch();
    return Latch && any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
             return Phi.getType()->isPointerTy() &&
                    isa<LoadInst>(Phi.getIncomingValueForBlock(Latch));
           });
  }

  /// True if each iteration calls some function that is not short: a short one,
  /// as a program's own getc, becomes a few instructions of the loop.
  bool alwaysCallFunctions() const {
    return any_of(Blocks, [&](const BasicBlock *BB) {
      const BasicBlock *Latch = L.getLoopLatch();
      return Latch && A.DT.dominates(BB, Latch) &&
             any_of(*BB, [](const Instruction &I) { return isOtherCall(I); });
    });
  }

  /// Functions that call each other at their beginning, followed at most.
  static constexpr unsigned MaxDepth = 4;

  /// True for a call of a function that only tests a few values, or usually
  /// does no more: LLVM inlines that part.  A function that begins with a call
  /// of one that is not short, such as strlen, is not short either.
  static bool isShortCall(const Instruction &I, unsigned Depth = 0) {
    const Function *F = cast<CallBase>(I).getCalledFunction();
    return F && !F->isDeclaration() && Depth < MaxDepth && !hasLoops(*F) &&
           F->getInstructionCount() <= MaxShort &&
           none_of(
               F->front(),
               [&](const Instruction &Inner) {
                 return isOtherCall(Inner, Depth + 1);
               });
  }

  /// True for a call of a function that is not short.
  static bool isOtherCall(const Instruction &I, unsigned Depth = 0) {
    return isa<CallBase>(I) && !isa<IntrinsicInst>(I) && !isShortCall(I, Depth);
  }

  static bool hasLoops(const Function &F) {
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
    FindFunctionBackedges(F, Back);
    return !Back.empty();
  }

  /// Returns the blocks after which a call may come in the same iteration.
  SmallPtrSet<const BasicBlock *, 16> beforeCalls() const {
    SmallPtrSet<const BasicBlock *, 16> Ret;
    SmallVector<const BasicBlock *, 16> Work;
    for (const BasicBlock *BB : L.blocks())
      if (isOwnCall(*BB))
        Work.push_back(BB);
    while (!Work.empty()) {
      const BasicBlock *BB = Work.pop_back_val();
      if (!L.contains(BB) || !Ret.insert(BB).second || BB == L.getHeader())
        continue;
      append_range(Work, predecessors(BB));
    }
    return Ret;
  }

  /// True for a call of a function that may do more than test a few values.
  bool isLongCall(const Instruction &I) const {
    const auto *Call = dyn_cast<CallBase>(&I);
    const Function *F = Call ? Call->getCalledFunction() : nullptr;
    if (!F || F->isDeclaration())
      return false;
    return hasLoops(*F) || F->getInstructionCount() > MaxShort ||
           A.Calls.in(I) != Makes::Never;
  }

  bool goesThroughArray(const Instruction &I) const {
    Value *Pointer = const_cast<Value *>(getLoadStorePointerOperand(&I));
    const auto *Place =
        Pointer ? dyn_cast<SCEVAddRecExpr>(A.SE.getSCEV(Pointer)) : nullptr;
    return Place && Place->getLoop() == &L &&
           isa<SCEVConstant>(Place->getStepRecurrence(A.SE));
  }
};
} // namespace

/// True if all calls of a loop are in inner loops.
static bool onlyInnerLoopsCall(const Loop &L, LoopAnalyses &A) {
  return none_of(L.blocks(), [&](const BasicBlock *BB) {
    return A.LI.getLoopFor(BB) == &L && A.mayMakeCall(*BB);
  });
}

/// Returns the most frequent call of a loop that is in no inner loop, or null.
static CallBase *mostFrequentCall(const Loop &L, LoopAnalyses &A) {
  CallBase *Ret = nullptr;
  for (BasicBlock *BB : L.blocks())
    if (CallBase *Call = A.LI.getLoopFor(BB) == &L ? A.firstCall(*BB) : nullptr;
        Call && (!Ret || A.frequency(*BB) > A.frequency(*Ret->getParent())))
      Ret = Call;
  return Ret;
}

/// If at least this part of a loop's iterations makes a call, an addition in
/// the others does not matter.  LLVM expects a comparison of two numbers to be
/// true in 50 % of the cases.
static constexpr double MostIterations = 0.6;

/// True if what the other iterations of a loop lose can be counted at Call at
/// next to no cost: there are few, or a value counts them.  An inner loop costs
/// some instructions each time that it ends, so a value is not enough there.
static bool isCountedFree(const Loop &L, const CallBase &Call,
                          LoopAnalyses &A) {
  const BasicBlock *Latch = L.getLoopLatch();
  double Part =
      Latch ? A.frequency(*Call.getParent()) / A.frequency(*Latch) : 0;
  return Part >= MostIterations ||
         (findCounter(L, A) && (L.isOutermost() || Part >= 0.5));
}

LoopCounts cosy::countLoop(const Loop &L, LoopAnalyses &A) {
  LoopCounts Ret;
  if (!A.mayMakeCall(L))
    return Ret;
  WaysWithoutCall Ways(L, A);
  // A loop that is always left has no whole iteration.
  if (!Ways.exist() || Ways.areShort()) {
    Ret.Skipped.emplace(Ways.blocks());
    return Ret;
  }
  bool Worth = Ways.areWorthAdding();
  if (onlyInnerLoopsCall(L, A)) {
    Ret.AddsUp = Worth;
    return Ret;
  }
  CallBase *Call = L.getHeader()->isEHPad() ? nullptr : mostFrequentCall(L, A);
  if (Call && (Worth || isCountedFree(L, *Call, A)))
    Ret.Call = Call;
  return Ret;
}

const LoopCounts &CountedLoops::counts(const Loop &L) {
  std::unique_ptr<LoopCounts> &Ret = Counts[&L];
  if (!Ret)
    Ret = std::make_unique<LoopCounts>(countLoop(L, *this));
  return *Ret;
}
