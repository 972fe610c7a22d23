// SPDX-License-Identifier: MIT
//===- Cost.cpp - What a region gains in the kernel -----------------------===//
//
// Estimates from the native twin's code and the measured costs of
// core/costs.h: each system call saves its crossing, each access to memory and
// each round of a loop costs more than outside.  Nobody knows how often a loop
// will go round.  A loop whose rounds are counted as they go is assumed to go
// AssumedRounds; any other as many as it may, MaxRounds at most.
//
//===----------------------------------------------------------------------===//
#include "BpfModule.h"
#include "CallTable.h"
#include "Region.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <algorithm>
#include <costs.h>
#include <map>
#include <tuple>

using namespace llvm;
using namespace cosy;

/// Rounds that a loop is assumed to go if its rounds are counted.
static constexpr int64_t AssumedRounds = 64;

/// Rounds that another loop is assumed to go at most: the bytes of a page.
static constexpr int64_t MaxRounds = 4096;

static Gain operator+(Gain A, Gain B) {
  return {A.Saved + B.Saved, A.Plain + B.Plain, A.Calls + B.Calls,
          A.Number + B.Number};
}
static Gain operator*(Gain A, int64_t N) {
  return {A.Saved * N, A.Plain * N, A.Calls * N, A.Number * N};
}

/// True for a function of libc's that only computes, in a compound.
static bool isComputed(StringRef Name) {
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

LoopAnalyses::LoopAnalyses(Function &F)
    : Libc(Triple(F.getParent()->getTargetTriple())), TLI(Libc, &F), AC(F),
      DT(F), LI(DT), SE(F, TLI, AC, DT, LI) {}

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

private:
  bool isOwnCall(const BasicBlock &BB) const {
    return A.LI.getLoopFor(&BB) == &L && makesCall(BB);
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

namespace {
/// Knows how many rounds a function's loops go.
class Rounds : public LoopAnalyses {
  DenseMap<const Loop *, int64_t> Known;
  DenseMap<const Loop *, bool> Counted;

public:
  using LoopAnalyses::LoopAnalyses;

  /// False for a function of which no copy counts what its loops lose.
  bool CountLosses = true;

  /// True if a loop's rounds are counted as they go.
  bool areCounted(const Loop &L) {
    auto [It, New] = Counted.insert({&L, false});
    if (New)
      It->second = skippedPart(L, *this).has_value();
    return It->second;
  }

  /// Returns how many rounds a loop without calls is taken for: the number that
  /// is known, or the most for which the objects that it goes through have
  /// room.  Too many would keep a region native; with too few it would lose for
  /// as long as it runs.
  int64_t of(const Loop &L) {
    auto [It, New] = Known.insert({&L, MaxRounds});
    if (!New)
      return It->second;
    int64_t Ret = MaxRounds;
    if (unsigned Exactly = SE.getSmallConstantTripCount(&L))
      Ret = std::min<int64_t>(Exactly, Ret);
    else if (unsigned Most = SE.getSmallConstantMaxTripCount(&L))
      Ret = std::min<int64_t>(Most, Ret);
    for (const BasicBlock *BB : L.blocks())
      if (const BasicBlock *Latch = L.getLoopLatch();
          Latch && DT.dominates(BB, Latch))
        for (const Instruction &I : *BB)
          Ret = std::min(Ret, within(I, L));
    return Known[&L] = Ret;
  }

private:
  /// Returns for how many rounds there is room where each goes on to another
  /// place of an object of known size.
  int64_t within(const Instruction &I, const Loop &L) {
    const auto *Pointer = const_cast<Value *>(getLoadStorePointerOperand(&I));
    const auto *Place =
        Pointer
            ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(const_cast<Value *>(Pointer)))
            : nullptr;
    const auto *Step =
        Place && Place->getLoop() == &L
            ? dyn_cast<SCEVConstant>(Place->getStepRecurrence(SE))
            : nullptr;
    std::optional<TypeSize> Size;
    if (Step) {
      const Value *Object = getUnderlyingObject(Pointer);
      if (const auto *Local = dyn_cast<AllocaInst>(Object))
        Size = Local->getAllocationSize(I.getDataLayout());
      else if (const auto *Global = dyn_cast<GlobalVariable>(Object))
        Size = I.getDataLayout().getTypeAllocSize(Global->getValueType());
    }
    if (!Size || Size->isScalable())
      return MaxRounds;
    uint64_t Each = Step->getAPInt().abs().getLimitedValue();
    return std::clamp<int64_t>(Size->getFixedValue() / Each, 1, MaxRounds);
  }
};
} // namespace

/// Marks a loop whose rounds lose nothing, since it takes words.
static constexpr char WidenedName[] = "cosy.widened";

static bool isWidened(const Loop &L) {
  return getOptionalBoolLoopAttribute(&L, WidenedName).value_or(false);
}

/// True if both are the same place of the source.
static bool isSamePlace(const DebugLoc &A, const DebugLoc &B) {
  return A && B && A.getLine() == B.getLine() && A.getCol() == B.getCol() &&
         A->getFilename() == B->getFilename();
}

void cosy::markWidened(Module &M, const Compound &C) {
  if (C.Widened.empty())
    return;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    for (Loop *L : LI.getLoopsInPreorder())
      if (L->isInnermost() && any_of(C.Widened, [&](const DebugLoc &Where) {
            return isSamePlace(Where, L->getStartLoc());
          }))
        addStringMetadataToLoop(L, WidenedName, true);
  }
}

