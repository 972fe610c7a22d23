// SPDX-License-Identifier: MIT
//===- Arithmetic.cpp - Wide multiplication, and moves of floats ----------===//
//
// BPF multiplies and shifts 64 bits, and has no floating-point registers:
//
//   %x = mul i128 %a, %b             ->  four products of 32 bits, their sum
//   %f = load double, ptr %p         ->  %f = load i64, ptr %p
//   store double %f, ptr %q              store i64 %f, ptr %q
//
//===----------------------------------------------------------------------===//
#include "lower/Arithmetic.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-legalize"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumWide, "Number of products and shifts of 128 bits");

/// Computes the upper 64 bits of a product of two unsigned words.
static Value *upperProduct(IRBuilder<> &B, Value *X, Value *Y) {
  Value *Mask = B.getInt64(0xffffffff);
  Value *XL = B.CreateAnd(X, Mask), *XH = B.CreateLShr(X, 32);
  Value *YL = B.CreateAnd(Y, Mask), *YH = B.CreateLShr(Y, 32);
  Value *Low = B.CreateMul(XL, YL);
  Value *Mid1 = B.CreateAdd(B.CreateMul(XH, YL), B.CreateLShr(Low, 32));
  Value *Mid2 = B.CreateAdd(B.CreateMul(XL, YH), B.CreateAnd(Mid1, Mask));
  return B.CreateAdd(B.CreateMul(XH, YH), B.CreateAdd(B.CreateLShr(Mid1, 32),
                                                      B.CreateLShr(Mid2, 32)));
}

void cosy::expandWideMultiply(BinaryOperator *Op) {
  ++NumWide;
  IRBuilder<> B(Op);
  Type *I64 = B.getInt64Ty(), *I128 = Op->getType();
  Value *X = Op->getOperand(0), *Y = Op->getOperand(1);
  Value *XL = B.CreateTrunc(X, I64), *YL = B.CreateTrunc(Y, I64);
  Value *XH = B.CreateTrunc(B.CreateLShr(X, 64), I64);
  Value *YH = B.CreateTrunc(B.CreateLShr(Y, 64), I64);
  Value *Low = B.CreateMul(XL, YL);
  Value *High =
      B.CreateAdd(upperProduct(B, XL, YL),
                  B.CreateAdd(B.CreateMul(XL, YH), B.CreateMul(XH, YL)));
  Op->replaceAllUsesWith(B.CreateOr(B.CreateZExt(Low, I128),
                                    B.CreateShl(B.CreateZExt(High, I128), 64)));
  Op->eraseFromParent();
}

void cosy::expandWideShift(BinaryOperator *Op) {
  ++NumWide;
  IRBuilder<> B(Op);
  Type *I64 = B.getInt64Ty(), *I128 = Op->getType();
  bool Left = Op->getOpcode() == Instruction::Shl;
  Value *Count = B.CreateTrunc(Op->getOperand(1), I64);
  Value *Low = B.CreateTrunc(Op->getOperand(0), I64);
  Value *High = B.CreateTrunc(B.CreateLShr(Op->getOperand(0), 64), I64);
  Value *InWord = B.CreateAnd(Count, 63);
  Value *Whole = B.CreateICmpNE(B.CreateAnd(Count, 64), B.getInt64(0));
  // Bits that leave the one word enter the other; a shift by 64 or more moves
  // a whole word.
  Value *Both = B.CreateIntrinsic(Left ? Intrinsic::fshl : Intrinsic::fshr,
                                  {I64}, {High, Low, InWord});
  if (Left) {
    Value *Shifted = B.CreateShl(Low, InWord);
    High = B.CreateSelect(Whole, Shifted, Both);
    Low = B.CreateSelect(Whole, B.getInt64(0), Shifted);
  } else {
    bool Signed = Op->getOpcode() == Instruction::AShr;
    Value *Shifted =
        Signed ? B.CreateAShr(High, InWord) : B.CreateLShr(High, InWord);
    Value *Fill = Signed ? B.CreateAShr(High, 63) : B.getInt64(0);
    Low = B.CreateSelect(Whole, Shifted, Both);
    High = B.CreateSelect(Whole, Fill, Shifted);
  }
  Op->replaceAllUsesWith(B.CreateOr(B.CreateZExt(Low, I128),
                                    B.CreateShl(B.CreateZExt(High, I128), 64)));
  Op->eraseFromParent();
}

void cosy::expandMultiplyOverflow(CallInst *Call, bool Signed) {
  IRBuilder<> B(Call);
  Value *X = Call->getArgOperand(0), *Y = Call->getArgOperand(1);
  Value *Low = B.CreateMul(X, Y), *High = upperProduct(B, X, Y);
  Value *Fits = B.getInt64(0);
  if (Signed) {
    // For signed words: minus Y where X is negative, minus X where Y is.
    High = B.CreateSub(High, B.CreateAnd(B.CreateAShr(X, 63), Y));
    High = B.CreateSub(High, B.CreateAnd(B.CreateAShr(Y, 63), X));
    Fits = B.CreateAShr(Low, 63);
  }
  Value *Result = PoisonValue::get(Call->getType());
  Result = B.CreateInsertValue(Result, Low, 0);
  Result = B.CreateInsertValue(Result, B.CreateICmpNE(High, Fits), 1);
  Call->replaceAllUsesWith(Result);
  Call->eraseFromParent();
}

