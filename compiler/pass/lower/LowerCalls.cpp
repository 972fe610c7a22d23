// SPDX-License-Identifier: MIT
//===- LowerCalls.cpp - libc functions become calls by number -------------===//
//
// core/ops.def says which libc function means which call.  libc also sets errno
// and returns -1: that becomes code here:
//
//   %n = call i64 @read(i32 %fd, ptr %p, i64 8)
//
// becomes
//
//   %r = call i64 @__cosy_call.0.lpl(i64 %fd64, ptr %p, i64 8)
//   %cosy.failed = icmp ugt i64 %r, -4096  ; then store -%r where errno is
//   %n = phi i64 [ %r, .. ], [ -1, .. ]
//
// A function on strings or memory that LLVM knows stays a call until the region
// is optimised (lowerStrings), so that LLVM can expand short and constant ones
// here as well.
//
//===----------------------------------------------------------------------===//
#include "lower/LowerCalls.h"
#include "base/Options.h"
#include "calls/CallTable.h"
#include "calls/LibcFunctions.h"
#include "calls/RuntimeBodies.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "lower/Formats.h"
#include "lower/Fortify.h"
#include "lower/Operations.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <fcntl.h>
#include <sys/syscall.h>

#define DEBUG_TYPE "cosy-lower-calls"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumSystemCalls,
                         "Number of libc calls that became system calls");
ALWAYS_ENABLED_STATISTIC(NumOperations,
                         "Number of libc calls that became operations");
ALWAYS_ENABLED_STATISTIC(NumCompares,
                         "Number of memcmp calls that became loads");

/// Functions that are operations, and that LLVM simplifies.
static constexpr std::pair<const char *, LibFunc> StringFunctions[] = {
    {"memcpy", LibFunc_memcpy},   {"memmove", LibFunc_memmove},
    {"memset", LibFunc_memset},   {"memcmp", LibFunc_memcmp},
    {"bcmp", LibFunc_bcmp},       {"memchr", LibFunc_memchr},
    {"memrchr", LibFunc_memrchr}, {"strlen", LibFunc_strlen},
    {"strnlen", LibFunc_strnlen}, {"strcmp", LibFunc_strcmp},
    {"strncmp", LibFunc_strncmp}, {"strchr", LibFunc_strchr},
    {"strrchr", LibFunc_strrchr}, {"strcpy", LibFunc_strcpy},
    {"stpcpy", LibFunc_stpcpy},   {"strncpy", LibFunc_strncpy},
};

static bool isStringFunction(StringRef Name) {
  return any_of(StringFunctions,
                [&](const auto &F) { return F.first == Name; });
}

void cosy::allowStringFunctions(const Module &M,
                                TargetLibraryInfoImpl &Library) {
  for (auto [Name, Func] : StringFunctions) {
    const Function *F = M.getFunction(Name);
    // The program's own function of that name may do anything.
    if (!F || (F->isDeclaration() && !isForeign(*F)))
      Library.setAvailable(Func);
  }
}

/// Converts an argument to what ops.def's letter wants; null: it cannot be
/// that.
static Value *convertArgument(IRBuilder<> &B, Value *V, char Letter) {
  Type *I64 = B.getInt64Ty();
  if (isPointerLetter(Letter)) {
    if (V->getType()->isPointerTy())
      return V;
    if (!V->getType()->isIntegerTy())
      return nullptr;
    return B.CreateIntToPtr(B.CreateSExtOrTrunc(V, I64), B.getPtrTy());
  }
  if (V->getType()->isPointerTy())
    return B.CreatePtrToInt(V, I64);
  if (!V->getType()->isIntegerTy())
    return nullptr;
  if (Letter == 'i')
    V = B.CreateSExtOrTrunc(V, B.getInt32Ty());
  return Letter == 'u' ? B.CreateZExtOrTrunc(V, I64)
                       : B.CreateSExtOrTrunc(V, I64);
}

