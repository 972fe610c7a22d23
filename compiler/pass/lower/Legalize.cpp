// SPDX-License-Identifier: MIT
//===- Legalize.cpp - What BPF lacks; what stays native -------------------===//
//
// Runs after optimisation, so that dead code does not count.
//
//   %x = mul i128 %a, %b             ->  products of 64 bits and their sum
//   unreachable                      ->  call of the operation trap
//   call void @exit(i32 %n)          ->  store %n in the context, ret i64 65536
//   %f = fadd double %a, %b          ->  nothing: a reason to stay native
//
// Atomics.cpp, Arithmetic.cpp and Intrinsics.cpp are parts of this stage.
//
//===----------------------------------------------------------------------===//
#include "lower/Legalize.h"
#include "base/Names.h"
#include "base/Reason.h"
#include "calls/CallTable.h"
#include "calls/LibcFunctions.h"
#include "calls/RuntimeBodies.h"
#include "lower/Arithmetic.h"
#include "lower/Atomics.h"
#include "lower/BpfModule.h"
#include "lower/CallOuts.h"
#include "lower/Compound.h"
#include "lower/Intrinsics.h"
#include "lower/Operations.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-legalize"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumEscapes, "Number of calls that end a compound");
ALWAYS_ENABLED_STATISTIC(NumRefused, "Number of reasons to stay native");
ALWAYS_ENABLED_STATISTIC(NumTraps, "Number of places that are never reached");

static bool isFloatOrVector(Type *Ty) {
  if (auto *A = dyn_cast<ArrayType>(Ty))
    return isFloatOrVector(A->getElementType());
  if (auto *S = dyn_cast<StructType>(Ty))
    return any_of(S->elements(), isFloatOrVector);
  return Ty->isFPOrFPVectorTy() || Ty->isVectorTy();
}

/// Ends the compound as reaching __builtin_unreachable or a trap would.
static void insertTrap(BpfModule &B, Instruction *Before) {
  ++NumTraps;
  IRBuilder<> IB(Before);
  B.createCall(IB, operationNumber("trap"), {}, IB.getVoidTy());
}

/// Returns the operation that does not return before an unreachable, or null.
static CallInst *operationBefore(UnreachableInst *U) {
  auto *Call = dyn_cast_or_null<CallInst>(U->getPrevNode());
  uint32_t Number;
  return Call && Call->doesNotReturn() &&
                 isNumberedCall(Call->getCalledOperand(), Number)
             ? Call
             : nullptr;
}

/// Ends the function at a place that is never reached.
static void replaceUnreachable(BpfModule &B, UnreachableInst *U) {
  // LLVM would drop the return after a call that does not return.
  if (CallInst *Call = operationBefore(U))
    Call->removeFnAttr(Attribute::NoReturn);
  else
    insertTrap(B, U);
  Type *Ty = U->getFunction()->getReturnType();
  IRBuilder<> IB(U);
  if (Ty->isVoidTy())
    IB.CreateRetVoid();
  else
    IB.CreateRet(Constant::getNullValue(Ty));
  U->eraseFromParent();
}

/// Makes a call that does not return leave the compound, for the host to make
/// it.
static bool makeEscape(BpfModule &B, Compound &C, CallBase *Call) {
  auto *Callee = dyn_cast<Function>(Call->getCalledOperand());
  if (!Callee || Call->getFunction() != B.Main || !Call->doesNotReturn())
    return false;
  // Its exception would miss the handlers and clean-ups of the region.
  if (!Call->doesNotThrow() && B.HasHandlers)
    return false;
  if (any_of(Call->args(),
             [](Value *V) { return isFloatOrVector(V->getType()); }))
    return false;
  Escape E;
  E.Callee = B.HostGlobals.lookup(Callee->getName());
  if (!E.Callee) {
    auto Host = B.Host.getOrInsertFunction(Callee->getName(),
                                           Callee->getFunctionType());
    E.Callee = cast<GlobalValue>(Host.getCallee());
  }
  E.Type = Call->getFunctionType();
  E.Attributes = Call->getAttributes().addFnAttribute(B.M->getContext(),
                                                      Attribute::NoReturn);
  IRBuilder<> IB(Call);
  for (Value *Arg : Call->args()) {
    unsigned Offset =
        B.allocateField(B.M->getDataLayout().getTypeAllocSize(Arg->getType()));
    IB.CreateAlignedStore(Arg, B.contextField(IB, Offset), Align(8));
    E.ArgTypes.push_back(Arg->getType());
    E.ArgOffsets.push_back(Offset);
  }
  BasicBlock *BB = Call->getParent();
  changeToUnreachable(Call);
  Instruction *End = BB->getTerminator();
  ReturnInst::Create(B.M->getContext(),
                     IB.getInt64(FirstEscape + C.Escapes.size()),
                     End->getIterator());
  End->eraseFromParent();
  C.Escapes.push_back(E);
  ++NumEscapes;
  return true;
}

