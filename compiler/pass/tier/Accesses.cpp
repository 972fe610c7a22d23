// SPDX-License-Identifier: MIT
//===- Accesses.cpp - What loads and stores lose in a compound ------------===//
//
// A load outside the shared buffer costs a call of a thunk.  In a loop, loads
// of nearby bytes share one, which copies all of them (core/sandbox_fetch.c):
//
//   for (p = buffer; *p; p++)     eight iterations at once: one thunk for eight
//     hash = hash * 33 + *p;      bytes
//
// This file applies the rule of core/fetch.h to the native code, in a block or
// in the iterations of a loop that a compound does at once
// (base/Iterations.cpp).
//
// Globals always lie outside the buffer.  So does, in a file that never
// allocates there, memory that each iteration finds by a pointer in memory,
// such as the nodes of a list.  Two loads of a node count as if each was made
// alone: that is what a walk was measured to cost.  Other memory may be in the
// buffer.
//
// A loop that LLVM may make vector code of counts as if each iteration had its
// own loads: in the native code an iteration costs less than its instructions.
//
//===----------------------------------------------------------------------===//
#include "tier/Accesses.h"
#include "base/Iterations.h"
#include "region/Extracted.h"
#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>
#include <costs.h>
#include <cstdlib>

extern "C" {
#include "fetch.h"
}

using namespace llvm;
using namespace cosy;

/// Fetches that may still take in loads, as in core/sandbox_fetch.c.
static constexpr size_t MaxOpen = 4;

/// A place that loads and stores count from.
namespace {
struct Place {
  const SCEV
      *Pointer;  ///< In the first of the iterations that are done at once.
  int64_t Ahead; ///< Bytes from there.
  /// The iteration, if the places of others are not known from here.
  unsigned Iteration;

  /// Returns how many bytes another place is above this one, if that is known.
  std::optional<int64_t> distanceTo(const Place &Other,
                                    ScalarEvolution &SE) const {
    if (Iteration != Other.Iteration)
      return std::nullopt;
    const auto *Bytes =
        Pointer == Other.Pointer
            ? SE.getZero(SE.getEffectiveSCEVType(Pointer->getType()))
            : SE.getMinusSCEV(Other.Pointer, Pointer);
    const auto *Constant = dyn_cast<SCEVConstant>(Bytes);
    if (!Constant || !Constant->getAPInt().isSignedIntN(32))
      return std::nullopt;
    return Constant->getAPInt().getSExtValue() + Other.Ahead - Ahead;
  }
};

struct Fetch {
  Place First;
  unsigned Iteration; ///< Of its first load.
  cosy_fetch_span Span;
  SmallVector<const Instruction *, 8> Loads;
};
} // namespace

bool cosy::allocatesInBuffer(const Module &M) {
  return any_of(ArrayRef<StringRef>{"cosy_malloc", "cosy_calloc",
                                    "cosy_realloc", "cosy_move_alloc"},
                [&](StringRef Name) { return M.getFunction(Name); });
}

/// True if an iteration of L loads the pointer by which I finds its memory.
static bool isFollowed(const Value *Pointer, const Loop &L) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects);
  return any_of(Objects, [&](const Value *V) {
    const auto *Load = dyn_cast<LoadInst>(V);
    return Load && L.contains(Load);
  });
}

static bool isGlobal(const Instruction &I) {
  return isa<GlobalVariable>(
      getUnderlyingObject(getLoadStorePointerOperand(&I)));
}

/// True if memory that is accessed in L (null: in no loop) never moves to the
/// shared buffer.
static bool isElsewhere(const Instruction &I, const Loop *L) {
  return isGlobal(I) || (L && isFollowed(getLoadStorePointerOperand(&I), *L) &&
                         !allocatesInBuffer(*I.getModule()));
}

/// True for a result of a region: LLVM keeps it in a register until a loop
/// ends.
static bool isResult(const Value *Pointer) {
  const auto *A = dyn_cast<Argument>(Pointer);
  return A && A->getParent()->getAttributes().hasParamAttr(A->getArgNo(),
                                                           ResultAttr);
}

/// Returns what a load or store loses that is made alone.
static double lossAlone(const Instruction &I, const Loop *L) {
  if (isResult(getLoadStorePointerOperand(&I)))
    return 0;
  return isElsewhere(I, L) ? COSY_LOSS_ELSEWHERE : COSY_LOSS_SHARED;
}

