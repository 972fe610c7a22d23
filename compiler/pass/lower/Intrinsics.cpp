// SPDX-License-Identifier: MIT
//===- Intrinsics.cpp - LLVM's intrinsics in terms of BPF -----------------===//
//
//   llvm.memcpy of 8 bytes           ->  %v = load i64, ptr %q
//                                        store i64 %v, ptr %p
//   llvm.memcpy of more than 64      ->  call of the operation memcpy
//   llvm.smax and its like           ->  comparison and select
//
//===----------------------------------------------------------------------===//
#include "lower/Intrinsics.h"
#include "calls/CallTable.h"
#include "lower/Arithmetic.h"
#include "lower/BpfModule.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "cosy-legalize"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(
    NumMemory, "Number of intrinsics that became operations on memory");

/// Copies up to this size are loads and stores in place.
static constexpr uint64_t MaxInlineBytes = 64;

/// Cuts [0, Size) into pieces of 8, 4, 2 and 1 bytes.
static SmallVector<std::pair<uint64_t, unsigned>, 16> pieces(uint64_t Size) {
  SmallVector<std::pair<uint64_t, unsigned>, 16> P;
  for (uint64_t Offset = 0; Offset < Size;) {
    unsigned Width = 8;
    while (Offset + Width > Size)
      Width /= 2;
    P.push_back({Offset, Width});
    Offset += Width;
  }
  return P;
}

/// Loads all before it stores any, so this is right for memmove too.
static void expandSmallCopy(IRBuilder<> &IB, MemTransferInst *Copy,
                            uint64_t Size) {
  auto Pieces = pieces(Size);
  SmallVector<Value *, 16> Values;
  for (auto [Offset, Width] : Pieces)
    Values.push_back(
        IB.CreateAlignedLoad(IB.getIntNTy(Width * 8),
                             IB.CreateConstInBoundsGEP1_64(
                                 IB.getInt8Ty(), Copy->getSource(), Offset),
                             Align(1), Copy->isVolatile()));
  for (unsigned I = 0; I < Pieces.size(); ++I)
    IB.CreateAlignedStore(Values[I],
                          IB.CreateConstInBoundsGEP1_64(
                              IB.getInt8Ty(), Copy->getDest(), Pieces[I].first),
                          Align(1), Copy->isVolatile());
}

static void expandSmallSet(IRBuilder<> &IB, MemSetInst *Set, uint64_t Size) {
  for (auto [Offset, Width] : pieces(Size)) {
    Type *Ty = IB.getIntNTy(Width * 8);
    Value *Byte = IB.CreateZExt(Set->getValue(), Ty);
    Value *Splat = IB.CreateMul(
        Byte, ConstantInt::get(Ty, APInt::getSplat(Width * 8, APInt(8, 1))));
    IB.CreateAlignedStore(
        Splat,
        IB.CreateConstInBoundsGEP1_64(IB.getInt8Ty(), Set->getDest(), Offset),
        Align(1), Set->isVolatile());
  }
}

void cosy::createMemoryOperation(BpfModule &B, MemIntrinsic *Mem) {
  ++NumMemory;
  IRBuilder<> IB(Mem);
  Value *Length = IB.CreateZExtOrTrunc(Mem->getLength(), IB.getInt64Ty());
  if (auto *Set = dyn_cast<MemSetInst>(Mem)) {
    Value *Byte = IB.CreateZExt(Set->getValue(), IB.getInt64Ty());
    B.createCall(IB, operationNumber("memset"), {Set->getDest(), Byte, Length},
                 IB.getVoidTy());
    return;
  }
  // llvm.memcpy may be given the same object twice, unlike C's memcpy; the
  // operation memcpy may be as well.
  auto *Copy = cast<MemTransferInst>(Mem);
  B.createCall(IB,
               operationNumber(isa<MemMoveInst>(Mem) ? "memmove" : "memcpy"),
               {Copy->getDest(), Copy->getSource(), Length}, IB.getVoidTy());
}

static void expandMemory(BpfModule &B, MemIntrinsic *Mem) {
  IRBuilder<> IB(Mem);
  auto *Known = dyn_cast<ConstantInt>(Mem->getLength());
  if (!Known || Known->getZExtValue() > MaxInlineBytes)
    createMemoryOperation(B, Mem);
  else if (auto *Set = dyn_cast<MemSetInst>(Mem))
    expandSmallSet(IB, Set, Known->getZExtValue());
  else
    expandSmallCopy(IB, cast<MemTransferInst>(Mem), Known->getZExtValue());
}