static std::string describeCallee(const CallBase &C) {
  const Function *F = calleeOf(C);
  if (!F)
    return "a call through a pointer that is not a constant, which may throw "
           "or passes more than integers and addresses";
  StringRef Name = F->getName();
  Name.consume_front("\1");
  if (isForeign(*F) &&
      (Name == "syscall" || findWrapper(Name) || isInRuntime(Name)))
    return formatv("a call of '{0}', which no header of the C library "
                   "declares: it may be the program's own",
                   shownName(Name));
  if (Name == "syscall" && C.arg_size()) {
    auto *Number = dyn_cast<ConstantInt>(C.getArgOperand(0));
    if (!Number)
      return "a call of syscall() with a number that is not a constant";
    auto Denied = deniedCall(Number->getZExtValue());
    return formatv("a call of syscall({0}): {1}", Number->getSExtValue(),
                   Denied ? *Denied : "its arguments do not fit");
  }
  if (Name == "fcntl" || Name == "fcntl64")
    return "a call of 'fcntl' with F_GETOWN or a command that is not a "
           "constant: libc may ask the kernel differently";
  if (C.doesNotReturn())
    return formatv("a call of '{0}', which does not return, where a compound "
                   "cannot end: in a function that is called, or among "
                   "exception handlers",
                   shownName(Name));
  if (findWrapper(Name))
    return formatv("a call of '{0}' with arguments that are not libc's", Name);
  return formatv("a call of '{0}': {1}", shownName(Name), whyNoWrapper(Name));
}

namespace {
class Legalizer {
  BpfModule &B;
  Compound &C;
  Reasons &Why;

public:
  Legalizer(BpfModule &B, Compound &C, Reasons &Why) : B(B), C(C), Why(Why) {}

  void visit(Instruction *I) {
    if (auto *U = dyn_cast<UnreachableInst>(I))
      return replaceUnreachable(B, U);
    if (isa<VAArgInst>(I))
      return refuse(I, "va_arg");
    if (isa<IndirectBrInst>(I) || isa<CallBrInst>(I))
      return refuse(I, "a computed goto");
    if (usesSegment(I))
      return refuse(I, "a pointer with an address space of its own");
    if (legalizeAtomic(B, I, Why))
      return;
    if (auto *L = dyn_cast<LoadInst>(I); L && L->isVolatile())
      keepOrder(L);
    if (usesFloat(I))
      return refuse(I, "floating-point or vector arithmetic");
    if (auto *Op = dyn_cast<BinaryOperator>(I))
      return visitWide(Op);
    if (auto *Call = dyn_cast<CallBase>(I))
      visitCall(Call);
  }

private:
  void refuse(Instruction *I, const Twine &Text) {
    ++NumRefused;
    Why.push_back({Text.str(), I->getDebugLoc()});
  }

  /// True for addresses that %gs or %fs is added to, and for those of 32 bits.
  static bool usesSegment(Instruction *I) {
    return any_of(I->operand_values(), [](Value *V) {
      auto *Pointer = dyn_cast<PointerType>(V->getType());
      return Pointer && Pointer->getAddressSpace();
    });
  }

