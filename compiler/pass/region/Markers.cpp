// SPDX-License-Identifier: MIT
//===- Markers.cpp - Finding the regions between COSY_START and COSY_END --===//
//
// COSY_START opens a scope with a variable whose value is the call of
// __cosy_region_start and whose clean-up is __cosy_region_end.  clang sends
// every way out of the scope through the clean-up, so each block that START
// reaches without crossing its END is inside:
//
//   %t = call i32 @__cosy_region_start(i32 12)
//   store i32 %t, ptr %token                   ; pairs START with its ENDs
//   %n = call i64 @read(i32 %fd, ptr %p, i64 8) ; inside
//   call void @__cosy_region_end(ptr %token)
//
// cosy-extract runs this stage and the next, which moves what is inside.
//
//===----------------------------------------------------------------------===//
#include "region/Markers.h"
#include "base/Reason.h"
#include "region/Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-markers"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumRegions, "Number of regions found");

static const char StartName[] = "__cosy_region_start";
static const char EndName[] = "__cosy_region_end";
/// Metadata that gives the marks of one region the same distinct node.
static const char PairKind[] = "cosy.region";

static bool isCallOf(const Instruction &I, StringRef Name) {
  const auto *C = dyn_cast<CallBase>(&I);
  const Function *F = C ? C->getCalledFunction() : nullptr;
  return F && F->getName() == Name;
}

bool cosy::isMarker(const Instruction &I) {
  return isCallOf(I, StartName) || isCallOf(I, EndName);
}

bool cosy::isEndMarker(const Instruction &I) { return isCallOf(I, EndName); }

bool cosy::hasMarkers(const Function &F) {
  return any_of(instructions(F), isMarker);
}

/// Returns the variable that COSY_START declares, which only the macros use; or
/// null.
static AllocaInst *tokenOf(CallBase &Start) {
  AllocaInst *Token = nullptr;
  for (User *U : Start.users()) {
    auto *S = dyn_cast<StoreInst>(U);
    if (!S || S->getValueOperand() != &Start || Token)
      return nullptr;
    Token = dyn_cast<AllocaInst>(S->getPointerOperand());
  }
  // The program may have found its name, and use it.
  if (Token && !all_of(Token->users(), [&](const User *U) {
        auto *I = cast<Instruction>(U);
        return isCallOf(*I, EndName) || I->isLifetimeStartOrEnd() ||
               is_contained(Start.users(), U);
      }))
    return nullptr;
  return Token;
}

Reasons cosy::pairMarkers(Function &F) {
  Reasons Unpaired;
  SmallVector<CallBase *, 8> Starts;
  for (Instruction &I : instructions(F))
    if (isCallOf(I, StartName))
      Starts.push_back(cast<CallBase>(&I));

  LLVMContext &Ctx = F.getContext();
  for (CallBase *Start : Starts) {
    AllocaInst *Token = tokenOf(*Start);
    if (!Token)
      continue;
    MDNode *Pair = MDNode::getDistinct(Ctx, {});
    Start->setMetadata(PairKind, Pair);
    Start->setCannotDuplicate();
    SmallVector<Instruction *, 8> Dead;
    for (User *U : Token->users()) {
      auto *I = cast<Instruction>(U);
      if (isCallOf(*I, EndName)) {
        I->setMetadata(PairKind, Pair);
        cast<CallBase>(I)->setCannotDuplicate();
      } else {
        Dead.push_back(I);
      }
    }
    Token->replaceUsesWithIf(
        ConstantPointerNull::get(PointerType::get(Ctx, 0)), [](Use &U) {
          return isCallOf(cast<Instruction>(*U.getUser()), EndName);
        });
    for (Instruction *I : Dead)
      I->eraseFromParent();
    Token->eraseFromParent();
  }

  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (!isMarker(I))
      continue;
    if (I.getMetadata(PairKind))
      continue;
    Unpaired.push_back(
        {"a region is marked with the statements COSY_START; and "
         "COSY_END; of <cosy/cosy.h>",
         I.getDebugLoc()});
    if (!I.use_empty())
      I.replaceAllUsesWith(Constant::getNullValue(I.getType()));
    I.eraseFromParent();
  }
  return Unpaired;
}

