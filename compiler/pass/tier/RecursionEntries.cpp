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
// A copy that recurses in a loop enters at the loop's head instead, by a
// compound that makes the rest of the call.  So the callers of a copy that has
// entered go on in the kernel from their next iterations, and need not end
// natively what they have begun.
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
#include "calls/LibcCalls.h"
#include "calls/LibcFunctions.h"
#include "region/Extracted.h"
#include "region/Normalize.h"
#include "tier/Cost.h"
#include "tier/Loops.h"
#include "tier/Losses.h"
#include "tier/Recursion.h"
#include "tier/RegionCost.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
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
ALWAYS_ENABLED_STATISTIC(NumLoops,
                         "Number of loops that recurse with a way in");

/// Heads of one function with a way in; each is one more compound.
static constexpr unsigned MaxHeads = 2;

/// Has calls of the copied functions go to the copies.
static void redirectCalls(Function &F,
                          const DenseMap<Function *, Function *> &To) {
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Function *Copy = To.lookup(Call->getCalledFunction()))
        Call->setCalledFunction(Copy);
}

/// Makes what a compound runs: one call of F, whose result is an output.
static Function *createEntry(Function &F, const Twine &Name) {
  LLVMContext &Ctx = F.getContext();
  Type *Result = F.getReturnType();
  SmallVector<Type *, 8> Types(F.getFunctionType()->params());
  if (!Result->isVoidTy())
    Types.push_back(PointerType::get(Ctx, 0));
  Function *Entry =
      Function::Create(FunctionType::get(Type::getVoidTy(Ctx), Types, false),
                       GlobalValue::InternalLinkage, Name, F.getParent());
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

/// Describes a way in to a copy of F by a compound that runs Body.
static Extracted wayInto(const Extracted &R, Function &F, Function &Copy,
                         Function *Body) {
  Extracted E;
  E.Host = &Copy;
  E.Body = E.Twin = Body;
  E.NumInputs = Body->arg_size();
  if (!F.getReturnType()->isVoidTy()) {
    --E.NumInputs;
    E.Outputs.push_back(F.getReturnType());
  }
  E.Line = R.Line;
  E.Where = R.Where;
  return E;
}

/// Describes the way in at the entry of F's copy, which splitEntry makes.
static Extracted wayIn(const Extracted &R, Function &F, Function &Copy,
                       const RegionCost &Cost) {
  Extracted E = wayInto(R, F, Copy, createEntry(F, F.getName() + ".entry"));
  // Below the first of these calls the kernel is not entered again.
  E.Arrival = Cost.SureEntry + COSY_COST_RUN;
  E.ArrivalCalls = Cost.EntryCalls;
  ++NumRecursions;
  return E;
}

/// Splits a copy before At and makes the call there, after which the copy
/// returns: see the banner.
static void splitCopy(Extracted &E, Instruction *At, ArrayRef<Value *> Inputs) {
  Function &Copy = *E.Host;
  LLVMContext &Ctx = Copy.getContext();
  Type *Result = Copy.getReturnType();
  BasicBlock *Before = At->getParent();
  Value *Out = nullptr;
  if (!Result->isVoidTy())
    Out = IRBuilder<>(&Copy.getEntryBlock(), Copy.getEntryBlock().begin())
              .CreateAlloca(Result);
  E.Round = SplitBlock(Before, At);
  BasicBlock *Leave = BasicBlock::Create(Ctx, "cosy.leave", &Copy, E.Round);
  Before->getTerminator()->eraseFromParent();
  // emitHostCode will replace the condition.
  BranchInst::Create(Leave, E.Round, PoisonValue::get(Type::getInt1Ty(Ctx)),
                     Before);
  SmallVector<Value *, 8> Args(Inputs);
  if (Out)
    Args.push_back(Out);
  IRBuilder<> B(Leave);
  if (DISubprogram *SP = Copy.getSubprogram())
    B.SetCurrentDebugLocation(DILocation::get(Ctx, SP->getScopeLine(), 0, SP));
  E.Call = B.CreateCall(E.Body, Args);
  if (Out)
    B.CreateRet(B.CreateLoad(Result, Out));
  else
    B.CreateRetVoid();
}

static void splitEntry(Extracted &E) {
  BasicBlock &Top = E.Host->getEntryBlock();
  // Locals stay where LLVM takes them for part of the frame.
  Instruction *At = &*Top.getFirstNonPHIOrDbgOrAlloca();
  for (Instruction &I :
       make_early_inc_range(make_range(At->getIterator(), Top.end())))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && A->isStaticAlloca())
      A->moveBefore(At);
  SmallVector<Value *, 8> Args;
  for (Argument &A : E.Host->args())
    Args.push_back(&A);
  splitCopy(E, At, Args);
}

/// Returns those of a function's counted loops that recurse, by their heads: of
/// loops in each other the inner one, which goes on with the others.
static SmallVector<BasicBlock *, 2> recursingHeads(Function &F,
                                                   const Recursion &In) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  SmallVector<BasicBlock *, 4> Counted = countedHeads(F);
  SmallVector<BasicBlock *, 2> Ret;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !is_contained(In.Recursing, Call->getCalledFunction()))
      continue;
    const Loop *L = LI.getLoopFor(I.getParent());
    while (L && !is_contained(Counted, L->getHeader()))
      L = L->getParentLoop();
    if (L && !is_contained(Ret, L->getHeader()) && Ret.size() < MaxHeads)
      Ret.push_back(L->getHeader());
  }
  return Ret;
}