namespace {
/// Rebuilds values of floating-point or vector type as integers of the same
/// size, where they only come from loads, constants and choices.
class FloatMoves {
  const DataLayout &DL;
  DenseMap<Value *, Value *> Done;

public:
  explicit FloatMoves(const DataLayout &DL) : DL(DL) {}

  IntegerType *integerFor(Type *Ty) const {
    // An x86 long double has padding in memory.
    if (!(Ty->isFPOrFPVectorTy() || Ty->isVectorTy()) || Ty->isX86_FP80Ty() ||
        isa<ScalableVectorType>(Ty))
      return nullptr;
    uint64_t Bits = DL.getTypeSizeInBits(Ty);
    if (Bits != DL.getTypeStoreSizeInBits(Ty) || !isPowerOf2_64(Bits) ||
        Bits > 512)
      return nullptr;
    return Type::getIntNTy(Ty->getContext(), Bits);
  }

  bool convertible(Value *V, SmallPtrSetImpl<Value *> &Seen) const {
    if (!integerFor(V->getType()))
      return false;
    if (isa<Constant>(V))
      return true;
    if (!Seen.insert(V).second)
      return true;
    if (auto *L = dyn_cast<LoadInst>(V))
      return !L->isAtomic();
    if (isa<BitCastInst>(V)) {
      Value *From = cast<BitCastInst>(V)->getOperand(0);
      return From->getType()->isIntegerTy() || convertible(From, Seen);
    }
    if (isa<FreezeInst>(V))
      return convertible(cast<FreezeInst>(V)->getOperand(0), Seen);
    if (auto *P = dyn_cast<PHINode>(V))
      return all_of(P->incoming_values(),
                    [&](Value *I) { return convertible(I, Seen); });
    if (auto *S = dyn_cast<SelectInst>(V))
      return S->getCondition()->getType()->isIntegerTy() &&
             convertible(S->getTrueValue(), Seen) &&
             convertible(S->getFalseValue(), Seen);
    return false;
  }

  Value *convert(Value *V) {
    if (Value *R = Done.lookup(V))
      return R;
    IntegerType *Ty = integerFor(V->getType());
    if (auto *K = dyn_cast<Constant>(V))
      return ConstantExpr::getBitCast(K, Ty);
    auto *I = cast<Instruction>(V);
    IRBuilder<> B(I);
    if (auto *L = dyn_cast<LoadInst>(I)) {
      LoadInst *N = B.CreateAlignedLoad(Ty, L->getPointerOperand(),
                                        L->getAlign(), L->isVolatile());
      if (L->hasMetadata(LLVMContext::MD_invariant_load))
        N->setMetadata(LLVMContext::MD_invariant_load,
                       L->getMetadata(LLVMContext::MD_invariant_load));
      return Done[V] = N;
    }
    if (isa<BitCastInst>(I)) {
      Value *From = I->getOperand(0);
      return Done[V] = From->getType()->isIntegerTy() ? From : convert(From);
    }
    if (isa<FreezeInst>(I))
      return Done[V] = B.CreateFreeze(convert(I->getOperand(0)));
    if (auto *S = dyn_cast<SelectInst>(I))
      return Done[V] =
                 B.CreateSelect(S->getCondition(), convert(S->getTrueValue()),
                                convert(S->getFalseValue()));
    auto *P = cast<PHINode>(I);
    PHINode *N = B.CreatePHI(Ty, P->getNumIncomingValues());
    Done[V] = N;
    for (unsigned K = 0; K < P->getNumIncomingValues(); ++K)
      N->addIncoming(convert(P->getIncomingValue(K)), P->getIncomingBlock(K));
    return N;
  }
};
} // namespace

void cosy::legalizeFloatMoves(Function &F) {
  FloatMoves Moves(F.getDataLayout());
  SmallVector<StoreInst *, 8> Stores;
  SmallVector<BitCastInst *, 8> Casts;
  for (Instruction &I : instructions(F)) {
    SmallPtrSet<Value *, 8> Seen;
    if (auto *S = dyn_cast<StoreInst>(&I)) {
      if (!S->isAtomic() && Moves.convertible(S->getValueOperand(), Seen))
        Stores.push_back(S);
    } else if (auto *Cast = dyn_cast<BitCastInst>(&I)) {
      if (Cast->getType()->isIntegerTy() &&
          Moves.convertible(Cast->getOperand(0), Seen))
        Casts.push_back(Cast);
    }
  }
  for (StoreInst *S : Stores) {
    IRBuilder<> B(S);
    B.CreateAlignedStore(Moves.convert(S->getValueOperand()),
                         S->getPointerOperand(), S->getAlign(),
                         S->isVolatile());
    S->eraseFromParent();
  }
  for (BitCastInst *Cast : Casts) {
    Cast->replaceAllUsesWith(Moves.convert(Cast->getOperand(0)));
    Cast->eraseFromParent();
  }
  SmallVector<WeakVH, 8> Phis;
  for (Instruction &I : instructions(F))
    if (isa<PHINode>(I) && Moves.integerFor(I.getType()))
      Phis.push_back(&I);
  for (WeakVH &P : Phis)
    if (P)
      RecursivelyDeleteDeadPHINode(cast<PHINode>(P));
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(reverse(BB)))
      if (Moves.integerFor(I.getType()) && I.use_empty() &&
          (isInstructionTriviallyDead(&I) || isa<LoadInst>(I)))
        I.eraseFromParent();
}
