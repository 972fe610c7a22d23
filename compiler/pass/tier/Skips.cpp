// SPDX-License-Identifier: MIT
//===- Skips.cpp - Iterations of a loop that make no call -----------------===//
//
// Which ways round a loop avoid its system calls.  From that follows how the
// loop's iterations are counted natively (LoopCounts):
//
//   every iteration makes a call, or those    at the head (Skipped)
//   without one are short
//   other iterations without a call           at the calls (Call): see
//                                             PendingLosses.cpp
//   all calls are in inner loops              where these begin (AddsUp), in
//   the
//                                             same way
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
/// A block, and those of its phis that are constant on some way to it.
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

/// Returns what a condition of the block is, if its phis tell: as after
/// `a && b`, or a comparison of `a ? -1 : b`.
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

/// True if the block does not end by going to Succ.
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
/// Finds the ways round a loop on which no call is made.  A call in an inner
/// loop does not count, since that loop may go no round at all.
class WaysWithoutCall {
  /// Instructions of a function that finds out whether there is something to
  /// call for, before it is optimised.
  static constexpr unsigned MaxShort = 40;

  /// Ways that are told apart by what is known on them.
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
      // Of too many ways nothing is known any more.
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
    // What only comes before a call, or leaves the loop, is no part of these.
    SmallPtrSet<const Arrival *, 16> Round;
    while (!Back.empty()) {
      const Arrival *At = Back.pop_back_val();
      if (!At || !Round.insert(At).second)
        continue;
      Blocks.insert(At->BB);
      append_range(Back, Seen.find(*At)->second);
    }
  }

  bool exist() const { return !Blocks.empty(); }
  ArrayRef<const BasicBlock *> blocks() const { return Blocks.getArrayRef(); }

  /// True if such a round only finds that there is nothing to call for, as a
  /// loop over a directory passes over "." and "..".  Once that is known it
  /// does nothing more.  Nor does it go through an array, unless it calls some
  /// function: counting a round would cost more than a byte of that.
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

  /// True if an addition in each such round costs little: the round is long,
  /// goes through an inner loop, or waits for the next pointer of a list.  In a
  /// loop over bytes it is a tenth of the round.
  bool areWorthAdding() const {
    return alwaysCallFunctions() || alwaysLength() >= MinAdded ||
           alwaysLoop() || followsPointers();
  }

private:
  /// Instructions of a round, before it is optimised, beside which one more
  /// does not matter.
  static constexpr unsigned MinAdded = 40;

  /// Returns how many instructions each round without a call has at least.
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

  /// True if the next round takes a pointer from memory.
  bool followsPointers() const {
    const BasicBlock *Latch = L.getLoopLatch();
    return Latch && any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
             return Phi.getType()->isPointerTy() &&
                    isa<LoadInst>(Phi.getIncomingValueForBlock(Latch));
           });
  }

  /// True if each round calls some function that is not so short that nothing
  /// is left of the call: a program's own getc is a few instructions of a loop.
  bool alwaysCallFunctions() const {
    return any_of(Blocks, [&](const BasicBlock *BB) {
      const BasicBlock *Latch = L.getLoopLatch();
      return Latch && A.DT.dominates(BB, Latch) &&
             any_of(*BB, [&](const Instruction &I) {
               return isa<CallBase>(I) && !isa<IntrinsicInst>(I) &&
                      !isShortCall(I);
             });
    });
  }

  /// True for a call of a function that only looks at a few values, or mostly
  /// does: what is left of it is inlined.
  static bool isShortCall(const Instruction &I) {
    const Function *F = cast<CallBase>(I).getCalledFunction();
    return F && !F->isDeclaration() && !hasLoops(*F) &&
           F->getInstructionCount() <= MaxShort;
  }

  static bool hasLoops(const Function &F) {
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
    FindFunctionBackedges(F, Back);
    return !Back.empty();
  }

  /// Returns the blocks after which a call may come in the same round.
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

  /// True for a call of a function that may do more than look at a few values.
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

/// Part of a loop's iterations that make a call, where an addition in the
/// others does not matter.  LLVM takes a comparison of two numbers for true in
/// half of the cases.
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
  // There is no way round at all in a loop that is always left.
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
