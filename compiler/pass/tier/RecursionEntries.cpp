// SPDX-License-Identifier: MIT
//===- RecursionEntries.cpp - Ways into the kernel where a function recurses =//
//
// A region that calls a recursive function, for example to walk a tree, is
// entered once and stays until the walk ends.  Its native twin calls copies of
// that function and of all functions that it calls.  The loops of a copy take
// what their iterations would have saved off the region's `left`.  Once that is
// used up, a copy enters the kernel at its entry, by a compound that makes this
// one call of the function.  Calls from outside the region go to the function
// itself, which counts nothing.
//
//   define i64 @below(i32 %dir)      define i64 @below.twin(i32 %dir)
//     ...                              <count>, to leave or to native
//     %n = call i64 @below(i32 %d)   leave:
//                                      call void @below.entry(i32 %dir, ptr %r)
//                                      %v = load i64, ptr %r
//                                      ret i64 %v
//                                    native:
//                                      ...
//                                      %n = call i64 @below.twin(i32 %d)
//
//===----------------------------------------------------------------------===//
#include "tier/RecursionEntries.h"
#include "region/Extracted.h"
#include "region/Normalize.h"
#include "tier/Cost.h"
#include "tier/Loops.h"
#include "tier/Losses.h"
#include "tier/Recursion.h"
#include "tier/RegionCost.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <costs.h>

#define DEBUG_TYPE "cosy-recursion"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumRecursions,
                         "Number of functions with a way in at their entry");

/// Has calls of the copied functions go to the copies.
static void redirectCalls(Function &F,
                          const DenseMap<Function *, Function *> &To) {
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Function *Copy = To.lookup(Call->getCalledFunction()))
        Call->setCalledFunction(Copy);
}

/// Makes what a compound runs: one call of F, whose result is an output.
static Function *createEntry(Function &F) {
  LLVMContext &Ctx = F.getContext();
  Type *Result = F.getReturnType();
  SmallVector<Type *, 8> Types(F.getFunctionType()->params());
  if (!Result->isVoidTy())
    Types.push_back(PointerType::get(Ctx, 0));
  Function *Entry = Function::Create(
      FunctionType::get(Type::getVoidTy(Ctx), Types, false),
      GlobalValue::InternalLinkage, F.getName() + ".entry", F.getParent());
  IRBuilder<> B(BasicBlock::Create(Ctx, "entry", Entry));
  SmallVector<Value *, 8> Args;
  for (unsigned I = 0; I < F.arg_size(); ++I)
    Args.push_back(Entry->getArg(I));
  CallInst *Call = B.CreateCall(&F, Args);
  Call->setCallingConv(F.getCallingConv());
  if (!Result->isVoidTy())
    B.CreateStore(Call, Entry->getArg(F.arg_size()));
  B.CreateRetVoid();
  return Entry;
}

/// Describes the way in at the entry of F's copy, which splitEntry makes.
static Extracted wayIn(const Extracted &R, Function &F, Function &Copy,
                       const RegionCost &Cost) {
  Extracted E;
  E.Host = &Copy;
  E.Body = E.Twin = createEntry(F);
  E.NumInputs = F.arg_size();
  if (!F.getReturnType()->isVoidTy())
    E.Outputs.push_back(F.getReturnType());
  E.Line = R.Line;
  E.Where = R.Where;
  // Below the first of these calls the kernel is not entered again.
  E.Arrival = Cost.SureEntry + COSY_COST_RUN;
  E.ArrivalCalls = Cost.EntryCalls;
  ++NumRecursions;
  return E;
}

