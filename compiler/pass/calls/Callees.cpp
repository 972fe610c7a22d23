// SPDX-License-Identifier: MIT
//===- Callees.cpp - Which functions a function calls ---------------------===//
#include "calls/Callees.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace cosy;

SmallSetVector<Function *, 8> cosy::calleesOf(Function &F) {
  SmallSetVector<Function *, 8> Ret;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Function *Callee = Call->getCalledFunction())
        Ret.insert(Callee);
  return Ret;
}

SmallVector<CallBase *, 8> cosy::callsOf(Function &F) {
  SmallVector<CallBase *, 8> Ret;
  for (Use &U : F.uses())
    if (auto *Call = dyn_cast<CallBase>(U.getUser());
        Call && Call->isCallee(&U))
      Ret.push_back(Call);
  return Ret;
}

bool cosy::recurses(Function &F) {
  SmallSetVector<Function *, 8> Called = calleesOf(F);
  for (unsigned I = 0; I < Called.size() && !Called.contains(&F); ++I)
    for (Function *Callee : calleesOf(*Called[I]))
      Called.insert(Callee);
  return Called.contains(&F);
}

bool cosy::neverReturns(const Function &F) {
  return !F.isDeclaration() && !F.isInterposable() &&
         !F.hasFnAttribute(Attribute::Naked) &&
         none_of(F, [](const BasicBlock &BB) {
           return isa<ReturnInst, ResumeInst>(BB.getTerminator());
         });
}
