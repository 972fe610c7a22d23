// SPDX-License-Identifier: MIT
//===- LibcFunctions.cpp - Which functions are the C library's ------------===//
//
// A program may have functions of its own under the names of system calls, in
// files that are not seen here: bind() of an event library, read() of a mock. A
// function without a body is taken for the C library's if
//
//   - a header of the C library declares it: compiler/frontend marks these,
//   - its name is the implementation's (it begins with two underscores), or
//     libcosy's,
//   - clang itself takes it for the one of the C standard (strlen: the right
//     prototype, and no -fno-builtin), unless it makes system calls.
//
// The others are marked, and stay ordinary calls:
//
//   declare i32 @bind(i32, ptr, i32)  ->  declare i32 @bind(i32, ptr, i32)
//                                             "cosy-foreign"
//
//===----------------------------------------------------------------------===//
#include "calls/LibcFunctions.h"
#include "calls/CallTable.h"
#include "calls/RuntimeBodies.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Assumptions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/TargetParser/Triple.h"

#define DEBUG_TYPE "cosy-mark-foreign"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumForeign,
                         "Number of functions that may be the program's own");

/// Attribute of functions without a body that may be the program's own.
static constexpr char ForeignAttr[] = "cosy-foreign";

/// Takes the mark off an attribute's assumptions; false if it has no mark.
static bool withoutMark(Attribute A, std::string &Rest) {
  if (!A.isValid())
    return false;
  SmallVector<StringRef, 4> All;
  A.getValueAsString().split(All, ',');
  size_t Before = All.size();
  erase(All, COSY_LIBC_MARK);
  Rest = join(All, ",");
  return All.size() != Before;
}

static bool isMarked(const Function &F) {
  std::string Rest;
  if (withoutMark(F.getFnAttribute(AssumptionAttrKey), Rest))
    return true;
  // Where the program's own declaration came first, only calls have the mark.
  return any_of(F.users(), [&](const User *U) {
    const auto *C = dyn_cast<CallBase>(U);
    return C && C->getCalledOperand() == &F &&
           withoutMark(C->getAttributes().getFnAttr(AssumptionAttrKey), Rest);
  });
}

static bool makesCalls(StringRef Name) {
  const Wrapper *W = findWrapper(Name);
  return Name == "syscall" || (W ? W->MakesCalls : runtimeMakesCalls(Name));
}

namespace {
/// Knows which functions of a module clang takes for the standard's.
class Builtins {
  TargetLibraryInfoImpl Impl;
  StringSet<> Off; ///< -fno-builtin-NAME
  bool AllOff = false;

public:
  explicit Builtins(const Module &M) : Impl(Triple(M.getTargetTriple())) {
    for (const Function &F : M)
      for (Attribute A : F.getAttributes().getFnAttrs()) {
        if (!A.isStringAttribute())
          continue;
        StringRef Kind = A.getKindAsString();
        AllOff |= Kind == "no-builtins";
        if (Kind.consume_front("no-builtin-"))
          Off.insert(Kind);
      }
  }

  bool has(const Function &F) const {
    LibFunc Func;
    return !AllOff && !Off.contains(F.getName()) &&
           TargetLibraryInfo(Impl).getLibFunc(F, Func);
  }
};
} // namespace

static bool isLibc(const Function &F, const Builtins &Standard) {
  StringRef Name = F.getName();
  Name.consume_front("\1");
  if (F.hasExternalWeakLinkage()) // there may be none
    return false;
  if (Name.starts_with("__") || Name.starts_with("cosy_") || isMarked(F))
    return true;
  return !makesCalls(Name) && Standard.has(F);
}

void cosy::markForeign(Module &M) {
  Builtins Standard(M);
  for (Function &F : M)
    if (F.isDeclaration() && !F.isIntrinsic() && !isLibc(F, Standard)) {
      F.addFnAttr(ForeignAttr);
      ++NumForeign;
    }
}

bool cosy::isForeign(const Function &F) {
  return F.hasFnAttribute(ForeignAttr);
}

void cosy::dropLibcMarks(Module &M) {
  std::string Rest;
  for (Function &F : M) {
    F.removeFnAttr(ForeignAttr);
    if (withoutMark(F.getFnAttribute(AssumptionAttrKey), Rest)) {
      F.removeFnAttr(AssumptionAttrKey);
      if (!Rest.empty())
        F.addFnAttr(AssumptionAttrKey, Rest);
    }
    for (Instruction &I : instructions(F)) {
      auto *C = dyn_cast<CallBase>(&I);
      if (!C ||
          !withoutMark(C->getAttributes().getFnAttr(AssumptionAttrKey), Rest))
        continue;
      C->removeFnAttr(AssumptionAttrKey);
      if (!Rest.empty())
        C->addFnAttr(Attribute::get(M.getContext(), AssumptionAttrKey, Rest));
    }
  }
}

Function *cosy::calleeOf(const CallBase &C) {
  return dyn_cast<Function>(C.getCalledOperand()->stripPointerCasts());
}

StringRef cosy::libcName(const CallBase &C) {
  const Function *F = calleeOf(C);
  if (!F || !F->isDeclaration() || F->isIntrinsic() || isForeign(*F))
    return "";
  StringRef Name = F->getName();
  Name.consume_front("\1");
  return Name;
}