/// Counts trailing zeros by ctpop: the back end would use a table in .rodata.
static void expandTrailingZeros(CallInst *Call) {
  IRBuilder<> IB(Call);
  Value *X = Call->getArgOperand(0);
  Value *Low = IB.CreateAnd(X, IB.CreateNeg(X));
  Call->replaceAllUsesWith(IB.CreateUnaryIntrinsic(
      Intrinsic::ctpop, IB.CreateSub(Low, ConstantInt::get(X->getType(), 1))));
  Call->eraseFromParent();
}

/// Leaves up to 32 bits to the back end, which multiplies in twice the width.
static const char *legalizeMultiplyOverflow(CallInst *Call) {
  unsigned Bits = Call->getArgOperand(0)->getType()->getIntegerBitWidth();
  if (Bits > 64)
    return "an overflow check of a 128-bit multiplication";
  if (Bits <= 32)
    return nullptr;
  if (Bits != 64)
    return "an overflow check of an odd-sized multiplication";
  expandMultiplyOverflow(Call, Call->getIntrinsicID() ==
                                   Intrinsic::smul_with_overflow);
  return nullptr;
}

/// True for intrinsics that the back end, or assignStorage, expands.
static bool isLegal(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::bswap:
  case Intrinsic::bitreverse:
  case Intrinsic::abs:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::scmp:
  case Intrinsic::ucmp:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::uadd_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::sadd_sat:
  case Intrinsic::ssub_sat:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::is_constant:
  case Intrinsic::objectsize:
  case Intrinsic::ptrmask:
  // assignStorage puts the host's address in its place.
  case Intrinsic::threadlocal_address:
    return true;
  default:
    return false;
  }
}

/// True for intrinsics that only tell the optimizer something and whose result
/// nobody looks at.
static bool isHint(const CallInst *Call) {
  switch (Call->getIntrinsicID()) {
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::assume:
  case Intrinsic::prefetch:
  case Intrinsic::sideeffect:
  case Intrinsic::donothing:
  case Intrinsic::invariant_end:
  case Intrinsic::var_annotation:
  case Intrinsic::experimental_noalias_scope_decl:
    return true;
  case Intrinsic::invariant_start:
    return Call->use_empty();
  default:
    return false;
  }
}

/// Returns the C construct that makes an intrinsic which keeps a region native;
/// empty: only the intrinsic's own name describes it.
static const char *refusedName(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
    return "alloca() or a variable length array";
  case Intrinsic::vastart:
  case Intrinsic::vacopy:
  case Intrinsic::vaend:
    return "va_start, va_copy or va_end";
  case Intrinsic::returnaddress:
  case Intrinsic::frameaddress:
    return "the address of a stack frame";
  case Intrinsic::instrprof_increment:
  case Intrinsic::instrprof_increment_step:
  case Intrinsic::instrprof_value_profile:
    return "a profile counter";
  default:
    return "";
  }
}

const char *cosy::legalizeIntrinsic(BpfModule &B, CallInst *Call) {
  Intrinsic::ID ID = Call->getIntrinsicID();
  if (isLegal(ID) || isa<DbgInfoIntrinsic>(Call))
    return nullptr;
  if (isHint(Call)) {
    Call->eraseFromParent();
    return nullptr;
  }
  switch (ID) {
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove:
  case Intrinsic::memset:
  case Intrinsic::memset_inline:
    expandMemory(B, cast<MemIntrinsic>(Call));
    Call->eraseFromParent();
    return nullptr;
  case Intrinsic::cttz:
    expandTrailingZeros(Call);
    return nullptr;
  case Intrinsic::umul_with_overflow:
  case Intrinsic::smul_with_overflow:
    return legalizeMultiplyOverflow(Call);
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
  case Intrinsic::debugtrap: {
    IRBuilder<> IB(Call);
    B.createCall(IB, operationNumber("trap"), {}, IB.getVoidTy());
    Call->eraseFromParent();
    return nullptr;
  }
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptr_annotation:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
    Call->replaceAllUsesWith(Call->getArgOperand(0));
    Call->eraseFromParent();
    return nullptr;
  default:
    return refusedName(ID);
  }
}