namespace {
/// Adds up what code saves in the kernel.
class Estimate {
  /// Results for functions that are called; 0 for one that is being looked at,
  /// so that recursion ends.
  DenseMap<const Function *, Gain> Known;
  const Recursion &In;

public:
  explicit Estimate(const Recursion &In) : In(In) {
    // Each call of these is counted at the function's entry.
    for (const Function *F : In.Entered)
      Known[F] = Gain{};
  }

  /// Sums up a function, each loop for as many rounds as are assumed, unless
  /// they are counted in the function's copy.
  Gain ofFunction(const Function &F) {
    auto [It, New] = Known.insert({&F, Gain{}});
    if (!New)
      return It->second;
    Rounds Loops(const_cast<Function &>(F));
    bool Copied = is_contained(In.Copied, &F);
    Loops.CountLosses = Copied;
    Gain Ret = ofEntry(F, Loops);
    if (Copied)
      return Known[&F] = Ret;
    for (const Loop *L : Loops.LI.getLoopsInPreorder())
      if (Loops.areCounted(*L))
        Ret = Ret + ofRound(*L, Loops) * AssumedRounds;
    return Known[&F] = Ret;
  }

  /// Sums up the code that is in no loop whose rounds are counted.
  Gain ofEntry(const Function &F, Rounds &Loops) {
    Gain Ret;
    for (const BasicBlock &BB : F)
      Ret = Ret + ofBlock(BB, nullptr, Loops);
    return Ret;
  }

  /// Sums up a round that only goes through these blocks.
  Gain ofSkip(ArrayRef<const BasicBlock *> Blocks, const Loop &L,
              Rounds &Loops) {
    Gain Ret{-COSY_LOSS_ROUND, 0};
    for (const BasicBlock *BB : Blocks)
      Ret = Ret + ofBlock(*BB, &L, Loops);
    return Ret;
  }

  /// Sums up what is lost in the blocks of one round that are in no inner loop.
  int64_t lostIn(const Loop &L, const LoopInfo &LI) {
    if (isWidened(L))
      return 0;
    int64_t Ret = COSY_LOSS_ROUND;
    for (const BasicBlock *BB : L.blocks())
      if (LI.getLoopFor(BB) == &L)
        for (const Instruction &I : *BB)
          Ret -= ofInstruction(I).Saved;
    return Ret;
  }

  /// Returns what a call saves that is no call of a function with a body.
  int64_t ofCallAlone(const CallBase &Call) {
    return ofInstruction(Call).Saved;
  }