/// Converts a libc call's arguments to those of the call that it means; false
/// when they do not look like those of that libc function.
static bool convertArguments(IRBuilder<> &B, CallBase &C, const char *Letters,
                             unsigned First, SmallVectorImpl<Value *> &Args) {
  unsigned Next = First;
  for (const char *L = Letters; *L; ++L) {
    Value *V = nullptr;
    if (*L != '0' && Next < C.arg_size())
      V = convertArgument(B, C.getArgOperand(Next++), *L);
    else if (*L == '0' || C.getFunctionType()->isVarArg())
      V = isPointerLetter(*L)
              ? cast<Value>(ConstantPointerNull::get(B.getPtrTy()))
              : B.getInt64(0);
    if (!V)
      return false;
    Args.push_back(V);
  }
  return Next == C.arg_size() || C.getFunctionType()->isVarArg();
}

static void replaceCall(CallBase *C, Value *Result) {
  Type *Ty = C->getType();
  if (!Ty->isVoidTy()) {
    IRBuilder<> B(C);
    if (Ty->isPointerTy() && Result->getType()->isIntegerTy())
      Result = B.CreateIntToPtr(Result, Ty);
    else if (Ty->isIntegerTy() && Result->getType()->isIntegerTy())
      Result = B.CreateZExtOrTrunc(Result, Ty);
    C->replaceAllUsesWith(Result);
  }
  C->eraseFromParent();
}

/// Lowers to a system call, or to an operation that stands for some and fails
/// as they do.
static bool lowerSystemCall(BpfModule &B, CallBase *C, uint32_t Number,
                            const char *Letters, unsigned First) {
  IRBuilder<> IB(C);
  Type *Ty = C->getType();
  SmallVector<Value *, 6> Args;
  if (!(Ty->isVoidTy() || Ty->isPointerTy() || Ty->isIntegerTy()) ||
      !convertArguments(IB, *C, Letters, First, Args) || Args.size() > 6)
    return false;
  ++NumSystemCalls;
  Value *Result = Args.size() == 6 ? createSixCall(IB, Number, Args)
                                   : B.createCall(IB, Number, Args);
  if (!neverFails(Number))
    Result = createErrnoTest(B, C, Result);
  replaceCall(C, Result);
  return true;
}

/// Comparisons for equality up to this many bytes are loads in place.
static constexpr uint64_t MaxInlineCompare = 16;

/// Makes a memcmp of few bytes loads, where only equality matters.
static bool expandSmallCompare(CallBase *C, const Wrapper &W) {
  if (W.Number != operationNumber("memcmp") || C->arg_size() != 3)
    return false;
  auto *Size = dyn_cast<ConstantInt>(C->getArgOperand(2));
  if (!Size || Size->getZExtValue() > MaxInlineCompare ||
      !all_of(C->users(), [](User *U) {
        auto *Test = dyn_cast<ICmpInst>(U);
        return Test && Test->isEquality() &&
               match(Test->getOperand(1), m_Zero());
      }))
    return false;
  ++NumCompares;
  IRBuilder<> IB(C);
  Value *Differ = IB.getInt64(0);
  uint64_t Bytes = Size->getZExtValue();
  for (uint64_t Offset = 0; Offset < Bytes;) {
    unsigned Width = llvm::bit_floor(std::min<uint64_t>(Bytes - Offset, 8));
    auto Load = [&](unsigned Arg) {
      return IB.CreateAlignedLoad(
          IB.getIntNTy(Width * 8),
          IB.CreateConstInBoundsGEP1_64(IB.getInt8Ty(), C->getArgOperand(Arg),
                                        Offset),
          Align(1));
    };
    Value *Xor = IB.CreateXor(Load(0), Load(1));
    Differ = IB.CreateOr(Differ, IB.CreateZExt(Xor, IB.getInt64Ty()));
    Offset += Width;
  }
  C->replaceAllUsesWith(
      IB.CreateZExt(IB.CreateIsNotNull(Differ), C->getType()));
  C->eraseFromParent();
  return true;
}

static bool lowerOperation(BpfModule &B, CallBase *C, const Wrapper &W) {
  if (expandSmallCompare(C, W))
    return true;
  IRBuilder<> IB(C);
  SmallVector<Value *, 5> Args;
  if (!convertArguments(IB, *C, W.Args, 0, Args))
    return false;
  CallInst *Call =
      B.createCall(IB, W.Number, Args, W.NoResult ? IB.getVoidTy() : nullptr);
  ++NumOperations;
  describeOperation(Call, W.Args, C->getType()->isPointerTy() && !W.NoResult);
  // memcpy and its like return their first argument.
  replaceCall(C, W.NoResult ? C->getArgOperand(0) : cast<Value>(Call));
  return true;
}

