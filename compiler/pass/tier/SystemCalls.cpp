// SPDX-License-Identifier: MIT
//===- SystemCalls.cpp - Which code makes system calls --------------------===//
#include "tier/SystemCalls.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "calls/RuntimeBodies.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include <algorithm>
#include <utility>

#define DEBUG_TYPE "cosy-system-calls"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumSearched,
                         "Number of functions searched for system calls");

bool cosy::isComputed(StringRef Name) {
  if (const Wrapper *W = findWrapper(Name))
    return !W->MakesCalls;
  return Name == "__errno_location" || isLocator(Name) ||
         (isInRuntime(Name) && !runtimeMakesCalls(Name));
}

Makes SystemCalls::in(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(I) || Call->isInlineAsm())
    return Makes::Never;
  const Function *F = Call->getCalledFunction();
  if (!F)
    return Makes::Always;
  if (!F->isDeclaration())
    return in(*F);
  return isComputed(F->getName()) || isFormat(*Call) ? Makes::Never
                                                     : Makes::Always;
}

Makes SystemCalls::in(const BasicBlock &BB) {
  auto It = Blocks.find(&BB);
  if (It != Blocks.end())
    return It->second;
  return Blocks[&BB] = search(BB);
}

Makes SystemCalls::search(const BasicBlock &BB) {
  Makes Ret = Makes::Never;
  for (const Instruction &I : BB)
    Ret = std::max(Ret, in(I));
  return Ret;
}

Makes SystemCalls::in(const Function &F) {
  auto [It, New] = Functions.insert({&F, Makes::Sometimes});
  if (!New) {
    Recursive |= Active.contains(&F);
    return It->second;
  }
  Active.insert(&F);
  Makes Ret = search(F);
  Active.erase(&F);
  // What was found within a recursion holds for the function only with which
  // the search began.
  if (Active.empty() && std::exchange(Recursive, false))
    Functions.clear();
  return Functions[&F] = Ret;
}

Makes SystemCalls::search(const Function &F) {
  ++NumSearched;
  if (none_of(F,
              [&](const BasicBlock &BB) { return search(BB) != Makes::Never; }))
    return Makes::Never;
  return returnsWithoutCall(F) ? Makes::Sometimes : Makes::Always;
}

bool SystemCalls::returnsWithoutCall(const Function &F) {
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Work{&F.getEntryBlock()};
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (!Seen.insert(BB).second || search(*BB) == Makes::Always)
      continue;
    if (isa<ReturnInst>(BB->getTerminator()))
      return true;
    append_range(Work, successors(BB));
  }
  return false;
}
