// SPDX-License-Identifier: MIT
//===- Losses.cpp - Counts what loops without calls would lose ------------===//
//
// A loop that makes no call costs more in the kernel than outside.  How often
// it iterates is known when it ends.  So the native twin adds up in a register
// what its iterations, and those of inner loops, would have lost, and adds the
// sum to the region's `left`.
//
//   loop:                       loop:
//     ...                         %l = phi i64 [ 0, .. ], [ %m, %loop ]
//     br .., %loop, %end          %m = add i64 %l, 11
//                                 ...
//                                 br .., %loop, %end
//   end:                        end:
//                                 <left += %m, unless that is settled>
//
// That can be one instruction more in each iteration, so only a copy of the
// loop does it, which few entries go through (Samples.cpp).
//
// There is no place to do that if a loop's exits are also reached from
// elsewhere: then Cost.cpp estimates how often the loop iterates.
//
//===----------------------------------------------------------------------===//
#include "tier/Losses.h"
#include "tier/Cost.h"
#include "tier/LoopAnalyses.h"
#include "tier/Samples.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include <costs.h>

#define DEBUG_TYPE "cosy-losses"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumLoops, "Number of loops whose losses are counted");

/// Joins a loop's ways back to its head, as `continue` makes them: LLVM would
/// make of them one loop in another.  The loop keeps its metadata.
static void joinBackedges(Loop &L, DominatorTree &DT, LoopInfo &LI) {
  SmallVector<BasicBlock *, 4> Latches;
  L.getLoopLatches(Latches);
  if (Latches.size() < 2 || L.getHeader()->isEHPad() ||
      any_of(Latches, [](const BasicBlock *BB) {
        return isa<IndirectBrInst, CallBrInst>(BB->getTerminator());
      }))
    return;
  // Where debug information was moved, each latch has a copy of the metadata.
  MDNode *Id = nullptr;
  for (BasicBlock *Latch : Latches) {
    Instruction *Back = Latch->getTerminator();
    if (!Id)
      Id = Back->getMetadata(LLVMContext::MD_loop);
    Back->setMetadata(LLVMContext::MD_loop, nullptr);
  }
  SplitBlockPredecessors(L.getHeader(), Latches, ".cosy.back", &DT, &LI);
  if (Id)
    L.setLoopID(Id);
}

void cosy::simplifyLoops(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (Loop *L : LI.getLoopsInPreorder())
    joinBackedges(*L, DT, LI);
  for (Loop *L : LI)
    simplifyLoop(L, &DT, &LI, nullptr, nullptr, nullptr,
                 /*PreserveLCSSA=*/false);
}

namespace {
/// What a loop and those in it would lose, added up on the ways out of it.
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

  /// Adds Loss in each iteration of L; 0: L takes words.
  void addIterations(const Loop &L, int64_t Loss) {
    if (!Loss) {
      SmallVector<BasicBlock *, 4> Exits;
      L.getUniqueExitBlocks(Exits);
      for (BasicBlock *Exit : Exits)
        addOnce(*Exit);
      return;
    }
    // Count at the latch: at the head, a loop that is left there before its
    // first iteration would count one.
    BasicBlock *Latch = L.getLoopLatch();
    BasicBlock *BB = Latch ? Latch : L.getHeader();
    IRBuilder<> B(BB, place(*BB));
    add(B, B.getInt64(Loss));
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

  /// Adds what a loop that takes words costs in addition to its iterations.
  void addOnce(BasicBlock &Exit) {
    IRBuilder<> B(&Exit, place(Exit));
    add(B, B.getInt64(COSY_LOSS_SHORT));
  }
};
} // namespace

void cosy::countLosses(
    Function &Twin, function_ref<Value *(BasicBlock::iterator)> Counts,
    function_ref<void(BasicBlock::iterator, Value *)> AtExit) {
  SampledLoops Sampled = sampleLoops(Twin, Counts);
  LoopAnalyses A(Twin);
  // Look at all loops before the first exit changes.
  SmallVector<const Loop *, 4> Outermost, All;
  for (const Loop *L : A.LI.getLoopsInPreorder())
    if (A.countsLosses(*L) && !Sampled.Plain.contains(L->getHeader())) {
      Outermost.push_back(L);
      append_range(All, L->getLoopsInPreorder());
    }
  DenseMap<const Loop *, int64_t> Lost = lossesPerRound(All, A);
  for (const Loop *L : Outermost) {
    Sums S(*L);
    for (const Loop *Each : L->getLoopsInPreorder())
      S.addIterations(*Each, Lost[Each]);
    S.connect();
    SmallVector<BasicBlock *, 4> Exits;
    L->getUniqueExitBlocks(Exits);
    for (BasicBlock *Exit : Exits) {
      Value *Lost = S.atExit(Exit);
      BasicBlock::iterator At = S.place(*Exit);
      if (Sampled.Counting.contains(L->getHeader())) {
        IRBuilder<> B(Exit, At);
        Lost = B.CreateMul(Lost, B.getInt64(SamplePeriod));
      }
      AtExit(At, Lost);
    }
    ++NumLoops;
  }
}