  /// Sums up one round, without inner loops whose rounds are counted.
  Gain ofRound(const Loop &L, Rounds &Loops) {
    Gain Ret{-COSY_LOSS_ROUND, 0};
    for (const BasicBlock *BB : L.blocks())
      Ret = Ret + ofBlock(*BB, &L, Loops);
    return Ret;
  }

private:
  /// Sums up a block, for each round of the loop or each entry of the function.
  /// The losses of an inner loop count for every assumed round, its calls once.
  Gain ofBlock(const BasicBlock &BB, const Loop *Around, Rounds &Loops) {
    int64_t Times = 1;
    for (const Loop *L = Loops.LI.getLoopFor(&BB); L != Around;
         L = L->getParentLoop()) {
      if (Loops.areCounted(*L) || (Loops.CountLosses && countsLosses(*L)))
        return {};
      Times = std::min(Times * Loops.of(*L), MaxRounds * MaxRounds);
    }
    Gain Ret;
    for (const Instruction &I : BB) {
      Gain G = ofInstruction(I);
      Ret = Ret + (G.Saved > 0 ? G : G * Times);
    }
    const Loop *Own = Loops.LI.getLoopFor(&BB);
    // Words need a few instructions more before the first and after the last.
    if (Own && isWidened(*Own))
      return {Own->getHeader() == &BB
                  ? -COSY_LOSS_SHORT *
                        std::max<int64_t>(Times / Loops.of(*Own), 1)
                  : 0,
              Ret.Plain};
    if (Own != Around && Own->getHeader() == &BB)
      Ret.Saved -= COSY_LOSS_ROUND * Times;
    return Ret;
  }

  Gain ofInstruction(const Instruction &I) {
    // A copy of a few constant bytes is a few loads and stores.
    if (const auto *Mem = dyn_cast<MemIntrinsic>(&I)) {
      const auto *Size = dyn_cast<ConstantInt>(Mem->getLength());
      int64_t Words =
          Size ? Size->getValue().getLimitedValue(MaxRounds) / 8 : MaxRounds;
      return {-std::min<int64_t>(COSY_LOSS_SHORT,
                                 2 * COSY_LOSS_SHARED * (Words + 1)),
              0};
    }
    if (const auto *Call = dyn_cast<CallBase>(&I))
      return isa<IntrinsicInst>(I) ? Gain{} : ofCall(*Call);
    const Value *Pointer = getLoadStorePointerOperand(&I);
    if (!Pointer)
      return {0, 1};
    // All but globals may be in the shared buffer, or in a register.
    bool Elsewhere = isa<GlobalVariable>(getUnderlyingObject(Pointer));
    return {Elsewhere ? -COSY_LOSS_ELSEWHERE : -COSY_LOSS_SHARED, 1};
  }

  static int64_t lossOfOperation(StringRef Name) {
    if (is_contained({"memchr", "memrchr", "memmem", "rawmemchr", "strstr"},
                     Name))
      return COSY_LOSS_SEARCH;
    return isExpandedInPlace(Name) ? COSY_LOSS_SHORT : COSY_LOSS_STRING;
  }

  Gain ofCall(const CallBase &Call) {
    const Function *F = Call.getCalledFunction();
    if (!F)
      return {};
    if (!F->isDeclaration())
      return ofFunction(*F);
    if (F->getName() == "syscall" && Call.arg_size())
      if (const auto *Number = dyn_cast<ConstantInt>(Call.getArgOperand(0)))
        return ofSystemCall(Number->getZExtValue());
    const Wrapper *W = findWrapper(F->getName());
    if (!W && isInRuntime(F->getName()) && isComputed(F->getName()))
      return {-COSY_LOSS_STRING, 0};
    if (!W)
      return {0, isComputed(F->getName()) ? 1 : COSY_PLAIN_CALL};
    if (!W->MakesCalls)
      return {-lossOfOperation(F->getName()), 0};
    return ofSystemCall(W->Number);
  }

  static Gain ofSystemCall(uint64_t Number) {
    bool Fast = hasFastVersion(Number), Path = takesPath(Number);
    int64_t Saved = !Fast  ? COSY_GAIN_CALL
                    : Path ? COSY_GAIN_PATH
                           : COSY_GAIN_FAST;
    return {Saved,
            Path   ? COSY_PLAIN_PATH
            : Fast ? COSY_PLAIN_FAST
                   : COSY_PLAIN_CALL,
            Saved, 1};
  }
};
} // namespace

/// Returns struct cosy_region's `share`.  core/costs.h tells how much code may
/// run outside before the region is loaded; here that becomes how much would
/// have been saved, by the part of the code's cost that the kernel saves.
static unsigned shareOf(Gain All) {
  int64_t Share = All.Plain ? COSY_TIER_SHARE * All.Saved / All.Plain : 1;
  return std::clamp<int64_t>(Share, 1, COSY_TIER_SHARE);
}

