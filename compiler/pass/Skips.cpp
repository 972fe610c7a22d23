// SPDX-License-Identifier: MIT
//===- Skips.cpp - Iterations of a loop that make no call
//------------------===//
//
// Which code makes system calls, and which ways round a loop avoid them.  From
// that follows how the loop's iterations are counted natively:
//
//   every iteration makes a call, or those    at the head (skippedPart)
//   without one are short
//   other iterations without a call           at the calls (countingCall): a
//                                             register adds up what they lose
//   all calls are in inner loops              where these begin (isAddedUp), by
//                                             such a register
//   as above, but adding costs too much       not at all: Cost.cpp assumes a
//                                             number
//
//===----------------------------------------------------------------------===//
#include "BpfModule.h"
#include "CallTable.h"
#include "Region.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace cosy;

/// True for a function of libc's that only computes, in a compound.
bool cosy::isComputed(StringRef Name) {
  if (const Wrapper *W = findWrapper(Name))
    return !W->MakesCalls;
  return Name == "__errno_location" || isLocator(Name) ||
         (isInRuntime(Name) && !runtimeMakesCalls(Name));
}

namespace {
/// How often code makes a system call when it runs.
enum class Makes { Never, Sometimes, Always };

/// Looks for system calls, also in the functions that are called.
class SystemCalls {
  /// Sometimes for a function that is being looked at, so that recursion ends.
  DenseMap<const Function *, Makes> Known;

public:
  Makes in(const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isa<IntrinsicInst>(I) || Call->isInlineAsm())
      return Makes::Never;
    const Function *F = Call->getCalledFunction();
    if (!F)
      return Makes::Always;
    if (!F->isDeclaration())
      return in(*F);
    return isComputed(F->getName()) ? Makes::Never : Makes::Always;
  }

  Makes in(const BasicBlock &BB) {
    Makes Ret = Makes::Never;
    for (const Instruction &I : BB)
      Ret = std::max(Ret, in(I));
    return Ret;
  }

private:
  Makes in(const Function &F) {
    auto [It, New] = Known.insert({&F, Makes::Sometimes});
    if (!New)
      return It->second;
    Makes Ret = Makes::Never;
    if (any_of(F, [&](const BasicBlock &BB) { return in(BB) != Makes::Never; }))
      Ret = returnsWithoutCall(F) ? Makes::Sometimes : Makes::Always;
    return Known[&F] = Ret;
  }

  bool returnsWithoutCall(const Function &F) {
    SmallPtrSet<const BasicBlock *, 16> Seen;
    SmallVector<const BasicBlock *, 16> Work{&F.getEntryBlock()};
    while (!Work.empty()) {
      const BasicBlock *BB = Work.pop_back_val();
      if (!Seen.insert(BB).second || in(*BB) == Makes::Always)
        continue;
      if (isa<ReturnInst>(BB->getTerminator()))
        return true;
      append_range(Work, successors(BB));
    }
    return false;
  }
};

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

bool cosy::makesCall(const BasicBlock &BB) {
  return SystemCalls().in(BB) == Makes::Always;
}

bool cosy::mayMakeCall(const BasicBlock &BB) {
  return SystemCalls().in(BB) != Makes::Never;
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

  /// True if an addition in each such round costs little: the round is long, or
  /// waits for the next pointer of a list.  In a loop over bytes it is a tenth
  /// of the round.
  bool areWorthAdding() const {
    return alwaysCallFunctions() || alwaysLength() >= MinAdded ||
           followsPointers();
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

  bool isOwnCall(const BasicBlock &BB) const {
    return A.LI.getLoopFor(&BB) == &L && makesCall(BB);
  }

  /// True if the next round takes a pointer from memory.
  bool followsPointers() const {
    const BasicBlock *Latch = L.getLoopLatch();
    return Latch && any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
             return Phi.getType()->isPointerTy() &&
                    isa<LoadInst>(Phi.getIncomingValueForBlock(Latch));
           });
  }

  /// True if each round calls some function, which makes no system call.
  bool alwaysCallFunctions() const {
    return any_of(Blocks, [&](const BasicBlock *BB) {
      const BasicBlock *Latch = L.getLoopLatch();
      return Latch && A.DT.dominates(BB, Latch) &&
             any_of(*BB, [](const Instruction &I) {
               return isa<CallBase>(I) && !isa<IntrinsicInst>(I);
             });
    });
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
  static bool isLongCall(const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    const Function *F = Call ? Call->getCalledFunction() : nullptr;
    if (!F || F->isDeclaration())
      return false;
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
    FindFunctionBackedges(*F, Back);
    return !Back.empty() || F->getInstructionCount() > MaxShort ||
           SystemCalls().in(I) != Makes::Never;
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

CallBase *cosy::firstCall(BasicBlock &BB) {
  SystemCalls Calls;
  for (Instruction &I : BB)
    if (Calls.in(I) == Makes::Always)
      return cast<CallBase>(&I);
  return nullptr;
}

std::optional<SmallVector<const BasicBlock *, 8>>
cosy::skippedPart(const Loop &L, LoopAnalyses &A) {
  // There is no way round at all in a loop that is always left.
  if (none_of(L.blocks(), [](BasicBlock *BB) { return mayMakeCall(*BB); }))
    return std::nullopt;
  WaysWithoutCall Ways(L, A);
  if (!Ways.exist())
    return SmallVector<const BasicBlock *, 8>();
  if (!Ways.areShort())
    return std::nullopt;
  return SmallVector<const BasicBlock *, 8>(Ways.blocks());
}

CallBase *cosy::countingCall(const Loop &L, LoopAnalyses &A) {
  if (L.getHeader()->isEHPad() || !WaysWithoutCall(L, A).areWorthAdding())
    return nullptr;
  BranchProbabilityInfo BPI(*L.getHeader()->getParent(), A.LI, &A.TLI, &A.DT);
  BlockFrequencyInfo BFI(*L.getHeader()->getParent(), BPI, A.LI);
  CallBase *Ret = nullptr;
  for (BasicBlock *BB : L.blocks())
    if (CallBase *Call = A.LI.getLoopFor(BB) == &L ? firstCall(*BB) : nullptr;
        Call &&
        (!Ret || BFI.getBlockFreq(BB) > BFI.getBlockFreq(Ret->getParent())))
      Ret = Call;
  return Ret;
}

bool cosy::isAddedUp(const Loop &L, LoopAnalyses &A) {
  auto Own = [&](const BasicBlock *BB) {
    return A.LI.getLoopFor(BB) == &L && mayMakeCall(*BB);
  };
  return any_of(L,
                [&](const Loop *Inner) {
                  return any_of(Inner->blocks(), [](const BasicBlock *BB) {
                    return mayMakeCall(*BB);
                  });
                }) &&
         none_of(L.blocks(), Own) && WaysWithoutCall(L, A).areWorthAdding();
}
