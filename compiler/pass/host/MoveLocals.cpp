// SPDX-License-Identifier: MIT
//===- MoveLocals.cpp - Locals that regions touch live in the buffer ------===//
//
// A compound reaches the shared buffer directly, and every other address
// through a check that costs some 16 instructions.  So the locals of a
// function that its regions touch get their memory from __cosy_frame_enter.
// Only their place changes:
//
//   %cosy.stack = alloca [4096 x i8]       ; for when there is no frame
//   %cosy.frame = call ptr @__cosy_frame_enter(i64 4096)
//   %cosy.locals = select i1 .., ptr %cosy.frame, ptr %cosy.stack
//
// in place of %buf = alloca [4096 x i8], and __cosy_frame_leave before each
// return.  A frame is entered as late as can be, and only when a region may run
// in the kernel.
//
//===----------------------------------------------------------------------===//
#include "host/MoveLocals.h"
#include "host/Host.h"
#include "host/RegionFields.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#define DEBUG_TYPE "cosy-move-locals"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumFrames,
                         "Number of functions with a frame in the buffer");
ALWAYS_ENABLED_STATISTIC(NumMoved, "Number of locals moved there");

/// Largest frame, half of what the first thread has; more would crowd out
/// activations and the frames of callers.
static constexpr uint64_t MaxFrame = 128 << 10;

static bool mayMove(const Function &F) {
  return !F.callsFunctionThatReturnsTwice() &&
         !F.hasFnAttribute(Attribute::SanitizeAddress) &&
         !F.hasFnAttribute(Attribute::SanitizeHWAddress) &&
         !F.hasFnAttribute(Attribute::Naked);
}

static bool isMovable(const AllocaInst *A) {
  return A->isStaticAlloca() && A->getAlign() <= Align(64) &&
         !A->isSwiftError() && !A->isUsedWithInAlloca();
}

static void addObjects(Value *V, SetVector<AllocaInst *> &Found) {
  if (!V->getType()->isPointerTy())
    return;
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(V, Objects);
  for (const Value *O : Objects)
    if (auto *A = dyn_cast<AllocaInst>(O); A && isMovable(A))
      Found.insert(const_cast<AllocaInst *>(A));
}

/// Collects the locals that the regions' inputs point to, and those whose
/// addresses the function stores in one of these (an iovec's buffers).
static SetVector<AllocaInst *> touchedLocals(Function &F,
                                             ArrayRef<WeakTrackingVH> Inputs) {
  SetVector<AllocaInst *> Touched;
  for (const WeakTrackingVH &V : Inputs)
    if (V)
      addObjects(V, Touched);
  size_t Before;
  do {
    Before = Touched.size();
    for (Instruction &I : instructions(F)) {
      auto *S = dyn_cast<StoreInst>(&I);
      if (!S || !S->getValueOperand()->getType()->isPointerTy())
        continue;
      auto *Into =
          dyn_cast<AllocaInst>(getUnderlyingObject(S->getPointerOperand()));
      if (Into && Touched.contains(Into))
        addObjects(S->getValueOperand(), Touched);
    }
  } while (Touched.size() != Before);
  return Touched;
}

/// Removes the marks of a local's life: its memory lives with the frame.
static void dropLifetimes(AllocaInst *A) {
  for (User *U : make_early_inc_range(A->users()))
    if (auto *Intr = dyn_cast<IntrinsicInst>(U);
        Intr && Intr->isLifetimeStartOrEnd())
      Intr->eraseFromParent();
}

/// Finds the latest place that comes before every use of the locals and is
/// reached at most once in a call of the function.
static Instruction *placeOfFrame(Function &F, ArrayRef<AllocaInst *> Locals) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  BasicBlock *Place = nullptr;
  SmallPtrSet<Instruction *, 16> Uses;
  for (AllocaInst *A : Locals)
    for (Use &U : A->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (auto *Phi = dyn_cast<PHINode>(I))
        I = Phi->getIncomingBlock(U)->getTerminator();
      if (!DT.isReachableFromEntry(I->getParent()))
        continue;
      Uses.insert(I);
      Place = Place ? DT.findNearestCommonDominator(Place, I->getParent())
                    : I->getParent();
    }
  if (!Place)
    Place = &F.getEntryBlock();
  if (Loop *L = LI.getLoopFor(Place)) {
    Place =
        DT.getNode(L->getOutermostLoop()->getHeader())->getIDom()->getBlock();
    Uses.clear();
  }
  // LoopInfo does not know cycles with two ways in.
  if (any_of(successors(Place), [&](BasicBlock *S) {
        return isPotentiallyReachable(S, Place, nullptr, &DT);
      })) {
    Place = &F.getEntryBlock();
    Uses.clear();
  }
  for (Instruction &I : *Place)
    if (Uses.contains(&I))
      return &I;
  return Place->getTerminator();
}