bool cosy::isReachedFromOutside(BasicBlock *BB,
                                const SetVector<BasicBlock *> &Blocks) {
  return BB != Blocks[0] && any_of(predecessors(BB), [&](BasicBlock *P) {
           return !Blocks.contains(P);
         });
}

/// Gives the region its own copy of a block that others reach too.  clang
/// shares blocks that end in unreachable among a whole function (terminate
/// handlers, traps of sanitizers).
static bool unshareBlock(BasicBlock *BB,
                         const SetVector<BasicBlock *> &Inside) {
  if (!isa<UnreachableInst>(BB->getTerminator()) || isa<PHINode>(BB->front()))
    return false;
  ValueToValueMapTy Map;
  BasicBlock *Copy = CloneBasicBlock(BB, Map, ".cosy", BB->getParent());
  for (Instruction &I : *Copy)
    RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  SmallVector<BasicBlock *, 8> Preds(predecessors(BB));
  for (BasicBlock *P : Preds)
    if (Inside.count(P))
      P->getTerminator()->replaceSuccessorWith(BB, Copy);
  return true;
}

/// Returns the blocks that Start reaches without crossing an END of its own.
static SetVector<BasicBlock *>
blocksOf(CallBase *Start, const SmallPtrSetImpl<BasicBlock *> &EndBlocks) {
  SetVector<BasicBlock *> Blocks;
  Blocks.insert(Start->getParent()->getSingleSuccessor());
  for (unsigned I = 0; I < Blocks.size(); ++I)
    for (BasicBlock *S : successors(Blocks[I]))
      if (!EndBlocks.count(S))
        Blocks.insert(S);
  return Blocks;
}

/// Finds the blocks between a region's marks.
static void findBlocks(Region &R) {
  CallBase *Start = R.Start;
  SplitBlock(Start->getParent(), Start->getNextNode());
  SmallPtrSet<BasicBlock *, 8> EndBlocks;
  for (CallBase *End : R.Ends)
    EndBlocks.insert(
        End->getParent()->splitBasicBlock(End->getIterator(), "cosy.end"));

  R.Blocks = blocksOf(Start, EndBlocks);
  bool Copied = false;
  for (BasicBlock *BB : R.Blocks)
    if (isReachedFromOutside(BB, R.Blocks))
      Copied |= unshareBlock(BB, R.Blocks);
  if (Copied)
    R.Blocks = blocksOf(Start, EndBlocks);
}

/// Returns the region that Start begins.
static Region regionFrom(CallBase *Start) {
  Region R;
  R.Start = Start;
  if (auto *Line = dyn_cast<ConstantInt>(Start->getArgOperand(0)))
    R.Line = Line->getZExtValue();

  MDNode *Pair = Start->getMetadata(PairKind);
  for (Instruction &I : instructions(Start->getFunction()))
    if (isCallOf(I, EndName) && I.getMetadata(PairKind) == Pair)
      R.Ends.push_back(cast<CallBase>(&I));
  findBlocks(R);
  return R;
}

Region cosy::findRegion(Function &F) {
  // Take the outermost first: in a walk from the entry, a region's START comes
  // before those nested in it.
  for (BasicBlock *BB : depth_first(&F))
    for (Instruction &I : *BB)
      if (isCallOf(I, StartName)) {
        ++NumRegions;
        return regionFrom(cast<CallBase>(&I));
      }
  return Region();
}

bool cosy::anyRegion(Function &F, function_ref<bool(const Region &)> Is) {
  SmallVector<CallBase *, 8> Starts;
  for (Instruction &I : instructions(F))
    if (isCallOf(I, StartName))
      Starts.push_back(cast<CallBase>(&I));
  return any_of(Starts, [&](CallBase *Start) { return Is(regionFrom(Start)); });
}

void cosy::dropMarkers(Function &F, const Region &R) {
  MDNode *Pair = R.Start ? R.Start->getMetadata(PairKind) : nullptr;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (!isMarker(I))
      continue;
    if (R.Start && I.getMetadata(PairKind) != Pair)
      continue;
    if (!I.use_empty())
      I.replaceAllUsesWith(Constant::getNullValue(I.getType()));
    I.eraseFromParent();
  }
}