/// Returns what is lost around each call.  More than a call can save is what
/// loops may lose that are supposed to go round for very long.
static unsigned lostPerCall(Gain All) {
  if (!All.Number)
    return 0;
  return std::clamp<int64_t>((All.Calls - All.Saved) / All.Number, 0,
                             COSY_GAIN_PATH);
}

void cosy::estimateGain(const Function &Body, ArrayRef<BasicBlock *> Heads,
                        const Recursion &In, RegionCost &Ret) {
  Estimate E(In);
  Rounds Loops(const_cast<Function &>(Body));
  Gain Entry = E.ofEntry(Body, Loops);
  Ret.All = Entry;
  Ret.Entry = Entry.Saved - COSY_COST_RUN;
  Ret.Loses = Ret.Entry <= 0;
  for (const BasicBlock *Head : Heads) {
    const Loop &L = *Loops.LI.getLoopFor(Head);
    Gain Round = E.ofRound(L, Loops);
    Ret.Rounds.push_back(Round.Saved);
    auto Skipped = skippedPart(L, Loops);
    Ret.Skips.push_back(
        std::min<int64_t>(E.ofSkip(*Skipped, L, Loops).Saved, 0));
    Ret.Loses &= Round.Saved <= 0;
    Ret.All = Ret.All + Round * AssumedRounds;
  }
  Ret.Share = shareOf(Ret.All);
  Ret.Lost = lostPerCall(Ret.All);
}

/// True if each round of L that makes some call makes this one.
static bool isInEachRound(const CallBase &Call, const Loop &L,
                          LoopAnalyses &A) {
  const BasicBlock *BB = Call.getParent(), *Latch = L.getLoopLatch();
  if (!Latch || A.DT.dominates(BB, Latch))
    return true;
  return all_of(L.blocks(), [&](const BasicBlock *Other) {
    return A.LI.getLoopFor(Other) != &L || !mayMakeCall(*Other) ||
           A.DT.dominates(BB, Other);
  });
}

/// True if each call of F that returns makes this one.
static bool isInEachCall(const CallBase &Call, const Function &F,
                         LoopAnalyses &A) {
  return all_of(F, [&](const BasicBlock &BB) {
    return !isa<ReturnInst>(BB.getTerminator()) ||
           A.DT.dominates(Call.getParent(), &BB);
  });
}

SmallVector<SeldomCall, 4> cosy::findSeldomCalls(Function &Body,
                                                 ArrayRef<BasicBlock *> Heads,
                                                 RegionCost &Cost) {
  SmallVector<SeldomCall, 4> Ret;
  LoopAnalyses A(Body);
  Recursion None;
  Estimate E(None);
  Cost.SureEntry = Cost.Entry;
  Cost.SureRounds = Cost.Rounds;
  for (BasicBlock &BB : Body) {
    const Loop *L = A.LI.getLoopFor(&BB);
    auto Head = L ? find(Heads, L->getHeader()) : Heads.end();
    if (L && Head == Heads.end())
      continue;
    for (Instruction &I : BB) {
      auto *Call = dyn_cast<CallBase>(&I);
      const Function *F = Call ? Call->getCalledFunction() : nullptr;
      int64_t Saves = F && F->isDeclaration() ? E.ofCallAlone(*Call) : 0;
      if (Saves <= 0 ||
          (L ? isInEachRound(*Call, *L, A) : isInEachCall(*Call, Body, A)))
        continue;
      (L ? Cost.SureRounds[Head - Heads.begin()] : Cost.SureEntry) -= Saves;
      Ret.push_back({Call, Saves});
    }
  }
  return Ret;
}

int64_t cosy::lossPerRound(const Loop &L, const LoopInfo &LI) {
  Recursion None;
  return Estimate(None).lostIn(L, LI);
}

void cosy::addCost(RegionCost &Whole, const RegionCost &Cost, bool IsEntered) {
  Whole.All = Whole.All + Cost.All;
  Whole.Share = shareOf(Whole.All);
  Whole.Rounds.append(Cost.Rounds);
  for (int64_t Round : Cost.Rounds)
    Whole.Loses &= Round <= 0;
  if (!IsEntered)
    return;
  Whole.Calls.push_back(Cost.Entry + COSY_COST_RUN);
  Whole.Loses &= Whole.Calls.back() <= 0;
}

uint64_t cosy::loadCost(size_t Instructions) {
  return COSY_COST_LOAD + uint64_t(COSY_COST_LOAD_INSN) * Instructions;
}