/// Regions that are asked; a function with more always enters its frame.
static constexpr unsigned MaxAsked = 4;

/// Computes whether some region would call __cosy_enter rather than go on
/// natively; null: too many to ask.
static Value *asksForKernel(IRBuilder<> &B,
                            ArrayRef<GlobalVariable *> Regions) {
  Value *Ret = nullptr;
  if (Regions.size() > MaxAsked)
    return Ret;
  for (GlobalVariable *Region : Regions) {
    auto *Ty = cast<StructType>(Region->getValueType());
    LoadInst *Left = B.CreateAlignedLoad(
        B.getInt64Ty(), B.CreateStructGEP(Ty, Region, LeftField), Align(8));
    Left->setAtomic(AtomicOrdering::Monotonic);
    Value *Asks = B.CreateICmpSLT(Left, B.getInt64(0));
    Ret = Ret ? B.CreateOr(Ret, Asks) : Asks;
  }
  return Ret;
}

/// Moves the debugger's declarations of locals after Base, which they name.
static void sinkDeclares(Instruction &Base) {
  for (DbgDeclareInst *D : findDbgDeclares(&Base))
    D->moveAfter(&Base);
  for (DbgVariableRecord *D : findDVRDeclares(&Base)) {
    D->removeFromParent();
    Base.getParent()->insertDbgRecordAfter(D, &Base);
  }
}

namespace {
/// The locals of a function that move, and where each goes in the frame.
struct FrameLayout {
  SmallVector<AllocaInst *, 8> Locals;
  SmallVector<uint64_t, 8> Offsets;
  uint64_t Size = 0; ///< Of the frame, a multiple of 16.
};

/// A function's frame; the function may go on without one.
struct EnteredFrame {
  AllocaInst *Slot;  ///< Holds its address until it is left, or null.
  Instruction *Base; ///< Its address, or that of stack memory in its place.
};
} // namespace

static FrameLayout layOut(ArrayRef<AllocaInst *> Locals, const DataLayout &DL) {
  FrameLayout L;
  for (AllocaInst *A : Locals) {
    uint64_t Offset = alignTo(L.Size, std::max(A->getAlign(), Align(8)));
    uint64_t Bytes = A->getAllocationSize(DL)->getFixedValue();
    // The frame is 16-byte aligned, no more.
    if (A->getAlign() > Align(16) || Bytes > MaxFrame ||
        Offset + Bytes > MaxFrame)
      continue;
    L.Offsets.push_back(Offset);
    L.Locals.push_back(A);
    L.Size = Offset + Bytes;
  }
  L.Size = alignTo(L.Size, 16);
  return L;
}

/// The place in the source of what belongs to the whole function.
static DebugLoc scopeOf(const Function &F) {
  DISubprogram *SP = F.getSubprogram();
  return SP ? DILocation::get(F.getContext(), SP->getScopeLine(), 0, SP)
            : nullptr;
}

