// SPDX-License-Identifier: MIT
//===- Divisions.cpp - Divisions that x86-64 traps on ---------------------===//
//
// A division by zero, and the least integer by -1, raises SIGFPE natively.  In
// BPF it has a result.  So a division that may be one of these is tested, and
// where the test bites an operation does natively what raises the signal:
//
//   %q = sdiv i32 %a, %b   ->    br (%b == 0), %error, %next
//                              next:
//                                br (%b == -1), %overflow, %divide
//                              overflow:
//                                br (%a == INT_MIN), %error, %divide
//                              divide:
//                                %q = sdiv i32 %a, %b
//                              error:
//                                call void @__cosy_call.65579.() ; divide_error
//                                unreachable
//
// To LLVM such a division is undefined: it may move it, or drop it where nobody
// uses the result.  The native twin lives by that where it is optimised, so its
// divisions are tested as they stand after optimisation.  A function that is
// not optimised natively has every division that is written (Written.cpp), so
// those are tested before.
//
//===----------------------------------------------------------------------===//
#include "lower/Divisions.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "region/Written.h"
#include "tier/LoopAnalyses.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "cosy-divisions"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumTested, "Number of divisions that are tested");
ALWAYS_ENABLED_STATISTIC(NumProven, "Number of divisions that cannot trap");

/// Metadata of divisions that are tested already, as they are written.
static const char TestedKind[] = "cosy.tested";

/// One bit is divided by nothing: the native code takes the dividend.
static bool isDivision(const Instruction &I) {
  return I.isIntDivRem() && I.getType()->isIntegerTy() &&
         !I.getType()->isIntegerTy(1) && !I.hasMetadata(TestedKind);
}

namespace {
/// A division, and what has to be looked for before it.
struct Division {
  BinaryOperator *Op;
  bool MayBeByZero, MayOverflow;
};

/// Finds out which divisions of a function may trap.
class Divisions {
  const DataLayout &DL;
  LoopAnalyses A;
  LazyValueInfo Ranges;

public:
  explicit Divisions(Function &F)
      : DL(F.getDataLayout()), A(F), Ranges(&A.AC, &DL) {}

  SmallVector<Division, 8> find(Function &F) {
    SmallVector<Division, 8> Found;
    // Each after those that dominate it.
    for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F))
      for (Instruction &I : *BB)
        if (isDivision(I))
          Found.push_back(examine(cast<BinaryOperator>(I), Found));
    return Found;
  }

private:
  static bool isSigned(const BinaryOperator &Op) {
    return Op.getOpcode() == Instruction::SDiv ||
           Op.getOpcode() == Instruction::SRem;
  }

  /// True if the native code traps on the least integer by -1.
  static bool overflows(const BinaryOperator &Op) {
    return isSigned(Op) && isDividedAsIs(Op.getType());
  }

  /// True if V may have this value where Op stands.  ValueTracking is not told
  /// the place: whatever is divided by there, also by a later division of the
  /// block, it takes for non-zero.
  bool mayBe(Value *V, const APInt &Value, BinaryOperator &Op) {
    if (Value.isZero() && isKnownNonZero(V, SimplifyQuery(DL)))
      return false;
    ConstantRange Range =
        Ranges.getConstantRange(V, &Op, /*UndefAllowed=*/false);
    KnownBits Bits = computeKnownBits(V, DL);
    return Range.contains(Value) && !Bits.Zero.intersects(Value) &&
           !Bits.One.intersects(~Value) &&
           !A.SE.isKnownPredicateAt(ICmpInst::ICMP_NE, A.SE.getSCEV(V),
                                    A.SE.getConstant(Value), &Op);
  }

  /// Before: the divisions that come first.  What one of these divides by, and
  /// what it divides, is known where it dominates Op.
  Division examine(BinaryOperator &Op, ArrayRef<Division> Before) {
    Value *Dividend = Op.getOperand(0), *Divisor = Op.getOperand(1);
    Division Ret = {&Op, true, overflows(Op)};
    for (const Division &D : Before)
      if (D.Op->getOperand(1) == Divisor && A.DT.dominates(D.Op, &Op)) {
        Ret.MayBeByZero = false;
        if (D.Op->getOperand(0) == Dividend && isSigned(*D.Op))
          Ret.MayOverflow = false;
      }
    unsigned Bits = Op.getType()->getIntegerBitWidth();
    Ret.MayBeByZero =
        Ret.MayBeByZero && mayBe(Divisor, APInt::getZero(Bits), Op);
    Ret.MayOverflow = Ret.MayOverflow &&
                      mayBe(Divisor, APInt::getAllOnes(Bits), Op) &&
                      mayBe(Dividend, APInt::getSignedMinValue(Bits), Op);
    return Ret;
  }
};

