// SPDX-License-Identifier: MIT
//===- Operations.cpp - Calls by number, and what is said of them ---------===//
#include "lower/Operations.h"
#include "base/LlvmCompat.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace cosy;

bool cosy::isPointerLetter(char Letter) {
  return Letter == 'p' || Letter == 'r' || Letter == 'P';
}

static constexpr char SixConstraints[] =
    "={r0},={r1},={r2},={r3},={r4},={r5},"
    "{r0},{r1},{r2},{r3},{r4},{r5},~{memory}";

bool cosy::isSixCall(const InlineAsm &Asm) {
  return Asm.getConstraintString() == SixConstraints;
}

Value *cosy::createSixCall(IRBuilder<> &B, uint32_t Number,
                           ArrayRef<Value *> Args) {
  Type *I64 = B.getInt64Ty();
  SmallVector<Value *, 6> Ints;
  for (Value *V : Args)
    Ints.push_back(V->getType()->isPointerTy() ? B.CreatePtrToInt(V, I64) : V);
  SmallVector<Type *, 6> Six(6, I64);
  auto *Ty =
      FunctionType::get(StructType::get(B.getContext(), Six), Six, false);
  auto *Asm = InlineAsm::get(Ty, ("call " + Twine(Number)).str(),
                             SixConstraints, /*hasSideEffects=*/true);
  CallInst *Call =
      B.CreateCall(Asm, {Ints[5], Ints[0], Ints[1], Ints[2], Ints[3], Ints[4]});
  return B.CreateExtractValue(Call, 0);
}

Value *cosy::createErrnoTest(BpfModule &B, CallBase *C, Value *Result) {
  IRBuilder<> IB(C);
  Value *Failed =
      IB.CreateICmpUGT(Result, IB.getInt64(uint64_t(-4096)), "cosy.failed");
  BasicBlock *Head = C->getParent();
  Instruction *Then = SplitBlockAndInsertIfThen(
      Failed, C->getIterator(), /*Unreachable=*/false,
      MDBuilder(IB.getContext()).createUnlikelyBranchWeights());
  IRBuilder<> TB(Then);
  TB.SetCurrentDebugLocation(C->getDebugLoc());
  Value *Errno = B.loadField(TB, TB.getPtrTy(), ErrnoOffset);
  TB.CreateAlignedStore(TB.CreateTrunc(TB.CreateNeg(Result), TB.getInt32Ty()),
                        Errno, Align(4));
  IRBuilder<> JB(C->getParent(), C->getParent()->begin());
  PHINode *Phi = JB.CreatePHI(JB.getInt64Ty(), 2);
  Phi->addIncoming(Result, Head);
  Phi->addIncoming(JB.getInt64(-1), Then->getParent());
  return Phi;
}

void cosy::describeOperation(CallInst *Call, const char *Letters,
                             bool MayReturnArgument) {
  Function *F = Call->getCalledFunction();
  bool Writes = StringRef(Letters).contains('p');
  F->setMemoryEffects(
      MemoryEffects::argMemOnly(Writes ? ModRefInfo::ModRef : ModRefInfo::Ref));
  F->addFnAttr(Attribute::WillReturn);
  F->addFnAttr(Attribute::NoCallback);
  unsigned Arg = 0;
  for (const char *L = Letters; *L; ++L, ++Arg) {
    if (!isPointerLetter(*L))
      continue;
    if (*L == 'r')
      F->addParamAttr(Arg, Attribute::ReadOnly);
    if (!MayReturnArgument)
      F->addParamAttr(Arg, noCapture(F->getContext()));
  }
}

void cosy::noteFunction(Compound &C, StringRef Name, GlobalValue *Host) {
  if (none_of(C.Functions, [&](const Replaced &R) { return R.Name == Name; }))
    C.Functions.push_back({Name.str(), Host});
}

void cosy::noteReplaced(const BpfModule &B, Compound &C, const Function &F) {
  StringRef Name = F.getName();
  if (!Name.starts_with("cosy_")) {
    Name.consume_front("\1");
    noteFunction(C, Name, B.HostGlobals.lookup(F.getName()));
    return;
  }
  for (StringRef Called : libcFunctionsOf(Name))
    noteFunction(C, Called, nullptr);
}