/// Has the compound that runs a function leave for the function's reports and
/// the like, as compounds do where the function is called, and come back.
static void leaveForCalls(Function &F) {
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && !Callee->isIntrinsic() &&
        (Callee->isDeclaration()
             ? canCallOut(*Call) && !isCovered(libcName(*Call))
             : Callee->isVarArg()))
      Call->addFnAttr(Attribute::get(F.getContext(), CallOutAttr));
  }
}

/// Makes the way in at the head of a loop of F's copy; false if it cannot be.
static bool enterHead(const Extracted &R, Function &F, BasicBlock *Head,
                      const CountedHead &Counted, ValueToValueMapTy &Map,
                      std::vector<Extracted> &Ret) {
  SmallVector<Value *, 16> Live;
  Function *Rest = continueAtHead(F, Head, Live);
  if (!Rest)
    return false;
  Function *Body = createEntry(*Rest, "");
  Body->takeName(Rest);
  auto *Call = cast<CallInst>(*Rest->user_begin());
  InlineFunctionInfo Info;
  InlineResult Done = InlineFunction(*Call, Info, /*MergeAttributes=*/false,
                                     /*CalleeAAR=*/nullptr,
                                     /*InsertLifetime=*/false);
  if (!Done.isSuccess()) {
    Body->eraseFromParent();
    Rest->eraseFromParent();
    return false;
  }
  Rest->eraseFromParent();
  leaveForCalls(*Body);
  Extracted E = wayInto(R, F, *Counted.Head->getParent(), Body);
  E.OfCopy = Counted;
  E.Made = Counted.Made;
  SmallVector<Value *, 16> Inputs;
  for (Value *V : Live)
    Inputs.push_back(Map[V]);
  splitCopy(E, &*Counted.Head->getFirstNonPHIIt(), Inputs);
  ++NumLoops;
  Ret.push_back(std::move(E));
  return true;
}

static Function *copyFunction(Function &F, ValueToValueMapTy &Map) {
  Function *Copy = cloneTwin(F, Map);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setComdat(nullptr);
  return Copy;
}

/// Records the loops of a copy whose iterations count, and what they save.
static void countLoops(Extracted &E, Function &F, ValueToValueMapTy &Map,
                       const RegionCost &Cost) {
  Function &Copy = *cast<BasicBlock>(Map[&F.getEntryBlock()])->getParent();
  SmallVector<BasicBlock *, 4> Heads = countedHeads(F);
  for (size_t I = 0; I < Heads.size(); ++I) {
    auto *Head = cast<BasicBlock>(Map[Heads[I]]);
    E.Counted.push_back({Head, keepMade(Copy, Head), Cost.SureRounds[I],
                         Cost.Skips[I], Cost.RoundCalls[I]});
  }
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

/// Makes the ways in at the loops of F's copy, whose entry has one.
static void enterHeads(const Extracted &R, Function &F, const Recursion &In,
                       ValueToValueMapTy &Map, RecursionWays &Ways) {
  for (BasicBlock *Head : recursingHeads(F, In)) {
    Value *InCopy = Map[Head];
    auto Counted = find_if(Ways.Entry.Counted, [&](const CountedHead &H) {
      return H.Head == InCopy;
    });
    enterHead(R, F, Head, *Counted, Map, Ways.Heads);
  }
}

std::vector<RecursionWays> cosy::enterRecursion(Extracted &R,
                                                const Recursion &In,
                                                RegionCost &Whole,
                                                FunctionAnalysisManager &FAM) {
  std::vector<RecursionWays> Ret;
  DenseMap<Function *, Function *> Copies;
  std::vector<ValueToValueMapTy> Maps(In.Copied.size());
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
    Copies[&F] = copyFunction(F, Maps[I]);
    mapSeldom(Seldom[I], Maps[I]);
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
      Ret.push_back({wayIn(R, F, Copy, Costs[I]), {}});
    // The first of them is one that is entered.
    Extracted &Entry = Ret.back().Entry;
    countLoops(Entry, F, Maps[I], Costs[I]);
    append_range(Entry.Seldom, Seldom[I]);
    Entry.Copies.push_back(&Copy);
    if (is_contained(In.Entered, &F))
      enterHeads(R, F, In, Maps[I], Ret.back());
  }
  for (RecursionWays &Ways : Ret)
    splitEntry(Ways.Entry);
  return Ret;
}

void cosy::enterAtHeads(Extracted &Entry, ArrayRef<Extracted *> Heads) {
  Extracted &First = *Heads.front();
  erase_if(Entry.Counted, [&](const CountedHead &H) {
    return any_of(Heads,
                  [&](Extracted *E) { return E->OfCopy->Head == H.Head; });
  });
  First.Counted = std::move(Entry.Counted);
  First.Copies = std::move(Entry.Copies);
  First.Seldom = std::move(Entry.Seldom);
  // The call of the function still counts where its code begins.
  First.Seldom.push_back({&*Entry.Round->getFirstInsertionPt(), *Entry.Arrival,
                          nullptr, nullptr, 0, Entry.ArrivalCalls});
  dropLoopEntry(Entry);
}
