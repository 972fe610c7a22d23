// SPDX-License-Identifier: MIT
//===- VariadicCalls.cpp - Calls of functions that format -----------------===//
//
// A program's own log function is variadic and passes its arguments to
// vsnprintf.  A compound has no va_list.  So each call of such a function gets
// a copy of it, with as many arguments as the call has, that calls snprintf:
//
//   call void (ptr, ..) @note(ptr @.str, ptr %path, i32 %n)
//
//   define internal void @note(ptr %format, ...)
//     call void @llvm.va_start(ptr %list)
//     call i32 @vsnprintf(ptr %line, i64 80, ptr %format, ptr %list)
//     call void @llvm.va_end(ptr %list)
//
// becomes
//
//   call void @note.given(ptr @.str, ptr %path, i32 %n)
//
//   define internal void @note.given(ptr, ptr %path, i32 %n)
//     call i32 (..) @snprintf(ptr %line, i64 80, ptr @.str, ptr %path, i32 %n)
//
// Calls whose format no operation can do keep the function itself.
//
//===----------------------------------------------------------------------===//
#include "region/VariadicCalls.h"
#include "calls/FormatCalls.h"
#include "calls/LibcFunctions.h"
#include "region/Inliner.h"
#include "region/Markers.h"
#include "region/Normalize.h"
#include "region/Region.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <optional>

#define DEBUG_TYPE "cosy-variadic-calls"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumFixed,
                         "Number of calls with a callee of fixed arguments");

/// Calls of one function's regions that get a copy, and instructions of one.
static constexpr unsigned MaxCopies = 32, MaxCopied = 200;

namespace {
/// A function of libc's that formats arguments of a list, and the one that
/// takes the arguments themselves.
struct ListFormatter {
  StringRef Name, Direct;
  unsigned List; ///< Index of the list; the arguments come in its place.
};

/// What a variadic function does with its arguments.
struct ArgumentUses {
  SmallVector<std::pair<CallInst *, const ListFormatter *>, 2> Formats;
  SmallVector<Instruction *, 4> Marks; ///< va_start and va_end.
};
} // namespace

static const ListFormatter Formatters[] = {
    {"vsnprintf", "snprintf", 3},
    {"vsprintf", "sprintf", 2},
    {"__vsnprintf_chk", "__snprintf_chk", 5},
    {"__vsprintf_chk", "__sprintf_chk", 4},
};

static const ListFormatter *findFormatter(const CallInst &C) {
  for (const ListFormatter &F : Formatters)
    if (libcName(C) == F.Name && C.arg_size() == F.List + 1)
      return &F;
  return nullptr;
}

/// Adds the uses of a list; false if there is one that is not known.
static bool addUses(Value &List, ArgumentUses &Uses) {
  for (Use &U : List.uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (isa<VAStartInst, VAEndInst>(I)) {
      Uses.Marks.push_back(I);
    } else if (auto *Place = dyn_cast<GetElementPtrInst>(I)) {
      if (!Place->hasAllZeroIndices() || !addUses(*Place, Uses))
        return false;
    } else if (auto *C = dyn_cast<CallInst>(I)) {
      const ListFormatter *F = findFormatter(*C);
      if (F && C->isArgOperand(&U) && C->getArgOperandNo(&U) == F->List)
        Uses.Formats.push_back({C, F});
      else if (!C->isLifetimeStartOrEnd())
        return false;
    } else {
      return false;
    }
  }
  return true;
}

static const Value *listOf(const Instruction &I) {
  if (const auto *Start = dyn_cast<VAStartInst>(&I))
    return getUnderlyingObject(Start->getArgList());
  if (const auto *End = dyn_cast<VAEndInst>(&I))
    return getUnderlyingObject(End->getArgList());
  const auto *C = dyn_cast<CallInst>(&I);
  const ListFormatter *F = C ? findFormatter(*C) : nullptr;
  return F ? getUnderlyingObject(C->getArgOperand(F->List)) : nullptr;
}

