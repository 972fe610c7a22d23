// SPDX-License-Identifier: MIT
//===- Atomics.cpp - Atomic accesses in terms of BPF ----------------------===//
//
// Compounds run on x86-64 only, where every load acquires and every store
// releases: plain accesses will do if barriers keep their order.  BPF has
// updates of 4 and 8 bytes; smaller ones are a compare-exchange of the
// word.
//
//   %v = load atomic i64, ptr %p acquire   ->  %v = load volatile i64, ptr %p,
//                                              between barriers
//   %o = atomicrmw sub ptr %p, i64 %n ..   ->  atomicrmw add ptr %p, i64 -%n
//   %o = atomicrmw max ptr %p, i64 %n ..   ->  a loop around cmpxchg
//
//===----------------------------------------------------------------------===//
#include "lower/Atomics.h"
#include "base/Reason.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

#define DEBUG_TYPE "cosy-legalize"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumAtomics,
                         "Number of atomic accesses put in terms of BPF");

/// A jump to the next instruction.  LOAD makes no loads together that stand on
/// either side of one (core/sandbox_fetch.c).
static constexpr char Barrier[] = "goto +0";

static void createBarrier(IRBuilder<> &B) {
  auto *Ty = FunctionType::get(B.getVoidTy(), false);
  B.CreateCall(
      InlineAsm::get(Ty, Barrier, "~{memory}", /*hasSideEffects=*/true));
}

void cosy::keepOrder(LoadInst *L) {
  IRBuilder<> Before(L), After(L->getNextNode());
  createBarrier(Before);
  createBarrier(After);
}

void cosy::keepOrder(CallInst *Asm) {
  IRBuilder<> B(Asm);
  createBarrier(B);
}

static void createFence(BpfModule &M, IRBuilder<> &B) {
  M.createCall(B, operationNumber("fence"), {}, B.getVoidTy());
}

static bool isWholeWord(uint64_t Size) { return Size == 4 || Size == 8; }

static void lowerLoad(LoadInst *L) {
  L->setAtomic(AtomicOrdering::NotAtomic);
  L->setVolatile(true);
  keepOrder(L);
}

static void lowerStore(BpfModule &M, StoreInst *S) {
  IRBuilder<> Before(S);
  createBarrier(Before);
  IRBuilder<> After(S->getNextNode());
  if (S->getOrdering() == AtomicOrdering::SequentiallyConsistent)
    createFence(M, After);
  S->setAtomic(AtomicOrdering::NotAtomic);
  S->setVolatile(true);
}

static void lowerFence(BpfModule &M, FenceInst *F) {
  IRBuilder<> B(F);
  if (F->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
      F->getSyncScopeID() != SyncScope::SingleThread)
    createFence(M, B);
  else
    createBarrier(B);
  F->eraseFromParent();
}

namespace {
/// The aligned 4-byte word that holds a smaller object.
struct Word {
  Value *Pointer, *Shift, *Mask, *InverseMask;
  Type *Small;

  Word(IRBuilder<> &B, Value *Address, Type *Small) : Small(Small) {
    Value *Int = B.CreatePtrToInt(Address, B.getInt64Ty());
    Pointer = B.CreateIntToPtr(B.CreateAnd(Int, ~3ull), B.getPtrTy());
    Shift = B.CreateShl(B.CreateTrunc(B.CreateAnd(Int, 3), B.getInt32Ty()), 3);
    Mask =
        B.CreateShl(B.getInt32((1u << Small->getIntegerBitWidth()) - 1), Shift);
    InverseMask = B.CreateNot(Mask);
  }
  Value *get(IRBuilder<> &B, Value *W) const {
    return B.CreateTrunc(B.CreateLShr(W, Shift), Small);
  }
  Value *with(IRBuilder<> &B, Value *W, Value *V) const {
    Value *Placed = B.CreateShl(B.CreateZExt(V, B.getInt32Ty()), Shift);
    return B.CreateOr(B.CreateAnd(W, InverseMask), Placed);
  }
};
} // namespace

static LoadInst *loadWord(IRBuilder<> &B, Type *Ty, Value *P) {
  LoadInst *L = B.CreateLoad(Ty, P);
  L->setVolatile(true);
  return L;
}

static std::pair<Value *, Value *> exchange(IRBuilder<> &B, Value *P,
                                            Value *Expected, Value *New) {
  Value *Pair = B.CreateAtomicCmpXchg(P, Expected, New, MaybeAlign(),
                                      AtomicOrdering::SequentiallyConsistent,
                                      AtomicOrdering::SequentiallyConsistent);
  return {B.CreateExtractValue(Pair, 0), B.CreateExtractValue(Pair, 1)};
}