  static bool usesFloat(Instruction *I) {
    return isFloatOrVector(I->getType()) ||
           any_of(I->operand_values(),
                  [](Value *V) { return isFloatOrVector(V->getType()); });
  }

  void visitWide(BinaryOperator *Op) {
    if (!Op->getType()->isIntegerTy() ||
        Op->getType()->getIntegerBitWidth() <= 64)
      return;
    switch (Op->getOpcode()) {
    case Instruction::Mul:
      if (Op->getType()->getIntegerBitWidth() == 128)
        expandWideMultiply(Op);
      else
        refuse(Op, "a multiplication of more than 128 bits");
      return;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      if (isa<ConstantInt>(Op->getOperand(1)))
        return;
      if (Op->getType()->getIntegerBitWidth() == 128)
        expandWideShift(Op);
      else
        refuse(Op, "a shift of more than 128 bits");
      return;
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return refuse(Op, "a 128-bit division");
    default:
      return;
    }
  }

  void visitCall(CallBase *Call) {
    if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
      if (isSixCall(*Asm))
        return;
      // Without instructions it only orders accesses.
      if (!Asm->getAsmString().empty())
        refuse(Call, "inline assembly");
      else if (Call->mayReadOrWriteMemory() && isa<CallInst>(Call))
        keepOrder(cast<CallInst>(Call));
      return;
    }
    auto *Callee = dyn_cast<Function>(Call->getCalledOperand());
    if (Callee && Callee->getName() == ComputedGotoName)
      return refuse(Call, "a computed goto");
    if (Callee && Callee->isIntrinsic()) {
      if (const char *What = legalizeIntrinsic(B, cast<CallInst>(Call)))
        refuse(Call,
               *What ? What : ("the operation " + Callee->getName()).str());
      return;
    }
    uint32_t Number;
    if (Callee &&
        (isNumberedCall(Callee, Number) || Callee->getName() == ContextName))
      return;
    if (Callee && !Callee->isDeclaration()) {
      if (Callee->isVarArg())
        refuse(Call, formatv("a call of the variadic function '{0}'",
                             shownName(Callee->getName()))
                         .str());
      return;
    }
    if (Callee)
      if (auto *Host = B.HostGlobals.lookup(Callee->getName());
          Host && Host->isInterposable() && !Host->isDeclaration())
        return refuse(Call, formatv("a call of '{0}', which is weak and may be "
                                    "replaced at link time",
                                    shownName(Callee->getName()))
                                .str());
    if (makeEscape(B, C, Call))
      return;
    if (isCallOut(B, *Call))
      return lowerCallOut(B, Call);
    if (Callee)
      if (auto *Host = dyn_cast_or_null<GlobalIFunc>(
              B.HostGlobals.lookup(Callee->getName())))
        return refuse(Call, formatv("a call of '{0}', which is resolved at run "
                                    "time",
                                    shownName(Host->getName()))
                                .str());
    refuse(Call, describeCallee(*Call));
  }
};
} // namespace

/// Drops the bodies of functions that are not called: only their addresses in
/// the host matter.
static void dropUncalled(BpfModule &B) {
  SetVector<Function *> Reached;
  Reached.insert(B.Main);
  for (unsigned I = 0; I < Reached.size(); ++I)
    for (Instruction &Inst : instructions(Reached[I]))
      if (auto *Call = dyn_cast<CallBase>(&Inst))
        if (Function *Callee = Call->getCalledFunction();
            Callee && !Callee->isDeclaration())
          Reached.insert(Callee);
  for (Function &F : *B.M)
    if (!F.isDeclaration() && !Reached.contains(&F))
      F.deleteBody();
}

void cosy::legalize(BpfModule &B, Compound &C, Reasons &Why) {
  dropUncalled(B);
  for (Function &F : *B.M) {
    legalizeFloatMoves(F);
    SmallVector<WeakVH, 64> Instructions;
    for (Instruction &I : instructions(F))
      Instructions.push_back(&I);
    Legalizer L(B, C, Why);
    for (WeakVH &I : Instructions)
      if (I)
        L.visit(cast<Instruction>(I));
  }
}