/// Puts tests before divisions.
class Tester {
  BpfModule &B;
  Function &F;
  BasicBlock *Error = nullptr;

public:
  Tester(BpfModule &B, Function &F) : B(B), F(F) {}

  void test(const Division &D) {
    if (!D.MayBeByZero && !D.MayOverflow) {
      ++NumProven;
      return;
    }
    ++NumTested;
    D.Op->setMetadata(TestedKind, MDNode::get(F.getContext(), {}));
    // Natively it is divided by anything, and a branch must not depend on it.
    if (isa<UndefValue>(D.Op->getOperand(1))) {
      D.Op->setOperand(1, ConstantInt::get(D.Op->getType(), 1));
      return;
    }
    Type *Ty = D.Op->getType();
    Value *Dividend = D.Op->getOperand(0), *Divisor = D.Op->getOperand(1);
    BasicBlock *Head = D.Op->getParent();
    BasicBlock *Divide = SplitBlock(Head, D.Op);
    Head->getTerminator()->eraseFromParent();
    BasicBlock *Next =
        D.MayOverflow && D.MayBeByZero ? block("next", Divide) : Divide;
    if (D.MayBeByZero)
      branch(Head, *D.Op, Divisor, Constant::getNullValue(Ty), error(*D.Op),
             Next);
    if (!D.MayOverflow)
      return;
    BasicBlock *Overflow = block("overflow", Divide);
    branch(D.MayBeByZero ? Next : Head, *D.Op, Divisor,
           Constant::getAllOnesValue(Ty), Overflow, Divide);
    branch(Overflow, *D.Op, Dividend,
           ConstantInt::get(Ty,
                            APInt::getSignedMinValue(Ty->getIntegerBitWidth())),
           error(*D.Op), Divide);
  }

private:
  BasicBlock *block(const Twine &Name, BasicBlock *Before) {
    return BasicBlock::Create(F.getContext(), Name, &F, Before);
  }

  /// Ends BB with a branch to Bad where X is Value, which is not expected.
  void branch(BasicBlock *BB, BinaryOperator &Op, Value *X, Constant *Value,
              BasicBlock *Bad, BasicBlock *Good) {
    IRBuilder<> IB(BB);
    IB.SetCurrentDebugLocation(Op.getDebugLoc());
    IB.CreateCondBr(IB.CreateICmpEQ(X, Value), Bad, Good,
                    MDBuilder(F.getContext()).createUnlikelyBranchWeights());
  }

  /// Returns the block that raises the signal for all divisions of the
  /// function.  Its line is that of the first.
  BasicBlock *error(BinaryOperator &Op) {
    if (Error)
      return Error;
    Error = BasicBlock::Create(F.getContext(), "divide.error", &F);
    IRBuilder<> IB(Error);
    IB.SetCurrentDebugLocation(Op.getDebugLoc());
    B.createCall(IB, operationNumber("divide_error"), {}, IB.getVoidTy())
        ->setDoesNotReturn();
    IB.CreateUnreachable();
    return Error;
  }
};
} // namespace

/// Has LLVM promise nothing about F but what its instructions do: the native
/// code divides by a sum that "cannot" overflow, and traps if it did.
static void dropPromises(Function &F) {
  for (Instruction &I : instructions(F)) {
    I.dropPoisonGeneratingFlags();
    if (auto *Abs = dyn_cast<IntrinsicInst>(&I))
      if (Abs->getIntrinsicID() == Intrinsic::abs)
        Abs->setArgOperand(1, ConstantInt::getFalse(F.getContext()));
  }
}

static void testDivisionsOf(BpfModule &B, Function &F) {
  if (none_of(instructions(F), isDivision))
    return;
  dropPromises(F);
  // Find all before the first test changes the blocks.
  auto Found = Divisions(F).find(F);
  Tester T(B, F);
  for (const Division &D : Found)
    T.test(D);
}

void cosy::testDivisionsAsWritten(BpfModule &B) {
  for (Function &F : *B.M)
    if (F.hasFnAttribute(AsWrittenAttr)) {
      unpinDivisions(F);
      testDivisionsOf(B, F);
    }
}

void cosy::testDivisions(BpfModule &B) {
  for (Function &F : *B.M)
    testDivisionsOf(B, F);
}
