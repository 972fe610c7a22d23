// SPDX-License-Identifier: MIT
//===- Inline.cpp - What is inlined, what is called -----------------------===//
//
// A local call costs a software frame in user memory, so all functions that do
// not recurse are inlined, as long as the compound stays small.  This stage
// only marks them:
//
//   define internal i64 @small(..)  ->  define internal i64 @small(..)
//                                           alwaysinline
//   define internal i64 @fib(..)    ->  define internal i64 @fib(..)
//                                           noinline "cosy-recursive"
//
// A large function that makes system calls in a loop takes much longer than its
// frame, so it is not copied to several places: each instruction costs time at
// LOAD.
//
//===----------------------------------------------------------------------===//
#include "lower/Inline.h"
#include "calls/Callees.h"
#include "calls/LibcCalls.h"
#include "lower/BpfModule.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include <linux/cosy.h>

#define DEBUG_TYPE "cosy-plan-calls"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumInlined, "Number of functions to be inlined");
ALWAYS_ENABLED_STATISTIC(NumCalled, "Number of functions that stay calls");
ALWAYS_ENABLED_STATISTIC(NumRecursive, "Number of functions that recurse");

/// Functions of up to so many instructions are no larger than a call of them.
static constexpr unsigned AlwaysInlined = 30;
/// So many instructions more do not matter for a function that makes system
/// calls in a loop: it may do so once, as one that writes all of a block.
static constexpr unsigned LoopingBudget = 256;

static void setInline(Function &F, bool Inline) {
  F.removeFnAttr(Attribute::AlwaysInline);
  F.removeFnAttr(Attribute::NoInline);
  F.addFnAttr(Inline ? Attribute::AlwaysInline : Attribute::NoInline);
}

namespace {
/// Knows which functions make system calls, or calls for which the compound
/// leaves.  Callees are added before callers.
class Callers {
  SmallPtrSet<const Function *, 8> Known;

  bool makesCall(const Instruction &I) const {
    const auto *C = dyn_cast<CallBase>(&I);
    const Function *Callee = C ? C->getCalledFunction() : nullptr;
    uint32_t Number;
    if (!Callee)
      return false;
    return isNumberedCall(Callee, Number)
               ? Number < COSY_OP_BASE
               : Known.contains(Callee) || C->hasFnAttr(CallOutAttr);
  }

public:
  void add(const Function &F) {
    if (any_of(instructions(F),
               [&](const Instruction &I) { return makesCall(I); }))
      Known.insert(&F);
  }

  /// True if F makes such calls in a loop.
  bool loops(Function &F) const {
    if (!Known.contains(&F))
      return false;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    return any_of(instructions(F), [&](Instruction &I) {
      return LI.getLoopFor(I.getParent()) && makesCall(I);
    });
  }
};
} // namespace

void cosy::planCalls(BpfModule &B, unsigned Budget) {
  // Callees come before callers, so Size is known with all that is inlined.
  DenseMap<const Function *, unsigned> Size, CallSites;
  SmallPtrSet<const Function *, 8> Called;
  Callers Calling;
  for (Function &F : *B.M)
    for (const CallBase *C : callsOf(F))
      CallSites[&F] += C->getCalledFunction() == &F;

  CallGraph Graph(*B.M);
  for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It) {
    for (CallGraphNode *Node : *It) {
      Function *F = Node->getFunction();
      if (!F || F->isDeclaration())
        continue;
      unsigned Own = 0;
      for (Instruction &I : instructions(F)) {
        ++Own;
        if (auto *C = dyn_cast<CallBase>(&I))
          if (Function *Callee = C->getCalledFunction())
            if (!Called.count(Callee))
              Own += Size.lookup(Callee);
      }
      Size[F] = Own;
      Calling.add(*F);
      if (F == B.Main)
        continue;
      bool Recursive = It.hasCycle();
      unsigned Sites = CallSites.lookup(F);
      unsigned Most =
          Calling.loops(*F) ? std::min(Budget, LoopingBudget) : Budget;
      bool Inline = !Recursive && (Own <= AlwaysInlined || Sites <= 1 ||
                                   (Sites - 1) * Own <= Most);
      setInline(*F, Inline);
      ++(Inline ? NumInlined : NumCalled);
      NumRecursive += Recursive;
      if (!Inline)
        Called.insert(F);
      if (Recursive)
        F->addFnAttr(RecursiveAttr);
    }
  }
}
