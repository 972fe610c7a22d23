// SPDX-License-Identifier: MIT
//===- Written.cpp - Divisions that are made as they are written ----------===//
//
// Where clang does not optimise, the program makes each division whose result
// the source stores or looks at, and one by zero shows.  SROA, which regions
// need, takes the variables away, and with them that use; and a divisor that
// becomes a constant 0 makes the division one that LLVM drops.  So before SROA
// operands and result go through inline assembly without instructions:
//
//   %q = sdiv i32 %a, %b  ->  %x = call i32 asm "", "=r,0"(i32 %a)
//                             %y = call i32 asm "", "=r,0"(i32 %b)
//                             %q = sdiv i32 %x, %y
//                             call void asm sideeffect "", "r"(i32 %q)
//
// The native twin keeps these pins.  The compound's divisions are tested as
// they are written (Divisions.cpp), after which it needs none.
//
// What nobody looks at even in the source, as the quotient of `(void)(a / b)`,
// is not made natively: instruction selection leaves it out without any
// optimisation.  It goes first, here too.
//
//===----------------------------------------------------------------------===//
#include "Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-written"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumPinned, "Number of divisions that are pinned");

/// Metadata of the calls that pin a division.
static const char PinKind[] = "cosy.pin";

static bool isWrittenBy(const Function &F,
                        SmallPtrSetImpl<const Function *> &Seen) {
  if (F.hasOptNone())
    return true;
  // clang does not say it of these: what becomes of one depends on its callers.
  if (!F.hasFnAttribute(Attribute::AlwaysInline) || F.use_empty())
    return false;
  return !Seen.insert(&F).second || all_of(F.users(), [&](const User *U) {
    const auto *Call = dyn_cast<CallBase>(U);
    return !Call || isWrittenBy(*Call->getFunction(), Seen);
  });
}

bool cosy::isAsWritten(const Function &F) {
  SmallPtrSet<const Function *, 8> Seen;
  return isWrittenBy(F, Seen);
}

void cosy::dropUnselected(Function &F) {
  SmallVector<WeakTrackingVH, 16> Dead;
  for (Instruction &I : instructions(F))
    if (!isa<CallBase>(I) && isInstructionTriviallyDead(&I))
      Dead.push_back(&I);
  RecursivelyDeleteTriviallyDeadInstructions(Dead);
}

static bool isPin(const Value *V) {
  if (const auto *Trunc = dyn_cast<TruncInst>(V))
    V = Trunc->getOperand(0);
  const auto *I = dyn_cast<Instruction>(V);
  return I && I->hasMetadata(PinKind);
}

/// True for a division that may trap, and that is made in one instruction.
static bool needsPins(const Instruction &I) {
  if (!I.isIntDivRem() || !I.getType()->isIntegerTy() ||
      I.getType()->getIntegerBitWidth() > 64 || isPin(I.getOperand(1)))
    return false;
  const auto *Divisor = dyn_cast<ConstantInt>(I.getOperand(1));
  return !Divisor || Divisor->isZero() || Divisor->isMinusOne();
}

/// Calls inline assembly without instructions that takes V.  Hides: returns
/// what may be anything to LLVM.
static Value *pin(IRBuilder<> &B, Value *V, bool Hides) {
  Type *Ty = V->getType();
  auto *AsmTy = FunctionType::get(Hides ? Ty : B.getVoidTy(), {Ty}, false);
  auto *Call = B.CreateCall(
      InlineAsm::get(AsmTy, "", Hides ? "=r,0" : "r", !Hides), {V});
  Call->setDoesNotThrow();
  Call->setMetadata(PinKind, MDNode::get(B.getContext(), {}));
  return Call;
}

void cosy::pinDivisions(Function &F) {
  SmallVector<Instruction *, 8> Divisions;
  for (Instruction &I : instructions(F))
    if (needsPins(I))
      Divisions.push_back(&I);
  for (Instruction *I : Divisions) {
    Type *Ty = I->getType();
    unsigned Bits = Ty->getIntegerBitWidth();
    bool IsRegister = Bits >= 8 && isPowerOf2_32(Bits);
    IRBuilder<> Before(I), After(I->getNextNode());
    // Assembly has no other widths; the processor divides wider ones instead.
    Type *In = IsRegister ? Ty : Before.getInt64Ty();
    for (Use &Operand : I->operands())
      Operand.set(Before.CreateTrunc(
          pin(Before, Before.CreateSExt(Operand, In), /*Hides=*/true), Ty));
    pin(After, After.CreateZExt(I, In), /*Hides=*/false);
  }
  NumPinned += Divisions.size();
}

void cosy::unpinDivisions(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (!I.hasMetadata(PinKind))
      continue;
    Value *Operand = I.getOperand(0);
    if (!I.getType()->isVoidTy())
      I.replaceAllUsesWith(Operand);
    I.eraseFromParent();
  }
}
