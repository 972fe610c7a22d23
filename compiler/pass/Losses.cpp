// SPDX-License-Identifier: MIT
//===- Losses.cpp - Counts what loops without calls would lose ------------===//
//
// A loop that makes no call costs more in the kernel than outside.  How often
// it goes round is known when it ends.  So the native twin adds up in a
// register what its rounds, and those of inner loops, would have lost, and adds
// the sum to the region's `left`.
//
//   loop:                       loop:
//     ...                         %l = phi i64 [ 0, .. ], [ %m, %loop ]
//     br .., %loop, %end          %m = add i64 %l, 11
//                                 ...
//                                 br .., %loop, %end
//   end:                        end:
//                                 <left += %m, unless that is settled>
//
// LLVM makes a multiplication of the sum where it knows how many rounds there
// are.  Else the sum would be one instruction more in each round, so a loop
// with a counter of its own is not touched: its rounds are how far the counter
// has come.
//
//   loop:                       loop:
//     %i = phi i64 [ %n, .. ]     %i = phi i64 [ %n, .. ]
//     ..                          ..
//   end:                        end:
//                                 %c = <%i, copied: see Counters.cpp>
//                                 %r = sub i64 %n, %c
//                                 %m = mul i64 %r, 11
//
// For a loop whose exits also lead in from elsewhere there is no place to do
// that: Cost.cpp estimates how often it goes round.
//
//===----------------------------------------------------------------------===//
#include "Counters.h"
#include "Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <costs.h>

#define DEBUG_TYPE "cosy-losses"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumLoops, "Number of loops whose losses are counted");
ALWAYS_ENABLED_STATISTIC(NumCounters,
                         "Number of loops that count their rounds themselves");

void cosy::simplifyLoops(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (Loop *L : LI)
    simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr,
                 /*PreserveLCSSA=*/false);
}

static bool isWithoutCalls(const Loop &L) {
  return none_of(L.blocks(),
                 [](const BasicBlock *BB) { return mayMakeCall(*BB); });
}

static bool hasPadExit(const Loop &L) {
  SmallVector<BasicBlock *, 4> Exits;
  L.getExitBlocks(Exits);
  return any_of(Exits, [](const BasicBlock *BB) { return BB->isEHPad(); });
}

bool cosy::countsLosses(const Loop &L) {
  const Loop *Parent = L.getParentLoop();
  if (!isWithoutCalls(L) || (Parent && isWithoutCalls(*Parent)) ||
      !L.getLoopPreheader() || !L.hasDedicatedExits())
    return false;
  return !hasPadExit(L);
}

namespace {
/// A loop's own counter, to which each round adds the same.
struct Counter {
  PHINode *Value;
  llvm::Value *Start, *Next;
  bool Down;     ///< Each round subtracts.
  uint64_t Step; ///< It adds or subtracts so much.
};

/// A loop of those that countLoop adds up.
struct Counted {
  const Loop *L;
  int64_t Loss;               ///< Of a round; 0: it takes words.
  std::optional<Counter> Own; ///< Taken in place of a sum.
};

/// What a loop that countsLosses would lose, added up on the ways out of it.
class Sums {
  Type *I64;
  SSAUpdater Updater;
  /// The last sum of a block, and the first one, whose operand is set once all
  /// sums are known.
  MapVector<BasicBlock *, std::pair<Instruction *, Instruction *>> In;

public:
  explicit Sums(const Loop &L)
      : I64(Type::getInt64Ty(L.getHeader()->getContext())) {
    Updater.Initialize(I64, "cosy.lost");
    Updater.AddAvailableValue(L.getLoopPreheader(), ConstantInt::get(I64, 0));
  }

  void addRounds(const Counted &C) {
    SmallVector<BasicBlock *, 4> Exits;
    C.L->getUniqueExitBlocks(Exits);
    if (!C.Loss) {
      for (BasicBlock *Exit : Exits)
        addOnce(*Exit);
      return;
    }
    if (C.Own) {
      for (BasicBlock *Exit : Exits)
        addOwn(C, *Exit);
      ++NumCounters;
      return;
    }
    // Count at the latch: at the head, a loop that is left there before its
    // first round would count one.
    BasicBlock *Latch = C.L->getLoopLatch();
    BasicBlock *BB = Latch ? Latch : C.L->getHeader();
    IRBuilder<> B(BB, place(*BB));
    add(B, B.getInt64(C.Loss));
  }

  void connect() {
    for (auto &[BB, Ends] : In)
      Updater.AddAvailableValue(BB, Ends.first);
    for (auto &[BB, Ends] : In)
      Ends.second->setOperand(0, Updater.GetValueInMiddleOfBlock(BB));
  }

  /// Returns the sum at an exit of the whole loop.
  Value *atExit(BasicBlock *Exit) {
    return In.count(Exit) ? In[Exit].first
                          : Updater.GetValueInMiddleOfBlock(Exit);
  }

  /// Returns the place after a block's last sum.
  BasicBlock::iterator place(BasicBlock &BB) {
    auto It = In.find(&BB);
    return It == In.end() ? BB.getFirstInsertionPt()
                          : std::next(It->second.first->getIterator());
  }

private:
  void add(IRBuilder<> &B, Value *Lost) {
    BasicBlock *BB = B.GetInsertBlock();
    auto [It, New] = In.insert({BB, {}});
    Value *Before = It->second.first;
    Instruction *Sum = B.Insert(
        BinaryOperator::CreateAdd(New ? PoisonValue::get(I64) : Before, Lost),
        "cosy.lost");
    It->second.first = Sum;
    if (New)
      It->second.second = Sum;
  }

