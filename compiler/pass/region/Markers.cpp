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
ALWAYS_ENABLED_STATISTIC(NumPads,
                         "Number of landing pads that only ended regions");

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

void cosy::pairMarkers(Function &F) {
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
    reportMarker(F, I.getDebugLoc(),
                 "a region is marked with the statements COSY_START; and "
                 "COSY_END; of <cosy/cosy.h>");
    if (!I.use_empty())
      I.replaceAllUsesWith(Constant::getNullValue(I.getType()));
    I.eraseFromParent();
  }
}

/// True for a local whose address is used only to load and store it.
static bool isPlainVariable(const Value *V) {
  const auto *A = dyn_cast<AllocaInst>(V);
  return A && all_of(A->users(), [&](const User *U) {
           const auto *S = dyn_cast<StoreInst>(U);
           return isa<LoadInst>(U) || (S && S->getPointerOperand() == A);
         });
}

/// True if unwinding does nothing in these blocks but end regions.
static bool onlyEndsRegions(const BasicBlock *BB) {
  SmallPtrSet<const BasicBlock *, 8> Seen;
  while (BB && Seen.insert(BB).second) {
    for (const Instruction &I : *BB) {
      if (isa<ResumeInst>(I))
        return true;
      const auto *Pad = dyn_cast<LandingPadInst>(&I);
      const auto *Store = dyn_cast<StoreInst>(&I);
      const auto *Load = dyn_cast<LoadInst>(&I);
      bool Harmless =
          (Pad && Pad->isCleanup() && Pad->getNumClauses() == 0) ||
          (Store && isPlainVariable(Store->getPointerOperand())) ||
          (Load && isPlainVariable(Load->getPointerOperand())) ||
          isa<PHINode, InsertValueInst, ExtractValueInst, DbgInfoIntrinsic>(
              I) ||
          I.isLifetimeStartOrEnd() || isCallOf(I, EndName) ||
          (I.isTerminator() && BB->getSingleSuccessor());
      if (!Harmless)
        return false;
    }
    BB = BB->getSingleSuccessor();
  }
  return false;
}

/// Makes invokes calls again where the clean-up of a region's scope is the only
/// one: then nothing has to be done when such a call unwinds.
static void dropEmptyPads(Function &F) {
  SmallVector<InvokeInst *, 8> Invokes;
  bool Others = false;
  for (Instruction &I : instructions(F)) {
    auto *Invoke = dyn_cast<InvokeInst>(&I);
    if (Invoke && onlyEndsRegions(Invoke->getUnwindDest()))
      Invokes.push_back(Invoke);
    else
      Others |= Invoke != nullptr;
  }
  for (InvokeInst *Invoke : Invokes)
    changeToCall(Invoke);
  NumPads += Invokes.size();
  if (!Invokes.empty() && !Others)
    F.setPersonalityFn(nullptr);
}

void cosy::lowerExpectations(Module &M, FunctionAnalysisManager &FAM) {
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasOptNone())
      LowerExpectIntrinsicPass().run(F, FAM);
}

void cosy::normalizeFunction(Function &F, FunctionAnalysisManager &FAM) {
  // A variable in memory may keep its value across longjmp, so stay away.
  if (!F.callsFunctionThatReturnsTwice()) {
    bool AsWritten = isAsWritten(F);
    if (AsWritten)
      pinDivisions(F);
    SROAPass(SROAOptions::ModifyCFG).run(F, FAM);
    // Else what is dead might become a value that a region has to give.
    if (!AsWritten)
      ADCEPass().run(F, FAM);
  }
  dropEmptyPads(F);
  EliminateUnreachableBlocks(F);
  FAM.invalidate(F, PreservedAnalyses::none());
}

/// Calls from one function to the next: as many as pointersInto follows.
static constexpr unsigned MaxCallDepth = 4;

/// Returns the function that is called with an address and may be normalized
/// before its time, or null.
static Function *calleeWithAddress(Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  Function *F = Call ? Call->getCalledFunction() : nullptr;
  if (!F || F->isDeclaration() || F->isInterposable() || isAsWritten(*F) ||
      F->hasFnAttribute(Attribute::SanitizeAddress) ||
      F->isPresplitCoroutine() || hasMarkers(*F))
    return nullptr;
  bool Takes = any_of(Call->args(), [](const Value *Argument) {
    return Argument->getType()->isPointerTy();
  });
  return Takes ? F : nullptr;
}

void cosy::normalizeCallees(Function &F, FunctionAnalysisManager &FAM) {
  SmallSetVector<Function *, 8> Found;
  Found.insert(&F);
  for (unsigned Depth = 0, I = 0; Depth < MaxCallDepth; ++Depth)
    for (unsigned End = Found.size(); I < End; ++I)
      for (Instruction &At : instructions(*Found[I]))
        if (Function *Callee = calleeWithAddress(At))
          Found.insert(Callee);
  for (Function *Callee : drop_begin(Found))
    normalizeFunction(*Callee, FAM);
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