static EnteredFrame enterFrame(Function &F, const FrameLayout &L,
                               FunctionCallee Enter,
                               ArrayRef<GlobalVariable *> Regions) {
  Instruction *At = placeOfFrame(F, L.Locals);
  BasicBlock &Entry = F.getEntryBlock();
  IRBuilder<> B(&Entry, Entry.begin());
  AllocaInst *Stack = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), L.Size),
                                     nullptr, "cosy.stack");
  Stack->setAlignment(Align(16));
  AllocaInst *Slot = B.CreateAlloca(B.getPtrTy(), nullptr, "cosy.slot");
  B.SetInsertPoint(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  B.CreateStore(ConstantPointerNull::get(B.getPtrTy()), Slot);

  B.SetInsertPoint(At);
  if (DebugLoc Scope = scopeOf(F))
    B.SetCurrentDebugLocation(Scope);
  DebugLoc Where = B.getCurrentDebugLocation();
  if (Value *Asks = asksForKernel(B, Regions)) {
    B.SetInsertPoint(SplitBlockAndInsertIfThen(
        Asks, At->getIterator(), /*Unreachable=*/false,
        MDBuilder(F.getContext()).createUnlikelyBranchWeights()));
    B.SetCurrentDebugLocation(Where);
  }
  CallInst *Entered = B.CreateCall(Enter, {B.getInt64(L.Size)}, "cosy.frame");
  Entered->addRetAttr(Attribute::NoAlias);
  // Loops over locals stay as good as those over an alloca.
  Entered->addRetAttr(Attribute::getWithAlignment(F.getContext(), Align(16)));
  B.CreateStore(Entered, Slot);
  B.SetInsertPoint(At);
  B.SetCurrentDebugLocation(Where);
  Value *Loaded = B.CreateLoad(B.getPtrTy(), Slot, "cosy.entered");
  Value *Base =
      B.CreateSelect(B.CreateIsNotNull(Loaded), Loaded, Stack, "cosy.locals");
  return {Slot, cast<Instruction>(Base)};
}

/// Puts the locals' places in the frame in the locals' place.
static void replaceLocals(Module &M, const FrameLayout &L, Instruction *Base) {
  DIBuilder DIB(M, /*AllowUnresolved=*/false);
  IRBuilder<> B(Base->getNextNode());
  B.SetCurrentDebugLocation(Base->getDebugLoc());
  for (auto [A, Offset] : zip_equal(L.Locals, L.Offsets)) {
    replaceDbgDeclare(A, Base, DIB, DIExpression::ApplyOffset, Offset);
    sinkDeclares(*Base);
    Value *Place = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Base, Offset);
    Place->takeName(A);
    A->replaceAllUsesWith(Place);
    A->eraseFromParent();
  }
}

/// Leaves the frame, if one was entered, on each way out of F.
static void leaveFrame(Function &F, AllocaInst *Slot, FunctionCallee Leave) {
  EscapeEnumerator Exits(F, "cosy.unwind", !F.doesNotThrow());
  SmallVector<Instruction *, 8> Returns;
  while (IRBuilder<> *At = Exits.Next())
    Returns.push_back(&*At->GetInsertPoint());
  for (Instruction *Return : Returns) {
    IRBuilder<> B(Return);
    if (DebugLoc Scope = scopeOf(F); Scope && !B.getCurrentDebugLocation())
      B.SetCurrentDebugLocation(Scope);
    Value *Left = B.CreateLoad(B.getPtrTy(), Slot, "cosy.left");
    Instruction *Then = SplitBlockAndInsertIfThen(
        B.CreateIsNotNull(Left), Return->getIterator(), /*Unreachable=*/false);
    IRBuilder<> TB(Then);
    TB.SetCurrentDebugLocation(B.getCurrentDebugLocation());
    TB.CreateCall(Leave, {Left});
  }
}

void cosy::moveLocals(Function &F, ArrayRef<WeakTrackingVH> Inputs,
                      ArrayRef<GlobalVariable *> Regions) {
  if (!mayMove(F))
    return;
  Module &M = *F.getParent();
  FrameLayout L =
      layOut(touchedLocals(F, Inputs).getArrayRef(), M.getDataLayout());
  if (L.Locals.empty())
    return;
  ++NumFrames;
  NumMoved += L.Locals.size();

  LLVMContext &Ctx = F.getContext();
  Type *Ptr = PointerType::get(Ctx, 0), *I64 = Type::getInt64Ty(Ctx);
  auto Enter = declareHostFunction(M, "__cosy_frame_enter",
                                   FunctionType::get(Ptr, {I64}, false));
  auto Leave = declareHostFunction(
      M, "__cosy_frame_leave",
      FunctionType::get(Type::getVoidTy(Ctx), {Ptr}, false));

  for (AllocaInst *A : L.Locals)
    dropLifetimes(A);
  EnteredFrame Entered = enterFrame(F, L, Enter, Regions);
  replaceLocals(M, L, Entered.Base);
  leaveFrame(F, Entered.Slot, Leave);
  DominatorTree DT(F);
  PromoteMemToReg({Entered.Slot}, DT);
}