/// Splits a copy's entry and makes the call there: see the banner.
static void splitEntry(Extracted &E) {
  Function &Copy = *E.Host;
  LLVMContext &Ctx = Copy.getContext();
  Type *Result = Copy.getReturnType();
  BasicBlock &Top = Copy.getEntryBlock();
  // Locals stay where LLVM takes them for part of the frame.
  Instruction *At = &*Top.getFirstNonPHIOrDbgOrAlloca();
  for (Instruction &I :
       make_early_inc_range(make_range(At->getIterator(), Top.end())))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && A->isStaticAlloca())
      A->moveBefore(At);
  IRBuilder<> B(At);
  Value *Out = Result->isVoidTy() ? nullptr : B.CreateAlloca(Result);
  E.Round = SplitBlock(&Top, At);
  BasicBlock *Leave = BasicBlock::Create(Ctx, "cosy.leave", &Copy, E.Round);
  Top.getTerminator()->eraseFromParent();
  // emitHostCode will replace the condition.
  BranchInst::Create(Leave, E.Round, PoisonValue::get(Type::getInt1Ty(Ctx)),
                     &Top);
  SmallVector<Value *, 8> Args;
  for (Argument &A : Copy.args())
    Args.push_back(&A);
  if (Out)
    Args.push_back(Out);
  B.SetInsertPoint(Leave);
  if (DISubprogram *SP = Copy.getSubprogram())
    B.SetCurrentDebugLocation(DILocation::get(Ctx, SP->getScopeLine(), 0, SP));
  E.Call = B.CreateCall(E.Body, Args);
  if (Out)
    B.CreateRet(B.CreateLoad(Result, Out));
  else
    B.CreateRetVoid();
}

static Function *copyFunction(Function &F, ValueToValueMapTy &Map) {
  Function *Copy = cloneTwin(F, Map);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setComdat(nullptr);
  return Copy;
}

/// Records the loops of a copy whose iterations count, and what they save.
static void countLoops(Extracted &E, Function &Copy, const RegionCost &Cost) {
  SmallVector<BasicBlock *, 4> Heads = countedHeads(Copy);
  for (size_t I = 0; I < Heads.size(); ++I)
    E.Counted.push_back({Heads[I], keepMade(Copy, Heads[I]), Cost.SureRounds[I],
                         Cost.Skips[I], Cost.RoundCalls[I]});
}

/// Takes the calls of F that count where they are made out of its cost.  The
/// code of a function that is not entered itself counts where it is called,
/// loops apart.
static SmallVector<SeldomCall, 4> seldomCalls(Function &F, const Recursion &In,
                                              RegionCost &Cost) {
  SmallVector<SeldomCall, 4> Ret =
      findSeldomCalls(F, countedHeads(F), In, Cost);
  if (is_contained(In.Entered, &F))
    return Ret;
  DominatorTree DT(F);
  LoopInfo LI(DT);
  erase_if(Ret, [&](const SeldomCall &S) {
    return !LI.getLoopFor(S.Call->getParent());
  });
  return Ret;
}

std::vector<Extracted> cosy::enterRecursion(Extracted &R, const Recursion &In,
                                            RegionCost &Whole,
                                            FunctionAnalysisManager &FAM) {
  std::vector<Extracted> Ret;
  DenseMap<Function *, Function *> Copies;
  SmallVector<RegionCost, 8> Costs(In.Copied.size());
  SmallVector<SmallVector<SeldomCall, 4>, 8> Seldom(In.Copied.size());
  for (size_t I = 0; I < In.Copied.size(); ++I) {
    Function &F = *In.Copied[I];
    if (!F.hasOptNone())
      normalizeFunction(F, FAM);
    simplifyLoops(F);
    estimateGain(F, countedHeads(F), In, Costs[I]);
    addCost(Whole, Costs[I], is_contained(In.Entered, &F));
    Seldom[I] = seldomCalls(F, In, Costs[I]);
    ValueToValueMapTy Map;
    Copies[&F] = copyFunction(F, Map);
    mapSeldom(Seldom[I], Map);
  }
  for (auto [F, Copy] : Copies)
    redirectCalls(*Copy, Copies);
  if (!R.Twin && !Copies.empty()) {
    ValueToValueMapTy Map;
    cloneRegionTwin(R, Map);
  }
  if (R.Twin)
    redirectCalls(*R.Twin, Copies);
  for (size_t I = 0; I < In.Copied.size(); ++I) {
    Function &F = *In.Copied[I], &Copy = *Copies[&F];
    if (is_contained(In.Entered, &F))
      Ret.push_back(wayIn(R, F, Copy, Costs[I]));
    // The first of them is one that is entered.
    countLoops(Ret.back(), Copy, Costs[I]);
    append_range(Ret.back().Seldom, Seldom[I]);
    Ret.back().Copies.push_back(&Copy);
  }
  for (Extracted &E : Ret)
    splitEntry(E);
  return Ret;
}
