// SPDX-License-Identifier: MIT
//===- Outline.cpp - Cold ways into the kernel, out of line ---------------===//
//
// A function whose region is on a path that it seldom takes keeps what is alive
// across the entry code's calls in registers that it has to save first, on each
// of its calls.  So where a call of the function need not come to a region, or
// the region stays native, the code that enters the kernel becomes a function
// of its own at last:
//
//   if (x)                                   if (x)
//     return cache[x];                         return cache[x];
//   if (region.left >= 0) goto native;       if (region.left >= 0) goto native;
//   ctx = __cosy_enter(&region);             if (f.cosy.enter(&n)) goto native;
//   ..                                       goto join;
//
//===----------------------------------------------------------------------===//
#include "host/Outline.h"
#include "host/RegionFields.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

#define DEBUG_TYPE "cosy-outline"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumOutlined,
                         "Number of ways into the kernel put out of line");

/// Returns struct cosy_region of what a call enters, or null.
static const ConstantStruct *regionOf(const CallInst &Call) {
  const Function *F = Call.getCalledFunction();
  if (!F || F->getName() != "__cosy_enter" || Call.arg_size() != 1)
    return nullptr;
  auto *Region = dyn_cast<GlobalVariable>(Call.getArgOperand(0));
  auto *Init = Region && Region->hasInitializer()
                   ? dyn_cast<ConstantStruct>(Region->getInitializer())
                   : nullptr;
  return Init && Init->getNumOperands() > EntryField ? Init : nullptr;
}

/// True if the call enters a region at its beginning, not at a loop's head.
static bool entersAtBeginning(const CallInst &Call) {
  const ConstantStruct *Region = regionOf(Call);
  return Region && Region->getOperand(EntryField)->isNullValue();
}

/// True if the region that a call enters is expected to lose.
static bool entersLosing(const CallInst &Call) {
  const ConstantStruct *Region = regionOf(Call);
  const auto *Flags =
      Region->getNumOperands() > FlagsField
          ? dyn_cast<ConstantInt>(Region->getOperand(FlagsField))
          : nullptr;
  return Flags &&
         (Flags->getZExtValue() & (COSY_REGION_LOSES | COSY_REGION_FORCE)) ==
             COSY_REGION_LOSES;
}

/// True if each call of F that returns has passed the code that tests the
/// region's count, two branches before it enters.
static bool isAlwaysAsked(const BasicBlock *Ask, Function &F,
                          const DominatorTree &DT) {
  PostDominatorTree PDT(F);
  const DomTreeNode *Node = DT.getNode(Ask);
  for (int I = 0; I < 2 && Node->getIDom(); ++I)
    Node = Node->getIDom();
  return PDT.dominates(Node->getBlock(), &F.getEntryBlock());
}

static bool outlineEntry(CallInst &Enter, Function &F) {
  if (F.hasFnAttribute(Attribute::SanitizeAddress))
    return false;
  BasicBlock *Ask = Enter.getParent();
  DominatorTree DT(F);
  if (!DT.isReachableFromEntry(Ask) || Ask == &F.getEntryBlock() ||
      (!entersLosing(Enter) && isAlwaysAsked(Ask, F, DT)))
    return false;
  SmallVector<BasicBlock *, 16> Blocks;
  DT.getDescendants(Ask, Blocks);
  CodeExtractor Extractor(Blocks, &DT, /*AggregateArgs=*/false, nullptr,
                          nullptr, nullptr, /*AllowVarArgs=*/false,
                          /*AllowAlloca=*/false, nullptr, "cosy.enter");
  if (!Extractor.isEligible())
    return false;
  CodeExtractorAnalysisCache Cache(F);
  Function *Out = Extractor.extractCodeRegion(Cache);
  if (!Out)
    return false;
  Out->addFnAttr(Attribute::NoInline);
  Out->addFnAttr(Attribute::Cold);
  ++NumOutlined;
  return true;
}

PreservedAnalyses OutlinePass::run(Module &M, ModuleAnalysisManager &) {
  Function *EnterFunction = M.getFunction("__cosy_enter");
  if (!EnterFunction)
    return PreservedAnalyses::all();
  SmallVector<CallInst *, 8> Entries;
  for (User *U : EnterFunction->users())
    if (auto *Call = dyn_cast<CallInst>(U); Call && entersAtBeginning(*Call))
      Entries.push_back(Call);
  bool Changed = false;
  for (CallInst *Enter : Entries)
    Changed |= outlineEntry(*Enter, *Enter->getFunction());
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
