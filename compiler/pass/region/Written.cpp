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
// optimisation.  It goes first, here too, once the functions are inlined that
// always are.
//
//===----------------------------------------------------------------------===//
#include "region/Written.h"
#include "region/Inliner.h"
#include "region/Markers.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-written"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumPinned, "Number of divisions that are pinned");

/// Metadata of the calls that pin a division.
static const char PinKind[] = "cosy.pin";

PreservedAnalyses cosy::WrittenPass::run(Module &M, ModuleAnalysisManager &) {
  if (any_of(M, hasMarkers))
    for (Function &F : M)
      if (!F.isDeclaration())
        F.addFnAttr(AsWrittenAttr);
  return PreservedAnalyses::none();
}

bool cosy::isAsWritten(const Function &F) {
  return F.hasOptNone() || F.hasFnAttribute(AsWrittenAttr);
}

/// Always-inlined calls that are inlined into one function; a cycle of such
/// functions has no end.
static constexpr unsigned MaxAlways = 1000;

/// Inlines what clang inlines into F even without optimisation.
static void inlineAlways(Function &F) {
  SmallVector<CallBase *, 8> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Calls.push_back(Call);
  unsigned Inlined = 0;
  inlineCalls(Calls, [&](CallBase &Call) {
    Function *Callee = Call.getCalledFunction();
    return Callee && Callee != &F && Call.hasFnAttr(Attribute::AlwaysInline) &&
           isInlinable(*Callee) && isAsWritten(*Callee) &&
           !hasMarkers(*Callee) && Inlined++ < MaxAlways;
  });
}

/// True if instruction selection makes I, which stands before Dropped.
static bool isSelected(const Instruction &I,
                       const SmallPtrSetImpl<const Instruction *> &Dropped) {
  if (I.isTerminator() || I.isEHPad() || I.mayWriteToMemory() ||
      isa<AllocaInst>(I))
    return true;
  return any_of(I.users(), [&](const User *U) {
    const auto *By = cast<Instruction>(U);
    return isa<PHINode>(By) || By->getParent() != I.getParent() ||
           !Dropped.contains(By);
  });
}

void cosy::dropUnselected(Function &F) {
  inlineAlways(F);
  SmallVector<Instruction *, 16> Dead;
  for (BasicBlock &BB : F) {
    auto *Switch = dyn_cast<SwitchInst>(BB.getTerminator());
    if (Switch && Switch->getNumCases() == 0)
      ReplaceInstWithInst(Switch, BranchInst::Create(Switch->getDefaultDest()));
    for (Instruction &I : make_early_inc_range(BB))
      if (isa<AssumeInst>(I))
        I.eraseFromParent();
    SmallPtrSet<const Instruction *, 16> Dropped;
    for (Instruction &I : reverse(BB))
      if (!isSelected(I, Dropped)) {
        Dropped.insert(&I);
        Dead.push_back(&I);
      }
  }
  for (Instruction *I : Dead)
    I->eraseFromParent();
}

bool cosy::isPinned(const Instruction &I) { return I.hasMetadata(PinKind); }

static bool isPin(const Value *V) {
  if (const auto *Trunc = dyn_cast<TruncInst>(V))
    V = Trunc->getOperand(0);
  const auto *I = dyn_cast<Instruction>(V);
  return I && isPinned(*I);
}

/// True for a division that may trap.
static bool needsPins(const Instruction &I) {
  if (!I.isIntDivRem() || !I.getType()->isIntegerTy() ||
      I.getType()->isIntegerTy(1) || isPin(I.getOperand(1)))
    return false;
  const auto *Divisor = dyn_cast<ConstantInt>(I.getOperand(1));
  return !Divisor || Divisor->isZero() || Divisor->isMinusOne();
}

bool cosy::isDividedAsIs(const Type *Ty) {
  unsigned Bits = Ty->getIntegerBitWidth();
  return Bits >= 8 && Bits <= 64 && isPowerOf2_32(Bits);
}

/// Assembly has no other widths.
static Type *registerFor(Type *Ty) {
  return isDividedAsIs(Ty) ? Ty : Type::getInt64Ty(Ty->getContext());
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

/// Has V made, whose bits go in registers.
static void pinResult(IRBuilder<> &B, Value *V) {
  unsigned Bits = V->getType()->getIntegerBitWidth();
  if (Bits <= 64)
    return void(pin(B, B.CreateZExt(V, registerFor(V->getType())),
                    /*Hides=*/false));
  for (unsigned At = 0; At < Bits; At += 64)
    pin(B, B.CreateZExtOrTrunc(B.CreateLShr(V, At), B.getInt64Ty()),
        /*Hides=*/false);
}

static void pinDivision(Instruction *I) {
  Type *Ty = I->getType();
  if (Ty->getIntegerBitWidth() <= 64) {
    IRBuilder<> B(I);
    for (Use &Operand : I->operands())
      Operand.set(B.CreateTrunc(
          pin(B, B.CreateSExt(Operand, registerFor(Ty)), /*Hides=*/true), Ty));
  }
  IRBuilder<> B(I->getNextNode());
  pinResult(B, I);
}

/// True for a call that is made only if its result is used.
static bool isMadeForResult(const Instruction &I) {
  const auto *Call = dyn_cast<CallInst>(&I);
  return Call && !isa<IntrinsicInst>(Call) && !Call->isInlineAsm() &&
         !Call->mayWriteToMemory() && Call->getType()->isIntegerTy() &&
         none_of(Call->users(), isPin);
}

void cosy::pinDivisions(Function &F) {
  dropUnselected(F);
  SmallVector<Instruction *, 8> Divisions, Calls;
  for (Instruction &I : instructions(F))
    if (needsPins(I))
      Divisions.push_back(&I);
    else if (isMadeForResult(I))
      Calls.push_back(&I);
  for (Instruction *I : Divisions)
    pinDivision(I);
  for (Instruction *I : Calls) {
    IRBuilder<> B(I->getNextNode());
    pinResult(B, I);
  }
  NumPinned += Divisions.size();
}

void cosy::unpinDivisions(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    if (!isPinned(I))
      continue;
    Value *Operand = I.getOperand(0);
    if (!I.getType()->isVoidTy())
      I.replaceAllUsesWith(Operand);
    I.eraseFromParent();
  }
}