/// True if each list is formatted once after its va_start, in the same block.
static bool areFormattedOnce(const Function &F) {
  for (const BasicBlock &BB : F) {
    SmallPtrSet<const Value *, 2> Started;
    for (const Instruction &I : BB) {
      const Value *List = listOf(I);
      if (isa<VAStartInst>(I))
        Started.insert(List);
      else if (List && !Started.erase(List) && !isa<VAEndInst>(I))
        return false;
    }
  }
  return true;
}

/// Inlines what clang inlines anyway and takes a list: _FORTIFY_SOURCE makes
/// vsnprintf such a function.
static void inlineListWrappers(Function &F) {
  SmallPtrSet<const Value *, 2> Lists;
  SmallVector<CallBase *, 4> Calls;
  for (Instruction &I : instructions(F))
    if (isa<VAStartInst>(I))
      Lists.insert(listOf(I));
  for (Instruction &I : instructions(F)) {
    auto *C = dyn_cast<CallInst>(&I);
    const Function *Callee = C ? C->getCalledFunction() : nullptr;
    if (Callee && Callee->hasFnAttribute(Attribute::AlwaysInline) &&
        isInlinable(*Callee) && any_of(C->args(), [&](const Value *Arg) {
          return Lists.contains(getUnderlyingObject(Arg));
        }))
      Calls.push_back(C);
  }
  if (inlineCalls(Calls, [&](CallBase &C) { return is_contained(Calls, &C); }))
    promoteLocals(F);
}

/// Returns what F does with its arguments, if it only formats them.
static std::optional<ArgumentUses> findUses(Function &F) {
  ArgumentUses Ret;
  SmallSetVector<AllocaInst *, 2> Lists;
  for (Instruction &I : instructions(F)) {
    if (auto *C = dyn_cast<CallInst>(&I); C && C->isMustTailCall())
      return std::nullopt;
    if (!isa<VAStartInst>(I))
      continue;
    auto *List = dyn_cast<AllocaInst>(const_cast<Value *>(listOf(I)));
    if (!List)
      return std::nullopt;
    Lists.insert(List);
  }
  if (!all_of(Lists, [&](AllocaInst *List) { return addUses(*List, Ret); }) ||
      Ret.Formats.empty() || !areFormattedOnce(F))
    return std::nullopt;
  return Ret;
}

static bool canCopy(const Function &F) {
  return !F.isDeclaration() && F.isVarArg() && !F.isInterposable() &&
         !isInstrumented(F) && !F.callsFunctionThatReturnsTwice() &&
         !F.hasFnAttribute(Attribute::Naked) && !hasMarkers(F) &&
         F.getInstructionCount() <= MaxCopied &&
         none_of(F, [](const BasicBlock &BB) { return BB.hasAddressTaken(); });
}

/// Puts a call of the function that takes the arguments in place of a copied
/// call.  Returns null if there is no such function of libc's.
static CallInst *formatDirectly(CallInst &C, const ListFormatter &Of,
                                Function &Copy, unsigned Fixed) {
  SmallVector<Type *, 8> Types;
  SmallVector<Value *, 8> Args(C.arg_begin(), C.arg_begin() + Of.List);
  for (Value *V : Args)
    Types.push_back(V->getType());
  auto *Ty = FunctionType::get(C.getType(), Types, /*isVarArg=*/true);
  Module &M = *Copy.getParent();
  if (GlobalValue *Known = M.getNamedValue(Of.Direct)) {
    const auto *F = dyn_cast<Function>(Known);
    if (!F || !F->isDeclaration() || isForeign(*F) ||
        F->getFunctionType() != Ty)
      return nullptr;
  }
  for (Argument &A : drop_begin(Copy.args(), Fixed))
    Args.push_back(&A);
  auto *New = CallInst::Create(M.getOrInsertFunction(Of.Direct, Ty), Args, "",
                               C.getIterator());
  New->setDebugLoc(C.getDebugLoc());
  if (C.doesNotThrow())
    New->setDoesNotThrow();
  C.replaceAllUsesWith(New);
  C.eraseFromParent();
  return New;
}