  /// Adds what a loop that takes words costs above its rounds.
  void addOnce(BasicBlock &Exit) {
    IRBuilder<> B(&Exit, place(Exit));
    add(B, B.getInt64(COSY_LOSS_SHORT));
  }

  void addOwn(const Counted &C, BasicBlock &Exit) {
    IRBuilder<> B(&Exit, place(Exit));
    Type *Ty = C.Own->Value->getType();
    Type *Int = Ty->isPointerTy() ? I64 : Ty;
    auto asInt = [&](Value *V) { return B.CreatePtrToInt(V, Int); };
    // A round that ends at the loop's end was a whole one.
    BasicBlock *Latch = C.L->getLoopLatch();
    bool Whole = all_of(predecessors(&Exit),
                        [&](const BasicBlock *Pred) { return Pred == Latch; });
    // With a look at the counter itself LSR would keep a register for what is
    // computed below, and change that in each round.
    Value *End = copyCounter(B, asInt(Whole ? C.Own->Next : C.Own->Value));
    Value *Start = asInt(C.Own->Start);
    Value *Rounds =
        C.Own->Down ? B.CreateSub(Start, End) : B.CreateSub(End, Start);
    if (uint64_t Step = C.Own->Step; Step > 1)
      Rounds = isPowerOf2_64(Step)
                   ? B.CreateLShr(Rounds, Log2_64(Step))
                   : B.CreateUDiv(Rounds, ConstantInt::get(Int, Step));
    add(B, B.CreateMul(B.CreateZExt(Rounds, I64), B.getInt64(C.Loss)));
  }
};
} // namespace

static std::optional<Counter> asCounter(PHINode &Phi, const Loop &L,
                                        ScalarEvolution &SE) {
  Type *Ty = Phi.getType();
  if (!Ty->isIntegerTy(32) && !Ty->isIntegerTy(64) && !Ty->isPointerTy())
    return std::nullopt;
  const auto *Place = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi));
  const auto *Step = Place && Place->getLoop() == &L
                         ? dyn_cast<SCEVConstant>(Place->getStepRecurrence(SE))
                         : nullptr;
  if (!Step || Step->isZero() || !Step->getAPInt().isSignedIntN(31))
    return std::nullopt;
  return Counter{&Phi, Phi.getIncomingValueForBlock(L.getLoopPreheader()),
                 Phi.getIncomingValueForBlock(L.getLoopLatch()),
                 Step->getAPInt().isNegative(),
                 Step->getAPInt().abs().getZExtValue()};
}

/// What LLVM spends on a value outside of a loop in order not to compute it in
/// each round: less than a division.
static constexpr unsigned CheapBudget = TargetTransformInfo::TCC_Expensive - 1;

/// True if LLVM makes a multiplication of a sum over a loop's rounds: they are
/// known, and it costs few instructions to compute them.  A division does not.
static bool becomesProduct(const Loop &L, ScalarEvolution &SE) {
  if (!SE.hasLoopInvariantBackedgeTakenCount(&L))
    return false;
  const DataLayout &DL = L.getHeader()->getModule()->getDataLayout();
  TargetTransformInfo TTI(DL);
  return !SCEVExpander(SE, DL, "cosy")
              .isHighCostExpansion(SE.getBackedgeTakenCount(&L),
                                   const_cast<Loop *>(&L), CheapBudget, &TTI,
                                   L.getLoopPreheader()->getTerminator());
}

/// Returns a loop's own counter, numbers first.  A sum that becomes a product
/// is as good.
static std::optional<Counter> counterOf(const Loop &L, ScalarEvolution &SE) {
  if (!L.isLoopSimplifyForm() || hasPadExit(L) || becomesProduct(L, SE))
    return std::nullopt;
  std::optional<Counter> Ret;
  for (PHINode &Phi : L.getHeader()->phis()) {
    auto C = asCounter(Phi, L, SE);
    if (C && (!Ret || Ret->Value->getType()->isPointerTy()))
      Ret = C;
  }
  return Ret;
}

void cosy::countLosses(
    Function &Twin, function_ref<void(BasicBlock::iterator, Value *)> AtExit) {
  LoopAnalyses A(Twin);
  // Look at all loops before the first exit changes.
  SmallVector<std::pair<const Loop *, SmallVector<Counted, 4>>, 4> Work;
  for (const Loop *L : A.LI.getLoopsInPreorder()) {
    if (!countsLosses(*L))
      continue;
    Work.push_back({L, {}});
    for (const Loop *Each : L->getLoopsInPreorder())
      Work.back().second.push_back(
          {Each, lossPerRound(*Each, A.LI), counterOf(*Each, A.SE)});
  }
  for (auto &[L, Loops] : Work) {
    Sums S(*L);
    for (const Counted &C : Loops)
      S.addRounds(C);
    S.connect();
    SmallVector<BasicBlock *, 4> Exits;
    L->getUniqueExitBlocks(Exits);
    for (BasicBlock *Exit : Exits) {
      Value *Lost = S.atExit(Exit);
      AtExit(S.place(*Exit), Lost);
    }
    ++NumLoops;
  }
}
