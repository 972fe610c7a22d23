// SPDX-License-Identifier: MIT
//===- Fortify.cpp - The functions of _FORTIFY_SOURCE become plain ones ---===//
//
// A part of cosy-lower-calls.  Such a function is also given the object's size,
// which is compared here:
//
//   %n = call i64 @__read_chk(i32 %fd, ptr %p, i64 %count, i64 100)
//
// becomes
//
//   %over = icmp ugt i64 %count, 100       ; then trap
//   %n = call i64 @read(i32 %fd, ptr %p, i64 %count)
//
//===----------------------------------------------------------------------===//
#include "lower/Fortify.h"
#include "calls/CallTable.h"
#include "calls/LibcFunctions.h"
#include "lower/BpfModule.h"
#include "lower/Operations.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <fcntl.h>

#define DEBUG_TYPE "cosy-fortify"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumPlain,
                         "Number of checked functions that became plain ones");

namespace {
/// A function of _FORTIFY_SOURCE: the plain one with the size of the object
/// that is written, which must not be smaller than the count.
struct Checked {
  const char *Name, *Plain;
  int SizeArg;  ///< Index of the object's size.
  int CountArg; ///< Index of the count; -1: the length of the string SourceArg.
  int SourceArg;
  unsigned Unit; ///< Bytes per count.
};
} // namespace

static const Checked CheckedFunctions[] = {
    {"__read_chk", "read", 3, 2, -1, 1},
    {"__pread_chk", "pread", 4, 2, -1, 1},
    {"__pread64_chk", "pread64", 4, 2, -1, 1},
    {"__recv_chk", "recv", 3, 2, -1, 1},
    {"__recvfrom_chk", "recvfrom", 3, 2, -1, 1},
    {"__readlink_chk", "readlink", 3, 2, -1, 1},
    {"__readlinkat_chk", "readlinkat", 4, 3, -1, 1},
    {"__getgroups_chk", "getgroups", 2, 0, -1, 4},
    {"__poll_chk", "poll", 3, 1, -1, 8},
    {"__memcpy_chk", "memcpy", 3, 2, -1, 1},
    {"__memmove_chk", "memmove", 3, 2, -1, 1},
    {"__mempcpy_chk", "mempcpy", 3, 2, -1, 1},
    {"__memset_chk", "memset", 3, 2, -1, 1},
    {"__strncpy_chk", "strncpy", 3, 2, -1, 1},
    {"__stpncpy_chk", "stpncpy", 3, 2, -1, 1},
    {"__strcpy_chk", "strcpy", 2, -1, 1, 1},
    {"__stpcpy_chk", "stpcpy", 2, -1, 1, 1},
};

void cosy::failCheckIf(BpfModule &B, Value *Condition, CallBase *C) {
  Instruction *Fail = SplitBlockAndInsertIfThen(
      Condition, C->getIterator(), /*Unreachable=*/true,
      MDBuilder(C->getContext()).createUnlikelyBranchWeights());
  IRBuilder<> FB(Fail);
  FB.SetCurrentDebugLocation(C->getDebugLoc());
  auto Abort = B.M->getOrInsertFunction(
      "__chk_fail", FunctionType::get(FB.getVoidTy(), false));
  auto *AbortFn = cast<Function>(Abort.getCallee());
  AbortFn->setDoesNotReturn();
  AbortFn->setDoesNotThrow();
  FB.CreateCall(Abort);
}

/// Makes a checked call the check itself and then a plain call.
static CallBase *expandChecked(BpfModule &B, CallBase *C) {
  StringRef Name = libcName(*C);
  const Checked *Found = find_if(
      CheckedFunctions, [&](const Checked &F) { return Name == F.Name; });
  if (Found == std::end(CheckedFunctions) ||
      int(C->arg_size()) <= Found->SizeArg)
    return nullptr;
  IRBuilder<> IB(C);
  Type *I64 = IB.getInt64Ty();
  Value *Size = C->getArgOperand(Found->SizeArg);
  auto *Known = dyn_cast<ConstantInt>(Size);
  if (!Known || !Known->isMinusOne()) {
    Value *Bytes;
    if (Found->CountArg >= 0) {
      Bytes = IB.CreateZExtOrTrunc(C->getArgOperand(Found->CountArg), I64);
    } else {
      const Wrapper *Length = findWrapper("strlen");
      CallInst *Call = B.createCall(IB, Length->Number,
                                    {C->getArgOperand(Found->SourceArg)});
      describeOperation(Call, Length->Args, false);
      Bytes = IB.CreateAdd(Call, IB.getInt64(1));
    }
    Value *Room = IB.CreateUDiv(Size, IB.getInt64(Found->Unit));
    failCheckIf(B, IB.CreateICmpUGT(Bytes, Room), C);
    IB.SetInsertPoint(C);
  }
  SmallVector<Value *, 6> Args;
  SmallVector<Type *, 6> Types;
  for (unsigned I = 0; I < C->arg_size(); ++I) {
    if (int(I) == Found->SizeArg)
      continue;
    Args.push_back(C->getArgOperand(I));
    Types.push_back(Args.back()->getType());
  }
  auto *Ty = FunctionType::get(C->getType(), Types, false);
  CallInst *Plain =
      IB.CreateCall(B.M->getOrInsertFunction(Found->Plain, Ty), Args);
  C->replaceAllUsesWith(Plain);
  C->eraseFromParent();
  return Plain;
}

/// Makes _FORTIFY_SOURCE's open without a mode a plain one.
static CallBase *expandOpenTwo(BpfModule &B, CallBase *C) {
  StringRef Name = libcName(*C);
  bool At = Name.starts_with("__openat");
  if (Name != "__open_2" && Name != "__open64_2" && Name != "__openat_2" &&
      Name != "__openat64_2")
    return nullptr;
  // With O_CREAT or O_TMPFILE a mode is missing, and libc would abort.
  auto *Flags = dyn_cast<ConstantInt>(C->getArgOperand(At ? 2 : 1));
  if (!Flags || (Flags->getZExtValue() & (O_CREAT | 020000000)))
    return nullptr;
  IRBuilder<> IB(C);
  SmallVector<Value *, 4> Args(C->args());
  Args.push_back(IB.getInt32(0));
  SmallVector<Type *, 4> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  CallInst *Plain = IB.CreateCall(
      B.M->getOrInsertFunction(At ? "openat" : "open",
                               FunctionType::get(C->getType(), Types, false)),
      Args);
  C->replaceAllUsesWith(Plain);
  C->eraseFromParent();
  return Plain;
}

CallBase *cosy::expandFortified(BpfModule &B, CallBase *C) {
  CallBase *Plain = expandChecked(B, C);
  if (!Plain)
    Plain = expandOpenTwo(B, C);
  NumPlain += Plain != nullptr;
  return Plain ? Plain : C;
}