/// True if V is made of Phi by one associative operation, on any way.
static bool isSumOf(const Value *V, const PHINode &Phi, const Loop &L,
                    std::optional<unsigned> &Opcode, unsigned Depth = 0) {
  if (V == &Phi)
    return true;
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || !L.contains(I) || Depth > 8)
    return false;
  auto IsSum = [&](const Value *Of) {
    return isSumOf(Of, Phi, L, Opcode, Depth + 1);
  };
  if (const auto *Choice = dyn_cast<SelectInst>(I))
    return IsSum(Choice->getTrueValue()) && IsSum(Choice->getFalseValue());
  if (const auto *Join = dyn_cast<PHINode>(I))
    return Join->getParent() != L.getHeader() &&
           all_of(Join->incoming_values(),
                  [&](const Use &Of) { return IsSum(Of); });
  if (!I->isAssociative() || Opcode.value_or(I->getOpcode()) != I->getOpcode())
    return false;
  Opcode = I->getOpcode();
  return any_of(I->operands(), [&](const Use &Of) { return IsSum(Of); });
}

/// True if LLVM may make vector code of a loop: it ends after a number of
/// iterations that is known before, and no iteration waits for another one.
static bool mayBecomeVectors(const Loop &L, ScalarEvolution &SE) {
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch || !L.getExitingBlock() ||
      !SE.hasLoopInvariantBackedgeTakenCount(&L))
    return false;
  return all_of(L.getHeader()->phis(), [&](PHINode &Phi) {
    InductionDescriptor Step;
    std::optional<unsigned> Opcode;
    return InductionDescriptor::isInductionPHI(&Phi, &L, &SE, Step) ||
           isSumOf(Phi.getIncomingValueForBlock(Latch), Phi, L, Opcode);
  });
}

static Place placeOf(const Value *Pointer, const Loop *L, unsigned Iteration,
                     ScalarEvolution &SE) {
  const SCEV *S = SE.getSCEV(const_cast<Value *>(Pointer));
  const auto *Rec = dyn_cast<SCEVAddRecExpr>(S);
  if (Rec && L && Rec->getLoop() == L)
    if (const auto *Step = dyn_cast<SCEVConstant>(Rec->getStepRecurrence(SE));
        Step && Step->getAPInt().isSignedIntN(32))
      return {S, Step->getAPInt().getSExtValue() * Iteration, 0};
  return {S, 0, !L || SE.isLoopInvariant(S, L) ? 0 : Iteration};
}

namespace {
/// Finds the fetches of blocks that run after each other.
class FetchesIn {
  LoopAnalyses &A;
  const Loop *L; ///< Whose iterations are done at once; null: once only.
  std::vector<std::unique_ptr<Fetch>> All;
  SmallVector<Fetch *, MaxOpen + 1> Open;

public:
  FetchesIn(LoopAnalyses &A, const Loop *L) : A(A), L(L) {}

  void add(const BasicBlock &BB, unsigned Iteration) {
    for (const Instruction &I : BB)
      if (const Value *Pointer = getLoadStorePointerOperand(&I)) {
        if (!isResult(Pointer))
          addAccess(I, Iteration);
      } else if (isa<CallBase>(I)
                     ? !isa<IntrinsicInst>(I) || isa<MemIntrinsic>(I)
                     : I.isAtomic())
        Open.clear();
  }

  ArrayRef<std::unique_ptr<Fetch>> all() const { return All; }

private:
  void addAccess(const Instruction &I, unsigned Iteration) {
    uint64_t Size = I.getDataLayout().getTypeStoreSize(
        getLoadStoreType(const_cast<Instruction *>(&I)));
    if (I.isAtomic() || I.isVolatile() || Size > 8 || !isPowerOf2_64(Size)) {
      Open.clear();
      return;
    }
    Place At = placeOf(getLoadStorePointerOperand(&I), L, Iteration, A.SE);
    if (isa<LoadInst>(I))
      addLoad(I, At, Size, Iteration);
    else
      endAtStore(At, Size);
  }

  /// Ends the fetches that a store may change.
  void endAtStore(const Place &Stored, int32_t Size) {
    erase_if(Open, [&](Fetch *F) {
      std::optional<int64_t> Distance = F->First.distanceTo(Stored, A.SE);
      return !Distance || cosy_fetch_is_changed(&F->Span, *Distance, Size);
    });
  }

