// SPDX-License-Identifier: MIT
//===- Bytes.cpp - Reads of one byte return it in a register --------------===//
//
// read(fd, &c, 1) into a byte that only the region sees becomes readc: c is
// then a value, and the program's tests of both fold into tests of one:
//
//   %n = call i64 @__cosy_call.0.lpl(i64 %fd, ptr %byte, i64 1)
//   %c = load i8, ptr %byte
//
// becomes, %byte being gone,
//
//   %r = call i64 @__cosy_call.65562.l(i64 %fd)    ; the byte, or an error
//
//===----------------------------------------------------------------------===//
#include "lower/Bytes.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "lower/Buffers.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include <cerrno>
#include <sys/syscall.h>

#define DEBUG_TYPE "cosy-choose-bytes"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumBytes,
                         "Number of reads of a byte that became readc");

static bool isByteRead(const Instruction &I) {
  const auto *Call = dyn_cast<CallInst>(&I);
  uint32_t Number;
  if (!Call || !isNumberedCall(Call->getCalledOperand(), Number) ||
      Number != SYS_read || Call->arg_size() != 3 ||
      !Call->getArgOperand(1)->getType()->isPointerTy())
    return false;
  const auto *Count = dyn_cast<ConstantInt>(Call->getArgOperand(2));
  return Count && Count->isOne();
}

/// True if a byte is only read into, loaded and stored, by its own address.
static bool isOnlyAByte(const Buffer &Buf, const BufferUses &Uses) {
  if (!Buf.WhyShared.empty() || Buf.Size != 1 || Uses.Lost ||
      !Uses.Copies.empty())
    return false;
  auto IsRoot = [&](const Value *V) { return is_contained(Buf.Roots, V); };
  return all_of(Uses.Calls,
                [&](CallInst *Call) {
                  return isByteRead(*Call) && IsRoot(Call->getArgOperand(1));
                }) &&
         all_of(Uses.Accesses, [&](Instruction *I) {
           return IsRoot(getLoadStorePointerOperand(I)) &&
                  getLoadStoreType(I)->isIntegerTy(8);
         });
}

/// Makes read's result, and the byte where there is one, of readc's.
static void replaceRead(BpfModule &B, CallInst *Read, Value *Byte) {
  IRBuilder<> IB(Read);
  Value *Result =
      B.createCall(IB, operationNumber("readc"), {Read->getArgOperand(0)});
  Instruction *Got, *Not;
  // Branch rather than select: each branch folds into the tests that follow.
  SplitBlockAndInsertIfThenElse(IB.CreateICmpSGE(Result, IB.getInt64(0)), Read,
                                &Got, &Not);
  IRBuilder<> GB(Got), NB(Not);
  GB.CreateStore(GB.CreateTrunc(Result, GB.getInt8Ty()), Byte);
  Value *Failed = NB.CreateSelect(
      NB.CreateICmpEQ(Result, NB.getInt64(-ENODATA)), NB.getInt64(0), Result);
  IB.SetInsertPoint(Read->getParent(), Read->getParent()->begin());
  PHINode *Count = IB.CreatePHI(IB.getInt64Ty(), 2);
  Count->addIncoming(IB.getInt64(1), Got->getParent());
  Count->addIncoming(Failed, Not->getParent());
  Read->replaceAllUsesWith(Count);
  Read->eraseFromParent();
}

/// Makes a local of the compound in place of a byte of the host's.
static AllocaInst *createShadow(BpfModule &B, Value *HostByte) {
  IRBuilder<> IB(cast<Instruction>(HostByte)->getNextNode());
  IRBuilder<> EB(&B.Main->getEntryBlock(), B.Main->getEntryBlock().begin());
  AllocaInst *Shadow = EB.CreateAlloca(EB.getInt8Ty());
  IB.CreateStore(IB.CreateLoad(IB.getInt8Ty(), HostByte), Shadow);
  for (BasicBlock &BB : *B.Main)
    if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator())) {
      IRBuilder<> RB(Return);
      RB.CreateStore(RB.CreateLoad(RB.getInt8Ty(), Shadow), HostByte);
    }
  return Shadow;
}

bool cosy::chooseBytes(BpfModule &B, const Extracted &R, Compound &C) {
  SmallVector<CallInst *, 4> Reads;
  for (Instruction &I : instructions(*B.Main))
    if (isByteRead(I))
      Reads.push_back(cast<CallInst>(&I));

  SmallPtrSet<Value *, 4> Seen;
  SmallVector<AllocaInst *, 4> Bytes;
  for (CallInst *Read : Reads) {
    Buffer Buf = bufferOf(B, R, C, Read->getArgOperand(1));
    if (!Seen.insert(Buf.Object).second)
      continue;
    BufferUses Uses = usesOf(Buf);
    // The shadow of a host's byte lives from where its address is known.
    if (!isOnlyAByte(Buf, Uses) || Buf.Roots.size() != 1)
      continue;
    auto *Byte = dyn_cast<AllocaInst>(Buf.Object);
    if (!Byte) {
      auto *Address = cast<Instruction>(Buf.Object);
      if (Address->getParent() != &B.Main->getEntryBlock())
        continue;
      Byte = createShadow(B, Address);
      for (Instruction *I : Uses.Accesses)
        I->setOperand(isa<LoadInst>(I) ? 0 : 1, Byte);
    }
    for (IntrinsicInst *I : Uses.Lifetimes)
      I->eraseFromParent();
    for (CallInst *Call : Uses.Calls) {
      C.Choices.push_back({true, "read of a byte into a register (readc)",
                           Call->getDebugLoc()});
      replaceRead(B, Call, Byte);
      ++NumBytes;
    }
    Bytes.push_back(Byte);
  }
  if (Bytes.empty())
    return false;
  DominatorTree DT(*B.Main);
  erase_if(Bytes, [](AllocaInst *A) { return !isAllocaPromotable(A); });
  PromoteMemToReg(Bytes, DT);
  return true;
}
