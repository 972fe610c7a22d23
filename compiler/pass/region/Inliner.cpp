// SPDX-License-Identifier: MIT
//===- Inliner.cpp - Which calls may be inlined before clang does ---------===//
//
// Three stages inline calls into code that also runs natively, each with its
// own reason: Natives.cpp, tier/Loops.cpp and Written.cpp.  What all of them
// must leave alone is decided here.
//
//===----------------------------------------------------------------------===//
#include "region/Inliner.h"
#include "calls/Callees.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace cosy;

bool cosy::isInstrumented(const Function &F) {
  return any_of(ArrayRef<StringRef>{"instrument-function-entry",
                                    "instrument-function-entry-inlined",
                                    "instrument-function-exit",
                                    "instrument-function-exit-inlined"},
                [&](StringRef Name) { return F.hasFnAttribute(Name); });
}

/// Without optimization every function is to be kept out of others, so a
/// function that the source keeps apart cannot be told from the rest.
static bool isKeptApart(const Function &F, const Function &Callee) {
  return Callee.hasOptNone() ? !F.hasOptNone()
                             : Callee.hasFnAttribute(Attribute::NoInline);
}

/// True if both functions are compiled for the same processor: code of one may
/// be put into the other, and values are passed in the same way.
static bool haveSameTarget(const Function &A, const Function &B) {
  return all_of(ArrayRef<StringRef>{"target-cpu", "target-features"},
                [&](StringRef Name) {
                  return A.getFnAttribute(Name) == B.getFnAttribute(Name);
                });
}

bool cosy::isInlinable(const Function &Callee) {
  return !Callee.isDeclaration() && !Callee.isPresplitCoroutine() &&
         !isInstrumented(Callee) && !Callee.hasFnAttribute(Attribute::Naked) &&
         isInlineViable(const_cast<Function &>(Callee)).isSuccess();
}

bool cosy::canInline(const Function &F, const CallBase &Call) {
  Function *Callee = Call.getCalledFunction();
  return Callee && Callee != &F && isInlinable(*Callee) &&
         !Callee->isInterposable() && !isKeptApart(F, *Callee) &&
         !Call.getAttributes().hasFnAttr(Attribute::NoInline) &&
         !recurses(*Callee) && haveSameTarget(F, *Callee) &&
         AttributeFuncs::areInlineCompatible(F, *Callee);
}

unsigned cosy::inlineCalls(ArrayRef<CallBase *> Calls,
                           function_ref<bool(CallBase &)> Wanted) {
  unsigned Inlined = 0;
  SmallVector<CallBase *, 16> Work(reverse(Calls));
  while (!Work.empty()) {
    CallBase *Call = Work.pop_back_val();
    if (!Wanted(*Call))
      continue;
    InlineFunctionInfo Info;
    if (!InlineFunction(*Call, Info, /*MergeAttributes=*/true).isSuccess())
      continue;
    ++Inlined;
    append_range(Work, reverse(Info.InlinedCallSites));
  }
  return Inlined;
}