static bool lowerSyscallFunction(BpfModule &B, CallBase *C) {
  auto *Number = dyn_cast<ConstantInt>(C->getArgOperand(0));
  if (!Number || Number->getValue().getActiveBits() > 32 ||
      deniedCall(Number->getZExtValue()))
    return false;
  std::string Letters;
  for (unsigned I = 1; I < C->arg_size(); ++I)
    Letters += C->getArgOperand(I)->getType()->isPointerTy() ? 'P' : 'l';
  return lowerSystemCall(B, C, Number->getZExtValue(), Letters.c_str(), 1);
}

/// Lowers a function that returns an address which is constant for a thread.
static bool lowerLocator(BpfModule &B, Compound &Comp, CallBase *C,
                         StringRef Name) {
  unsigned Offset;
  if (Name == "__errno_location") {
    Offset = ErrnoOffset;
  } else if (isLocator(Name)) {
    auto It =
        find_if(Comp.Locators, [&](const auto &L) { return L.first == Name; });
    if (It == Comp.Locators.end()) {
      Comp.Locators.push_back({Name.str(), B.allocateField(8)});
      It = std::prev(Comp.Locators.end());
    }
    Offset = It->second;
  } else {
    return false;
  }
  IRBuilder<> IB(C);
  C->replaceAllUsesWith(B.loadField(IB, IB.getPtrTy(), Offset));
  C->eraseFromParent();
  return true;
}

/// False for fcntl(F_GETOWN), for which libc makes another call, to tell a
/// process group from an error.
static bool isPlainFcntl(const CallBase &C) {
  auto *Command =
      C.arg_size() > 1 ? dyn_cast<ConstantInt>(C.getArgOperand(1)) : nullptr;
  return Command && Command->getZExtValue() != F_GETOWN;
}

/// Returns the plain call in a view's place, for code whose loads and stores
/// chooseViews will not see.
static uint32_t plainCall(uint32_t Number) {
  if (Number == operationNumber("view_read"))
    return SYS_read;
  return Number == operationNumber("view_pread") ? SYS_pread64 : Number;
}

/// True if C has become a system call.
static bool lowerToSystemCall(BpfModule &B, CallBase *C, StringRef Name) {
  if (Name == "syscall" && C->arg_size() > 0)
    return lowerSyscallFunction(B, C);
  const Wrapper *W = findWrapper(Name);
  if (!W || !W->MakesCalls ||
      ((Name == "fcntl" || Name == "fcntl64") && !isPlainFcntl(*C)))
    return false;
  return lowerSystemCall(
      B, C, options().Fast ? W->Number : plainCall(W->Number), W->Args, 0);
}

static void lowerCall(BpfModule &B, Compound &Comp, CallBase *C) {
  if (lowerFormat(B, C))
    return;
  const Function *Callee = calleeOf(*C);
  bool IsUsers = !isOfRuntime(*C->getFunction());
  C = expandFortified(B, C);
  StringRef Name = libcName(*C);
  if (Name.empty() || lowerLocator(B, Comp, C, Name))
    return;
  const Wrapper *W = findWrapper(Name);
  if (W && !W->MakesCalls) {
    if (!isStringFunction(Name))
      lowerOperation(B, C, *W);
  } else if (lowerToSystemCall(B, C, Name) && IsUsers) {
    noteReplaced(B, Comp, *Callee);
  }
}

static SmallVector<CallBase *, 32> libcCalls(Module &M) {
  SmallVector<CallBase *, 32> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *C = dyn_cast<CallBase>(&I); C && !libcName(*C).empty())
        Calls.push_back(C);
  return Calls;
}

void cosy::lowerCalls(BpfModule &B, Compound &Comp) {
  for (CallBase *C : libcCalls(*B.M))
    lowerCall(B, Comp, C);
}

void cosy::lowerStrings(BpfModule &B) {
  for (CallBase *C : libcCalls(*B.M))
    if (StringRef Name = libcName(*C); isStringFunction(Name))
      lowerOperation(B, C, *findWrapper(Name));
}
