// SPDX-License-Identifier: MIT
//===- Samples.cpp - A counting copy of loops without calls ---------------===//
//
// Counting can cost a loop one instruction in each iteration; a walk along a
// list has only three of its own.  So a loop without calls is copied, with its
// inner loops.  The copy counts, and runs once in 31 entries.  The loop itself
// stays as it is without a region.
//
//   br label %loop              br (<does anybody count?>), %turn, %plain
//                             turn:
//                               @cosy.turn -= 1
//                               br (@cosy.turn < 0), %sample, %plain
//   loop:                     sample:
//     ...                       @cosy.turn = 30
//     br .., %loop, %end        br label %loop.counting
//                             plain:
//   end:                        br label %loop
//                             loop:
//                               ...
//                               br .., %loop, %end
//                             loop.counting:
//                               ...
//                               br .., %loop.counting, %end.counting
//                             end.counting:
//                               <left += 31 times what was lost>
//                               br label %end
//                             end:
//
// Losses.cpp adds the counting to the copies.
//
//===----------------------------------------------------------------------===//
#include "tier/Samples.h"
#include "tier/LoopAnalyses.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#define DEBUG_TYPE "cosy-samples"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumSampled, "Number of loops of which a copy counts");

/// Instructions of IR that a loop with a copy may have.
static constexpr unsigned MaxCopied = 8192;

static bool canCopy(const Loop &L) {
  unsigned Size = 0;
  for (const BasicBlock *BB : L.blocks())
    Size += BB->size();
  return Size <= MaxCopied && L.isSafeToClone();
}

/// Joins an exit of a loop and its copy: what comes after both goes on with the
/// values that either leaves there.
static void joinExit(BasicBlock &Exit, BasicBlock &Copied,
                     ValueToValueMapTy &Map) {
  BasicBlock *Join = SplitBlock(&Exit, Exit.getFirstInsertionPt());
  for (PHINode &Phi : Exit.phis()) {
    PHINode *Left = PHINode::Create(Phi.getType(), Phi.getNumIncomingValues(),
                                    Phi.getName(), &Copied);
    for (auto [V, Pred] : zip(Phi.incoming_values(), Phi.blocks())) {
      Value *Mapped = Map.lookup(V);
      Left->addIncoming(Mapped ? Mapped : V.get(), cast<BasicBlock>(Map[Pred]));
    }
    PHINode *Either = PHINode::Create(Phi.getType(), 2, "", Join->begin());
    Phi.replaceAllUsesWith(Either);
    Either->takeName(&Phi);
    Either->addIncoming(&Phi, &Exit);
    Either->addIncoming(Left, &Copied);
  }
  BranchInst::Create(Join, &Copied);
  // Keep LLVM from dropping the block if it is empty: each iteration would then
  // move values to where the code after Join wants them.
  IRBuilder<> B(Exit.getTerminator());
  auto *Ty = FunctionType::get(B.getVoidTy(), false);
  B.CreateCall(InlineAsm::get(Ty, "", "", /*hasSideEffects=*/true));
}

/// Copies a loop in LCSSA form that is entered from Entry, and returns the
/// copy's head.
static BasicBlock *copyLoop(const Loop &L, BasicBlock &Entry) {
  Function *F = Entry.getParent();
  SmallVector<BasicBlock *, 4> Exits;
  L.getUniqueExitBlocks(Exits);
  SmallVector<BasicBlock *, 16> Blocks;
  ValueToValueMapTy Map;
  Map[L.getLoopPreheader()] = &Entry;
  for (BasicBlock *BB : L.blocks()) {
    Blocks.push_back(CloneBasicBlock(BB, Map, ".counting", F));
    Map[BB] = Blocks.back();
  }
  for (BasicBlock *Exit : Exits)
    Map[Exit] =
        BasicBlock::Create(F->getContext(), Exit->getName() + ".counting", F);
  remapInstructionsInBlocks(Blocks, Map);
  for (BasicBlock *Exit : Exits)
    joinExit(*Exit, *cast<BasicBlock>(Map[Exit]), Map);
  return cast<BasicBlock>(Map[L.getHeader()]);
}

static GlobalVariable *createTurn(Module &M) {
  Type *I32 = Type::getInt32Ty(M.getContext());
  // Begin in the middle: the first entry alone is not to stand for 31, nor are
  // 30 to pass uncounted.
  return new GlobalVariable(
      M, I32, /*isConstant=*/false, GlobalValue::PrivateLinkage,
      ConstantInt::get(I32, SamplePeriod / 2), "cosy.turn");
}

static void storeTurn(IRBuilder<> &B, Value *V, GlobalVariable *Turn) {
  B.CreateAlignedStore(V, Turn, Align(4))->setAtomic(AtomicOrdering::Monotonic);
}

/// Has one in SamplePeriod entries of a loop go to a copy, and returns the
/// copy's head.  Nothing is written where nobody counts any more.
static BasicBlock *
sampleLoop(const Loop &L, function_ref<Value *(BasicBlock::iterator)> Counts) {
  BasicBlock *Before = L.getLoopPreheader();
  Function *F = Before->getParent();
  LLVMContext &Ctx = F->getContext();
  GlobalVariable *Turn = createTurn(*F->getParent());
  BasicBlock *Decide = BasicBlock::Create(Ctx, "cosy.turn", F, L.getHeader());
  BasicBlock *Sample = BasicBlock::Create(Ctx, "cosy.sample", F, L.getHeader());
  BasicBlock *Copy = copyLoop(L, *Sample);
  BasicBlock *Plain = SplitBlock(Before, Before->getTerminator());
  Plain->setName("cosy.plain");

  IRBuilder<> B(Before->getTerminator());
  Value *Counted = Counts(Before->getTerminator()->getIterator());
  B.SetInsertPoint(Before->getTerminator());
  B.CreateCondBr(Counted, Decide, Plain);
  Before->getTerminator()->eraseFromParent();

  B.SetInsertPoint(Decide);
  LoadInst *Was = B.CreateAlignedLoad(B.getInt32Ty(), Turn, Align(4));
  Was->setAtomic(AtomicOrdering::Monotonic);
  Value *Now = B.CreateSub(Was, B.getInt32(1));
  storeTurn(B, Now, Turn);
  B.CreateCondBr(B.CreateICmpSLT(Now, B.getInt32(0)), Sample, Plain,
                 MDBuilder(Ctx).createUnlikelyBranchWeights());

  B.SetInsertPoint(Sample);
  storeTurn(B, B.getInt32(SamplePeriod - 1), Turn);
  B.CreateBr(Copy);
  ++NumSampled;
  return Copy;
}

SampledLoops
cosy::sampleLoops(Function &Twin,
                  function_ref<Value *(BasicBlock::iterator)> Counts) {
  SampledLoops Ret;
  LoopAnalyses A(Twin);
  SmallVector<const Loop *, 4> Work;
  for (Loop *L : A.LI.getLoopsInPreorder())
    if (A.countsLosses(*L) && canCopy(*L))
      Work.push_back(L);
  for (const Loop *L : Work)
    formLCSSARecursively(*const_cast<Loop *>(L), A.DT, &A.LI, &A.SE);
  for (const Loop *L : Work) {
    Ret.Plain.insert(L->getHeader());
    Ret.Counting.insert(sampleLoop(*L, Counts));
  }
  return Ret;
}
