// SPDX-License-Identifier: MIT
//===- Signatures.cpp - Local calls that fit BPF's registers --------------===//
//
// A local call has five arguments in r1-r5 and one result in r0.  Further
// arguments and results go through the caller's memory:
//
//   %r = call i64 @f(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %g)
//
// becomes
//
//   store i64 %e, ptr %memory              ; and %g after it
//   %r = call i64 @f(i64 %a, i64 %b, i64 %c, i64 %d, ptr %memory)
//
// Before optimisation, cosy-expand-by-value makes explicit copies of structures
// that are passed by value.  cosy-pack-signatures does the rest after it.
//
//===----------------------------------------------------------------------===//
#include "lower/Signatures.h"
#include "calls/Callees.h"
#include "lower/BpfModule.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "cosy-pack-signatures"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumPacked,
                         "Number of functions with packed signatures");
ALWAYS_ENABLED_STATISTIC(NumByValue, "Number of structures passed by value");

static constexpr unsigned MaxRegisters = 5;

void cosy::expandByValue(BpfModule &B) {
  for (Function &F : *B.M) {
    if (F.isDeclaration() || &F == B.Main)
      continue;
    auto Calls = callsOf(F);
    for (Argument &A : F.args()) {
      unsigned ArgNo = A.getArgNo();
      if (A.hasByValAttr()) {
        ++NumByValue;
        Type *Ty = A.getParamByValType();
        Align Alignment = A.getParamAlign().value_or(Align(8));
        uint64_t Size = F.getDataLayout().getTypeAllocSize(Ty);
        for (CallBase *C : Calls) {
          BasicBlock &Entry = C->getFunction()->getEntryBlock();
          IRBuilder<> EB(&Entry, Entry.begin());
          AllocaInst *Copy = EB.CreateAlloca(Ty);
          Copy->setAlignment(Alignment);
          IRBuilder<> IB(C);
          IB.CreateMemCpy(Copy, Alignment, C->getArgOperand(ArgNo),
                          C->getParamAlign(ArgNo), Size);
          C->setArgOperand(ArgNo, Copy);
        }
      }
      for (auto Kind : {Attribute::ByVal, Attribute::StructRet,
                        Attribute::InReg, Attribute::Nest}) {
        F.removeParamAttr(ArgNo, Kind);
        for (CallBase *C : Calls)
          C->removeParamAttr(ArgNo, Kind);
      }
    }
  }
}

static bool fitsRegister(Type *Ty) {
  return Ty->isPointerTy() ||
         (Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64);
}

/// True if a call of F needs no memory.
static bool hasNarrowSignature(const Function &F) {
  Type *Result = F.getReturnType();
  return (Result->isVoidTy() || fitsRegister(Result)) &&
         F.arg_size() <= MaxRegisters &&
         all_of(F.args(),
                [](const Argument &A) { return fitsRegister(A.getType()); });
}

namespace {
/// Decides which arguments stay in registers, and lays out a structure for the
/// others and the result.  The structure's address becomes the last argument.
struct Packing {
  SmallVector<unsigned, 4> InRegister, InMemory;
  bool ResultInMemory;
  StructType *Memory;
  FunctionType *PackedType;

  explicit Packing(const Function &F) {
    LLVMContext &Ctx = F.getContext();
    SmallVector<Type *, 8> Registers, Fields;
    for (const Argument &A : F.args()) {
      bool Stays =
          fitsRegister(A.getType()) && Registers.size() < MaxRegisters - 1;
      (Stays ? InRegister : InMemory).push_back(A.getArgNo());
      (Stays ? Registers : Fields).push_back(A.getType());
    }
    Type *Result = F.getReturnType();
    ResultInMemory = !Result->isVoidTy() && !fitsRegister(Result);
    if (ResultInMemory)
      Fields.push_back(Result);
    Memory = StructType::get(Ctx, Fields);
    Registers.push_back(PointerType::get(Ctx, 0));
    PackedType = FunctionType::get(
        ResultInMemory ? Type::getVoidTy(Ctx) : Result, Registers, false);
  }
};
} // namespace

/// Moves F's body into a function with the packed signature.
static Function *packFunction(Function &F, const Packing &P) {
  Function *New =
      Function::Create(P.PackedType, F.getLinkage(), "", F.getParent());
  New->copyAttributesFrom(&F);
  New->setAttributes(AttributeList().addFnAttributes(
      F.getContext(),
      AttrBuilder(F.getContext(), F.getAttributes().getFnAttrs())));
  New->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  New->splice(New->begin(), &F);
  New->takeName(&F);

  IRBuilder<> B(&New->getEntryBlock(), New->getEntryBlock().begin());
  Argument *Memory = New->getArg(New->arg_size() - 1);
  for (unsigned I = 0; I < P.InRegister.size(); ++I)
    F.getArg(P.InRegister[I])->replaceAllUsesWith(New->getArg(I));
  for (unsigned I = 0; I < P.InMemory.size(); ++I) {
    Argument *A = F.getArg(P.InMemory[I]);
    A->replaceAllUsesWith(
        B.CreateLoad(A->getType(), B.CreateStructGEP(P.Memory, Memory, I)));
  }
  if (P.ResultInMemory)
    for (BasicBlock &BB : *New)
      if (auto *Ret = dyn_cast<ReturnInst>(BB.getTerminator())) {
        IRBuilder<> RB(Ret);
        RB.CreateStore(Ret->getReturnValue(),
                       RB.CreateStructGEP(P.Memory, Memory, P.InMemory.size()));
        RB.CreateRetVoid();
        Ret->eraseFromParent();
      }
  return New;
}

static void packCall(CallBase *C, Function *New, const Packing &P) {
  BasicBlock &Entry = C->getFunction()->getEntryBlock();
  IRBuilder<> EB(&Entry, Entry.begin());
  AllocaInst *Memory = EB.CreateAlloca(P.Memory);
  Memory->setAlignment(Align(16));
  IRBuilder<> B(C);
  SmallVector<Value *, 5> Args;
  for (unsigned ArgNo : P.InRegister)
    Args.push_back(C->getArgOperand(ArgNo));
  for (unsigned I = 0; I < P.InMemory.size(); ++I)
    B.CreateStore(C->getArgOperand(P.InMemory[I]),
                  B.CreateStructGEP(P.Memory, Memory, I));
  Args.push_back(Memory);
  CallInst *Call = B.CreateCall(New, Args);
  Value *Result = Call;
  if (P.ResultInMemory)
    Result = B.CreateLoad(
        C->getType(), B.CreateStructGEP(P.Memory, Memory, P.InMemory.size()));
  if (!C->getType()->isVoidTy())
    C->replaceAllUsesWith(Result);
  C->eraseFromParent();
}

void cosy::packSignatures(BpfModule &B) {
  SmallVector<Function *, 8> Wide;
  for (Function &F : *B.M)
    if (!F.isDeclaration() && &F != B.Main && !hasNarrowSignature(F))
      Wide.push_back(&F);
  for (Function *F : Wide) {
    ++NumPacked;
    Packing P(*F);
    Function *New = packFunction(*F, P);
    for (CallBase *C : callsOf(*F))
      packCall(C, New, P);
    F->replaceAllUsesWith(New);
    F->eraseFromParent();
  }
}