  /// True if a fetch has been made on each way to a block.
  bool isMade(const Fetch &F, const BasicBlock *BB, unsigned Iteration) {
    const BasicBlock *Leader = F.Loads.front()->getParent();
    if (F.Iteration < Iteration)
      BB = L->getLoopLatch();
    return BB && A.DT.dominates(Leader, BB);
  }

  /// Takes a load into an open fetch, or begins one.
  void addLoad(const Instruction &Load, const Place &At, int32_t Size,
               unsigned Iteration) {
    constexpr int64_t Reach = 8 * COSY_FETCH_WORDS;
    for (Fetch *F : Open) {
      std::optional<int64_t> Distance = F->First.distanceTo(At, A.SE);
      if (!Distance || std::abs(*Distance) > Reach ||
          !isMade(*F, Load.getParent(), Iteration) ||
          !cosy_fetch_widen(&F->Span, *Distance, Size, COSY_FETCH_WORDS))
        continue;
      F->Loads.push_back(&Load);
      return;
    }
    All.push_back(std::make_unique<Fetch>(
        Fetch{At, Iteration, {0, Size, Size, 0, false}, {&Load}}));
    Open.insert(Open.begin(), All.back().get());
    Open.truncate(std::min(Open.size(), MaxOpen));
  }
};
} // namespace

/// Returns what each load of a fetch loses.
static double lossInFetch(const Fetch &F, const LoopInfo &LI) {
  double Alone = 0;
  for (const Instruction *Load : F.Loads)
    Alone += lossAlone(*Load, LI.getLoopFor(Load->getParent()));
  double Together = COSY_LOSS_FETCH +
                    COSY_LOSS_FETCH_WORD * double(cosy_fetch_words(&F.Span));
  size_t Least = isGlobal(*F.Loads.front()) ? 2 : 3;
  if (F.Loads.size() >= Least && cosy_fetch_pays(&F.Span, F.Loads.size()))
    Alone = std::min(Alone, Together);
  return Alone / F.Loads.size();
}

void Accesses::addFetches(ArrayRef<const BasicBlock *> Blocks, const Loop *L,
                          unsigned Count, LoopAnalyses &A) {
  FetchesIn In(A, L);
  for (unsigned Iteration = 0; Iteration < Count; ++Iteration)
    for (const BasicBlock *BB : Blocks)
      In.add(*BB, Iteration);
  for (const auto &F : In.all())
    for (const Instruction *Load : F->Loads)
      Losses[Load] += lossInFetch(*F, A.LI) / Count;
  for (const BasicBlock *BB : Blocks)
    for (const Instruction &I : *BB)
      if (isa<StoreInst>(I))
        Losses[&I] = lossAlone(I, A.LI.getLoopFor(BB));
}

void Accesses::findInInnermost(const Loop &L, LoopAnalyses &A) {
  LoopBlocksRPO Order(const_cast<Loop *>(&L));
  Order.perform(&A.LI);
  SmallVector<const BasicBlock *, 8> Blocks(Order.begin(), Order.end());
  unsigned Count = iterationsAtOnce(L, A.SE);
  if (Count < 2 || mayBecomeVectors(L, A.SE)) {
    addFetches(Blocks, &L, 1, A);
    return;
  }
  AtOnce[&L] = Count;
  addFetches(Blocks, &L, Count, A);
}

void Accesses::findFetches(LoopAnalyses &A, bool InLoopsOnly) {
  for (const BasicBlock &BB : *A.DT.getRoot()->getParent()) {
    const Loop *L = A.LI.getLoopFor(&BB);
    if (L ? !L->isInnermost() : !InLoopsOnly)
      addFetches(&BB, nullptr, 1, A);
    else if (L && &BB == L->getHeader())
      findInInnermost(*L, A);
  }
}

double Accesses::lossOf(const Instruction &I) const {
  auto It = Losses.find(&I);
  return It == Losses.end() ? lossAlone(I, nullptr) : It->second;
}

double Accesses::lossOfIteration(const Loop &L) const {
  unsigned Count = AtOnce.lookup(&L);
  return double(COSY_LOSS_ROUND) / std::max(Count, 1u);
}
