// SPDX-License-Identifier: MIT
//===- CallOuts.cpp - Calls for which a compound leaves and comes back ----===//
//
// A region ends before a call that it cannot hold, as of perror (Leave.cpp). In
// a function that recurses it cannot: its callers' frames are the compound's.
// There the operation call_out leaves the kernel, has libcosy make the call,
// and goes on in the kernel:
//
//   call void @perror(ptr %name)
//
// becomes
//
//   store ptr %name, ptr %arguments
//   call i64 @__cosy_call.65581.ppl(ptr @perror, ptr %arguments, i64 1)
//
//===----------------------------------------------------------------------===//
#include "lower/CallOuts.h"
#include "calls/CallTable.h"
#include "calls/LibcCalls.h"
#include "calls/LibcFunctions.h"
#include "lower/BpfModule.h"
#include "lower/ShortLocals.h"
#include "region/Markers.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

extern "C" {
#include "core.h"
}

#define DEBUG_TYPE "cosy-call-outs"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumCallOuts,
                         "Number of calls that compounds leave for");

/// True for a function that calls only functions of libc's which return, or end
/// the program, or functions like that.
static bool onlyReports(const Function &F, unsigned Depth) {
  return Depth && !F.isInterposable() &&
         all_of(instructions(F), [&](const Instruction &I) {
           const auto *C = dyn_cast<CallBase>(&I);
           const Function *Callee = C ? C->getCalledFunction() : nullptr;
           if (Callee && !Callee->isDeclaration())
             return onlyReports(*Callee, Depth - 1);
           if (!C || isa<IntrinsicInst>(I))
             return !isMarker(I);
           StringRef Name = libcName(*C);
           return Callee && !Name.empty() && !mayJump(Name);
         });
}

void cosy::lowerVariadic(BpfModule &B) {
  SmallVector<CallBase *, 4> Calls;
  auto IsRegion = [&](Function &F) {
    return &F == B.Main || any_of(F.users(), [&](User *U) {
      auto *C = dyn_cast<CallBase>(U);
      return C && C->getFunction() == B.Main;
    });
  };
  for (Function &F : *B.M)
    for (Instruction &I : instructions(F)) {
      auto *C = dyn_cast<CallBase>(&I);
      const Function *Callee = C ? C->getCalledFunction() : nullptr;
      if (!Callee || Callee->isDeclaration() || !Callee->isVarArg() ||
          IsRegion(F) || !takesWords(*C))
        continue;
      const auto *Host =
          dyn_cast_or_null<Function>(B.HostGlobals.lookup(Callee->getName()));
      // What it calls need not say that it does not throw: clang does not mark
      // libc's inline functions.
      if (Host && !Host->isDeclaration() && Host->doesNotThrow() &&
          onlyReports(*Host, 4))
        Calls.push_back(C);
    }
  for (CallBase *C : Calls)
    lowerCallOut(B, C);
}

bool cosy::isCallOut(const BpfModule &B, const CallBase &C) {
  if (isByPointer(C))
    return C.hasFnAttr(CallOutAttr);
  return (C.getFunction() != B.Main || C.hasFnAttr(CallOutAttr)) &&
         canCallOut(C);
}

/// Returns a local of F for arguments, which its calls share.
static AllocaInst *roomForArguments(Function &F) {
  LLVMContext &Ctx = F.getContext();
  // No type of the program's is like that.
  Type *Words = ArrayType::get(Type::getInt64Ty(Ctx), COSY_MAX_ARGUMENTS);
  auto *Ty = StructType::get(Ctx, ArrayRef<Type *>(Words));
  for (Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I); A && A->getAllocatedType() == Ty)
      return A;
  IRBuilder<> IB(&F.getEntryBlock(), F.getEntryBlock().begin());
  AllocaInst *Room = IB.CreateAlloca(Ty);
  // They are stored right before the operation, which reads them first.
  Room->setMetadata(ShortLocalName, MDNode::get(Ctx, {}));
  return Room;
}

void cosy::lowerCallOut(BpfModule &B, CallBase *C) {
  ++NumCallOuts;
  IRBuilder<> IB(C);
  // A function that only a body of libc's calls is not in the host.
  if (Function *Callee = calleeOf(*C)) {
    GlobalValue *&Host = B.HostGlobals[Callee->getName()];
    if (!Host)
      Host = cast<GlobalValue>(
          B.Host
              .getOrInsertFunction(Callee->getName(), Callee->getFunctionType())
              .getCallee());
  }
  Value *Arguments = ConstantPointerNull::get(IB.getPtrTy());
  if (C->arg_size())
    Arguments = roomForArguments(*C->getFunction());
  for (unsigned I = 0; I < C->arg_size(); ++I) {
    Value *V = C->getArgOperand(I);
    if (V->getType()->isIntegerTy())
      V = C->paramHasAttr(I, Attribute::SExt)
              ? IB.CreateSExt(V, IB.getInt64Ty())
              : IB.CreateZExt(V, IB.getInt64Ty());
    IB.CreateAlignedStore(
        V, IB.CreateConstInBoundsGEP1_64(IB.getInt64Ty(), Arguments, I),
        Align(8));
  }
  Value *Result = B.createCall(
      IB, operationNumber("call_out"),
      {C->getCalledOperand(), Arguments, IB.getInt64(C->arg_size())});
  if (C->getType()->isPointerTy())
    Result = IB.CreateIntToPtr(Result, C->getType());
  else if (C->getType()->isIntegerTy())
    Result = IB.CreateTrunc(Result, C->getType());
  if (!C->getType()->isVoidTy())
    C->replaceAllUsesWith(Result);
  C->eraseFromParent();
}