/// Makes the copy of F for a call, or returns null.
static Function *copyFor(const CallInst &C, Function &F,
                         const ArgumentUses &Uses) {
  FunctionType *Old = F.getFunctionType();
  unsigned Fixed = Old->getNumParams();
  SmallVector<Type *, 8> Types(Old->params());
  for (unsigned I = Fixed; I < C.arg_size(); ++I)
    Types.push_back(C.getArgOperand(I)->getType());
  Function *Copy = Function::Create(
      FunctionType::get(Old->getReturnType(), Types, false),
      GlobalValue::InternalLinkage, F.getName() + ".given", F.getParent());
  ValueToValueMapTy Map;
  for (Argument &A : F.args()) {
    Map[&A] = Copy->getArg(A.getArgNo());
    Copy->getArg(A.getArgNo())->setName(A.getName());
  }
  SmallVector<ReturnInst *, 4> Returns;
  CloneFunctionInto(Copy, &F, Map, CloneFunctionChangeType::LocalChangesOnly,
                    Returns);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  Copy->setComdat(nullptr);
  for (unsigned I = 0; I < Fixed; ++I)
    if (auto *Known = dyn_cast<Constant>(C.getArgOperand(I)))
      Copy->getArg(I)->replaceAllUsesWith(Known);
  promoteLocals(*Copy);
  bool Can = true;
  SmallVector<CallInst *, 2> Formats;
  for (auto [Call, Of] : Uses.Formats) {
    Formats.push_back(
        formatDirectly(*cast<CallInst>(Map[Call]), *Of, *Copy, Fixed));
    Can &= Formats.back() && isFormat(*Formats.back());
  }
  if (!Can) {
    Copy->eraseFromParent();
    return nullptr;
  }
  for (Instruction *Mark : Uses.Marks)
    cast<Instruction>(Map[Mark])->eraseFromParent();
  return Copy;
}

/// Fixes a call, if its callee only formats its arguments.
static bool fixCall(CallInst &C) {
  Function *F = C.getCalledFunction();
  if (!F || !canCopy(*F) || C.isMustTailCall() ||
      C.getFunctionType() != F->getFunctionType())
    return false;
  for (unsigned I = F->arg_size(); I < C.arg_size(); ++I)
    if (C.isByValArgument(I))
      return false;
  inlineListWrappers(*F);
  std::optional<ArgumentUses> Uses = findUses(*F);
  Function *Copy = Uses ? copyFor(C, *F, *Uses) : nullptr;
  if (!Copy)
    return false;
  SmallVector<Value *, 8> Args(C.args());
  auto *New = CallInst::Create(Copy, Args, "", C.getIterator());
  New->takeName(&C);
  New->setCallingConv(C.getCallingConv());
  New->setAttributes(C.getAttributes());
  New->setTailCallKind(C.getTailCallKind());
  New->copyMetadata(C);
  C.replaceAllUsesWith(New);
  C.eraseFromParent();
  ++NumFixed;
  return true;
}

void cosy::fixVariadicCalls(Function &F) {
  SmallSetVector<CallInst *, 16> Calls;
  anyRegion(F, [&](const Region &R) {
    for (BasicBlock *BB : R.Blocks)
      for (Instruction &I : *BB)
        if (auto *C = dyn_cast<CallInst>(&I))
          Calls.insert(C);
    return false;
  });
  SmallPtrSet<Function *, 16> Seen;
  SmallVector<CallInst *, 8> Variadic;
  for (unsigned I = 0; I < Calls.size(); ++I) {
    Function *Callee = Calls[I]->getCalledFunction();
    if (!Callee || Callee->isDeclaration())
      continue;
    if (Callee->isVarArg())
      Variadic.push_back(Calls[I]);
    else if (Seen.insert(Callee).second && !Callee->isInterposable())
      for (Instruction &At : instructions(*Callee))
        if (auto *C = dyn_cast<CallInst>(&At))
          Calls.insert(C);
  }
  unsigned Copies = 0;
  for (CallInst *C : Variadic)
    if (Copies < MaxCopies)
      Copies += fixCall(*C);
}