/// Expands to: old = *p; do new = f(old); while (!exchange(p, old, new));
static void expandUpdate(AtomicRMWInst *I, uint64_t Size) {
  IRBuilder<> B(I);
  bool Small = !isWholeWord(Size);
  Type *Ty = Small ? B.getInt32Ty() : I->getType();
  std::optional<Word> W;
  Value *P = I->getPointerOperand();
  if (Small) {
    W.emplace(B, P, I->getType());
    P = W->Pointer;
  }
  Value *First = loadWord(B, Ty, P);
  BasicBlock *Head = I->getParent();
  BasicBlock *Exit = Head->splitBasicBlock(I->getIterator(), "cosy.updated");
  BasicBlock *Loop = BasicBlock::Create(B.getContext(), "cosy.update",
                                        Head->getParent(), Exit);
  Head->getTerminator()->setSuccessor(0, Loop);

  IRBuilder<> LB(Loop);
  LB.SetCurrentDebugLocation(I->getDebugLoc());
  PHINode *Old = LB.CreatePHI(Ty, 2);
  Value *Value_ = Small ? W->get(LB, Old) : Old;
  Value *New =
      buildAtomicRMWValue(I->getOperation(), LB, Value_, I->getValOperand());
  auto [Seen, Done] = exchange(LB, P, Old, Small ? W->with(LB, Old, New) : New);
  LB.CreateCondBr(Done, Exit, Loop);
  Old->addIncoming(First, Head);
  Old->addIncoming(Seen, Loop);
  I->replaceAllUsesWith(Value_);
  I->eraseFromParent();
}

/// Compares and exchanges the word.  That also fails when only its other bytes
/// changed, so it is repeated while this object still has the expected value.
static void expandSmallExchange(AtomicCmpXchgInst *I) {
  IRBuilder<> B(I);
  Type *Small = I->getCompareOperand()->getType();
  Word W(B, I->getPointerOperand(), Small);
  Value *First = loadWord(B, B.getInt32Ty(), W.Pointer);
  BasicBlock *Head = I->getParent();
  BasicBlock *Exit = Head->splitBasicBlock(I->getIterator(), "cosy.exchanged");
  Function *F = Head->getParent();
  BasicBlock *Loop =
      BasicBlock::Create(B.getContext(), "cosy.exchange", F, Exit);
  BasicBlock *Try = BasicBlock::Create(B.getContext(), "cosy.try", F, Exit);
  Head->getTerminator()->setSuccessor(0, Loop);

  IRBuilder<> LB(Loop);
  LB.SetCurrentDebugLocation(I->getDebugLoc());
  PHINode *Old = LB.CreatePHI(B.getInt32Ty(), 2);
  Value *Current = W.get(LB, Old);
  LB.CreateCondBr(LB.CreateICmpEQ(Current, I->getCompareOperand()), Try, Exit);

  IRBuilder<> TB(Try);
  TB.SetCurrentDebugLocation(I->getDebugLoc());
  auto [Seen, Done] =
      exchange(TB, W.Pointer, Old, W.with(TB, Old, I->getNewValOperand()));
  TB.CreateCondBr(Done, Exit, Loop);
  Old->addIncoming(First, Head);
  Old->addIncoming(Seen, Try);

  IRBuilder<> EB(Exit, Exit->begin());
  PHINode *Success = EB.CreatePHI(EB.getInt1Ty(), 2);
  Success->addIncoming(EB.getFalse(), Loop);
  Success->addIncoming(EB.getTrue(), Try);
  EB.SetInsertPoint(I);
  Value *Result = PoisonValue::get(I->getType());
  Result = EB.CreateInsertValue(Result, Current, 0);
  Result = EB.CreateInsertValue(Result, Success, 1);
  I->replaceAllUsesWith(Result);
  I->eraseFromParent();
}

static bool hasInstruction(AtomicRMWInst::BinOp Op) {
  switch (Op) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Xchg:
    return true;
  default:
    return false;
  }
}

bool cosy::legalizeAtomic(BpfModule &M, Instruction *I, Reasons &Why) {
  if (!I->isAtomic())
    return false;
  if (auto *F = dyn_cast<FenceInst>(I)) {
    lowerFence(M, F);
    return true;
  }
  Type *Ty = I->getType();
  if (auto *S = dyn_cast<StoreInst>(I))
    Ty = S->getValueOperand()->getType();
  else if (auto *X = dyn_cast<AtomicCmpXchgInst>(I))
    Ty = X->getCompareOperand()->getType();
  uint64_t Size = M.M->getDataLayout().getTypeStoreSize(Ty);
  auto *Update = dyn_cast<AtomicRMWInst>(I);
  bool Float = Ty->isFloatingPointTy() ||
               (Update && AtomicRMWInst::isFPOperation(Update->getOperation()));
  if (Size > 8 || !isPowerOf2_64(Size) || Float) {
    Why.push_back({Float ? "an atomic floating-point access"
                         : "an atomic access of more than 8 bytes",
                   I->getDebugLoc()});
    return true;
  }
  ++NumAtomics;
  if (auto *L = dyn_cast<LoadInst>(I)) {
    lowerLoad(L);
  } else if (auto *S = dyn_cast<StoreInst>(I)) {
    lowerStore(M, S);
  } else if (auto *X = dyn_cast<AtomicCmpXchgInst>(I)) {
    if (Size < 4)
      expandSmallExchange(X);
  } else if (Update->getOperation() == AtomicRMWInst::Sub &&
             isWholeWord(Size)) {
    IRBuilder<> B(Update);
    Update->setOperand(1, B.CreateNeg(Update->getValOperand()));
    Update->setOperation(AtomicRMWInst::Add);
  } else if (!isWholeWord(Size) || !hasInstruction(Update->getOperation())) {
    expandUpdate(Update, Size);
  }
  return true;
}
