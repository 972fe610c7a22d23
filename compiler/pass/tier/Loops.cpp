// SPDX-License-Identifier: MIT
//===- Loops.cpp - From the native twin's loops into the kernel -----------===//
//
// A region that is entered once and iterates for long would never get into the
// kernel if the twin could go there only at the entry.  So a loop that makes a
// call in every iteration, or at least in every iteration that does some work
// (Skips.cpp), gets a function of its own: all of the region from the loop's
// head on, compiled as one more compound.
//
//	twin:   head: i = phi ..              body.loop(inputs, i, .., outputs):
//	        if earned:                            goto head
//	          return body.loop(.., i, ..)   head: i = phi [i, entry], ..
//	        ...                                   ...
//
// Values that are alive at the head become inputs.  A local whose address
// nobody else knows is copied into the compound's context, and pointers into it
// are changed to point there; a local of the host is copied back at the end.
// Other locals stay in the twin's memory.  Functions with such loops that the
// region calls are inlined into it first.  The head of an inner loop will do as
// well as that of an outer one, since the function goes on with the loops
// around it.
//
//===----------------------------------------------------------------------===//
#include "tier/Loops.h"
#include "calls/Callees.h"
#include "region/Extracted.h"
#include "region/HostBuffers.h"
#include "region/Inliner.h"
#include "region/Normalize.h"
#include "region/Private.h"
#include "region/Written.h"
#include "tier/LoopAnalyses.h"
#include "tier/PendingLosses.h"
#include "tier/RegionCost.h"
#include "tier/Skips.h"
#include "tier/SystemCalls.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "cosy-loops"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumHeads, "Number of loops with a way in at the head");
ALWAYS_ENABLED_STATISTIC(NumMoved,
                         "Number of locals that such a way in may copy");

/// Heads of one region with a way in; each is one more compound.
static constexpr unsigned MaxHeads = 4;

namespace {
/// A local that a compound may have its own copy of: one of the twin's, or one
/// of the host's that is an input of the region.
struct MovedLocal {
  LocalPointers Pointers; ///< Itself first.
  uint64_t Size;
  Align Alignment;
  bool IsHosts;
};

/// The locals that are copied by a compound that begins at a loop's head.
class LocalCopies {
  Function &F;
  IRBuilder<> B;

public:
  LocalCopies(Function &F, BasicBlock *Entry)
      : F(F), B(Entry->getTerminator()) {}

  /// Copies a local, and has pointers into it point into the copy: Values[I] is
  /// the value of Live[I] at the head.
  void copy(const MovedLocal &Local, ArrayRef<Value *> Live,
            MutableArrayRef<Value *> Values) {
    auto It = find(Live, Local.Pointers[0]);
    if (It == Live.end())
      return;
    Value *Old = Values[It - Live.begin()];
    AllocaInst *New =
        IRBuilder<>(&F.front(), F.front().begin())
            .CreateAlloca(ArrayType::get(B.getInt8Ty(), Local.Size));
    New->setAlignment(Local.Alignment);
    B.CreateMemCpy(New, Local.Alignment, Old, Local.Alignment, Local.Size);
    for (auto [V, At] : zip(Live, Values))
      if (At != Old && Local.Pointers.contains(V))
        At = moved(At, Old, New, Local.Size);
    Values[It - Live.begin()] = New;
    if (Local.IsHosts)
      Hosts.push_back({&Local, Old, New});
  }

  void copyBack() {
    for (BasicBlock &BB : F)
      if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator()))
        for (auto &[Local, Old, New] : Hosts)
          IRBuilder<>(Return).CreateMemCpy(Old, Local->Alignment, New,
                                           Local->Alignment, Local->Size);
  }

private:
  SmallVector<std::tuple<const MovedLocal *, Value *, AllocaInst *>, 4> Hosts;

  /// Returns the same place in the copy.  A pointer that is not into the local
  /// stays, as null does that memchr returned.
  Value *moved(Value *Pointer, Value *Old, Value *New, uint64_t Size) {
    Value *Offset = B.CreateSub(B.CreatePtrToInt(Pointer, B.getInt64Ty()),
                                B.CreatePtrToInt(Old, B.getInt64Ty()));
    return B.CreateSelect(B.CreateICmpULE(Offset, B.getInt64(Size)),
                          B.CreatePtrAdd(New, Offset), Pointer);
  }
};

/// A loop's head of a region's body, and the function that goes on from there.
class LoopEntry {
  Function &Body;
  BasicBlock *Head;
  DominatorTree DT;
  SmallPtrSet<BasicBlock *, 16> Rest; ///< Blocks that the head reaches.
  unsigned NumInputs;

public:
  /// Values of Body that the new function takes, in the order of its arguments.
  SmallVector<Value *, 16> Live;

  LoopEntry(Function &Body, BasicBlock *Head, unsigned NumInputs)
      : Body(Body), Head(Head), DT(Body), NumInputs(NumInputs) {
    SmallVector<BasicBlock *, 16> Work{Head};
    while (!Work.empty()) {
      BasicBlock *BB = Work.pop_back_val();
      if (Rest.insert(BB).second)
        append_range(Work, successors(BB));
    }
    findLive();
  }

  /// True if everything that is alive can be an argument.
  bool canEnter() const {
    return all_of(Live, [](const Value *V) {
      Type *Ty = V->getType();
      return FunctionType::isValidArgumentType(Ty) && !Ty->isTokenTy();
    });
  }

  Function *create(ArrayRef<MovedLocal> Locals) {
    FunctionType *Old = Body.getFunctionType();
    SmallVector<Type *, 16> Types;
    for (Value *V : Live)
      Types.push_back(V->getType());
    for (unsigned I = NumInputs; I < Body.arg_size(); ++I)
      Types.push_back(Old->getParamType(I));
    Function *F =
        Function::Create(FunctionType::get(Old->getReturnType(), Types, false),
                         GlobalValue::InternalLinkage, Body.getName() + ".loop",
                         Body.getParent());
    ValueToValueMapTy Map;
    for (unsigned I = 0; I < Live.size(); ++I)
      if (isa<Argument>(Live[I]))
        Map[Live[I]] = F->getArg(I);
    for (unsigned I = NumInputs; I < Body.arg_size(); ++I)
      Map[Body.getArg(I)] = F->getArg(Live.size() + I - NumInputs);
    // Arguments that are not alive are used only in code that will go.
    for (Argument &A : Body.args())
      if (!Map.count(&A))
        Map[&A] = PoisonValue::get(A.getType());
    SmallVector<ReturnInst *, 4> Returns;
    CloneFunctionInto(F, &Body, Map, CloneFunctionChangeType::LocalChangesOnly,
                      Returns);
    enterAtHead(*F, Map, Locals);
    return F;
  }

private:
  bool isUsedInRest(const Value *V) const {
    return any_of(V->uses(), [&](const Use &U) {
      auto *I = cast<Instruction>(U.getUser());
      auto *Phi = dyn_cast<PHINode>(I);
      return Rest.contains(const_cast<BasicBlock *>(
          Phi ? Phi->getIncomingBlock(U) : I->getParent()));
    });
  }

  void findLive() {
    for (unsigned I = 0; I < NumInputs; ++I)
      if (isUsedInRest(Body.getArg(I)))
        Live.push_back(Body.getArg(I));
    for (BasicBlock &BB : Body)
      if (&BB == Head) {
        for (PHINode &Phi : BB.phis())
          Live.push_back(&Phi);
      } else if (DT.dominates(&BB, Head)) {
        for (Instruction &I : BB)
          if (!I.getType()->isVoidTy() && DT.dominates(&I, Head) &&
              isUsedInRest(&I))
            Live.push_back(&I);
      }
  }

  void enterAtHead(Function &F, ValueToValueMapTy &Map,
                   ArrayRef<MovedLocal> Locals) {
    auto *HeadOfF = cast<BasicBlock>(Map[Head]);
    BasicBlock *Entry =
        BasicBlock::Create(F.getContext(), "cosy.entry", &F, &F.front());
    BranchInst::Create(HeadOfF, Entry);
    SmallVector<Value *, 16> Values;
    for (unsigned I = 0; I < Live.size(); ++I)
      Values.push_back(F.getArg(I));
    LocalCopies Copies(F, Entry);
    for (const MovedLocal &Local : Locals)
      Copies.copy(Local, Live, Values);
    for (unsigned I = 0; I < Live.size(); ++I)
      if (isa<Argument>(Live[I]))
        F.getArg(I)->replaceUsesWithIf(Values[I], [&](Use &U) {
          return cast<Instruction>(U.getUser())->getParent() != Entry;
        });
    Copies.copyBack();
    // A loop around this one comes back and defines some of them again.
    SmallVector<std::pair<Instruction *, Value *>, 8> Redefined;
    for (unsigned I = 0; I < Live.size(); ++I) {
      auto *Old = dyn_cast<Instruction>(Live[I]);
      if (!Old)
        continue;
      auto *New = cast<Instruction>(Map[Old]);
      if (Old->getParent() == Head)
        cast<PHINode>(New)->addIncoming(Values[I], Entry);
      else if (!Rest.contains(Old->getParent()))
        New->replaceAllUsesWith(Values[I]);
      else
        Redefined.push_back({New, Values[I]});
    }
    for (auto [New, First] : Redefined)
      mergeDefinitions(*New, First, Entry);
    // Do this last: it replaces phis that have one edge left.
    EliminateUnreachableBlocks(F);
  }

  static void mergeDefinitions(Instruction &Def, Value *First,
                               BasicBlock *Entry) {
    SSAUpdater Updater;
    Updater.Initialize(Def.getType(), Def.getName());
    Updater.AddAvailableValue(Entry, First);
    Updater.AddAvailableValue(Def.getParent(), &Def);
    for (Use &U : make_early_inc_range(Def.uses())) {
      auto *I = cast<Instruction>(U.getUser());
      if (I->getParent() != Def.getParent() || isa<PHINode>(I))
        Updater.RewriteUse(U);
    }
  }
};
} // namespace

SmallVector<BasicBlock *, 4> cosy::countedHeads(Function &F) {
  CountedLoops Analyses(F);
  SmallVector<BasicBlock *, 4> Heads;
  for (const Loop *L : Analyses.LI.getLoopsInPreorder())
    // In a loop without calls, counting would cost as much as the iteration.
    if (Analyses.counts(*L).Skipped && !L->getHeader()->isEHPad())
      Heads.push_back(L->getHeader());
  return Heads;
}

/// Finds the loops of F whose iterations can be counted, and where: each has a
/// head, or a call.
static SmallVector<std::pair<BasicBlock *, CallBase *>, 4>
countingPlaces(Function &F) {
  CountedLoops Analyses(F);
  SmallVector<std::pair<BasicBlock *, CallBase *>, 4> Ret;
  for (const Loop *L : Analyses.LI.getLoopsInPreorder())
    if (L->getHeader()->isEHPad())
      continue;
    else if (Analyses.counts(*L).Skipped)
      Ret.push_back({L->getHeader(), nullptr});
    else if (CallBase *Call = Analyses.counts(*L).Call)
      Ret.push_back({nullptr, Call});
  return Ret;
}

SmallVector<BasicBlock *, 4> cosy::waysIn(Extracted &R) {
  // AddressSanitizer marks which locals are in scope where the twin enters and
  // leaves their scopes; a compound that goes on in the middle would not.
  if (R.Body->hasFnAttribute(Attribute::SanitizeAddress))
    return {};
  SmallVector<BasicBlock *, 4> Ret;
  for (auto [Place, Call] : countingPlaces(*R.Body)) {
    if (Ret.size() == MaxHeads)
      break;
    if (Call)
      Place = SplitBlock(Call->getParent(), Call->getIterator());
    if (LoopEntry(*R.Body, Place, R.NumInputs).canEnter())
      Ret.push_back(Place);
  }
  return Ret;
}

/// Instructions that a region's body may have after inlining.
static constexpr unsigned MaxBody = 3000;

/// True if F, or a function that it calls, has a loop.
static bool hasLoops(Function &F, unsigned Depth = 0) {
  if (F.isDeclaration() || Depth > 4)
    return false;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> Back;
  FindFunctionBackedges(F, Back);
  return !Back.empty() || any_of(instructions(F), [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && Callee != &F && hasLoops(*Callee, Depth + 1);
  });
}

/// True if LLVM expects most calls of a function to make a system call.  A
/// `getc` of the program's own makes one when its buffer is empty.
static bool mostlyMakesCall(Function &F) {
  LoopAnalyses A(F);
  return any_of(F, [&](BasicBlock &BB) {
    return A.makesCall(BB) && A.frequency(BB) >= 0.6 * A.frequency(F.front());
  });
}

void cosy::inlineLoops(Extracted &R, ArrayRef<Function *> Hosts,
                       FunctionAnalysisManager &FAM) {
  Function &Body = *R.Body;
  SystemCalls Calls;
  DenseMap<const Function *, bool> Known;
  // True for functions whose loops or calls count where they are.
  auto CountsInPlace = [&](const CallBase &Call, Function &F) {
    auto [It, New] = Known.insert({&F, false});
    if (New)
      It->second = hasLoops(F) ||
                   (Calls.in(Call) == Makes::Sometimes && mostlyMakesCall(F));
    return It->second;
  };
  SmallVector<CallBase *, 16> All;
  for (Instruction &I : instructions(Body))
    if (auto *Call = dyn_cast<CallBase>(&I))
      All.push_back(Call);
  inlineCalls(All, [&](CallBase &Call) {
    Function *Callee = Call.getCalledFunction();
    // A function that holds a region counts for that one.
    if (!canInline(Body, Call) || is_contained(Hosts, Callee) ||
        !CountsInPlace(Call, *Callee) ||
        Body.getInstructionCount() + Callee->getInstructionCount() > MaxBody)
      return false;
    // Counters in memory are none to the analyses of loops.
    if (isAsWritten(*Callee))
      pinDivisions(*Callee);
    else
      normalizeFunction(*Callee, FAM);
    return true;
  });
}

/// Bytes of a local that is copied.  Copying more costs more than a compound
/// gains that ends soon.
static constexpr uint64_t MaxMoved = 32 << 10;

static std::optional<MovedLocal> movedLocal(Value &Local, const AllocaInst *A,
                                            bool IsHosts) {
  auto Size = A->getAllocationSize(A->getModule()->getDataLayout());
  if (!A->isStaticAlloca() || !Size || Size->isScalable() ||
      Size->getFixedValue() > MaxMoved || A->getAlign() > Align(16))
    return std::nullopt;
  std::optional<LocalPointers> Pointers = pointersInto(Local);
  if (!Pointers)
    return std::nullopt;
  return MovedLocal{std::move(*Pointers), Size->getFixedValue(), A->getAlign(),
                    IsHosts};
}

/// The locals that a loop's compound may have a copy of.
static SmallVector<MovedLocal, 4> movedLocals(const Extracted &R) {
  SmallVector<MovedLocal, 4> Ret;
  for (Instruction &I : R.Body->getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I))
      if (auto Local = movedLocal(*A, A, /*IsHosts=*/false))
        Ret.push_back(std::move(*Local));
  // When a compound is unwound or jumped out of, the host goes on with its own
  // locals, so they are not copied.
  if (R.Host->hasPersonalityFn() || R.Host->callsFunctionThatReturnsTwice())
    return Ret;
  for (unsigned I = 0; I < R.NumInputs; ++I)
    if (auto *A = dyn_cast<AllocaInst>(R.Call->getArgOperand(I));
        A && isKnownToRegionOnly(R, I))
      if (auto Local = movedLocal(*R.Body->getArg(I), A, /*IsHosts=*/true))
        Ret.push_back(std::move(*Local));
  return Ret;
}

Function *cosy::cloneTwin(Function &F, ValueToValueMapTy &Map) {
  Function *Twin = CloneFunction(&F, Map);
  Twin->setName(F.getName() + ".twin");
  Twin->setLinkage(GlobalValue::InternalLinkage);
  return Twin;
}

void cosy::mapSeldom(MutableArrayRef<SeldomCall> Calls,
                     ValueToValueMapTy &Map) {
  for (SeldomCall &S : Calls) {
    S.Call = cast<Instruction>(Map[S.Call]);
    if (S.Result)
      S.Result = Map[S.Result];
  }
}

void cosy::cloneRegionTwin(Extracted &R, ValueToValueMapTy &Map) {
  R.Twin = cloneTwin(*R.Body, Map);
  mapSeldom(R.Seldom, Map);
}

/// True if a loop ends at its head before a call: one more time than there are
/// iterations, control arrives there.
static bool endsAtHead(const Loop &L, LoopAnalyses &A) {
  const BasicBlock *Head = L.getHeader();
  return L.isLoopExiting(Head) && !A.mayMakeCall(*Head);
}

Value *cosy::keepMade(Function &Twin, BasicBlock *Head) {
  CountedLoops Analyses(Twin);
  const LoopInfo &LI = Analyses.LI;
  const Loop *L = LI.getLoopFor(Head);
  const auto &Skipped = Analyses.counts(*L).Skipped;
  if (!Skipped || (Skipped->empty() && !endsAtHead(*L, Analyses)))
    return nullptr;
  Type *Bool = Type::getInt1Ty(Twin.getContext());
  Constant *No = ConstantInt::getFalse(Bool);
  SSAUpdater Updater;
  Updater.Initialize(Bool, "cosy.made");
  Updater.AddAvailableValue(Head, No);
  for (BasicBlock *BB : L->blocks())
    if (LI.getLoopFor(BB) == L && Analyses.makesCall(*BB))
      Updater.AddAvailableValue(BB, ConstantInt::getTrue(Bool));
  SmallVector<BasicBlock *, 4> Preds(predecessors(Head));
  PHINode *Made =
      PHINode::Create(Bool, Preds.size(), "cosy.made", Head->begin());
  for (BasicBlock *Pred : Preds)
    Made->addIncoming(
        L->contains(Pred) ? Updater.GetValueAtEndOfBlock(Pred) : No, Pred);
  return Made;
}

static bool isHead(Function &F, const BasicBlock *BB) {
  DominatorTree DT(F);
  return LoopInfo(DT).isLoopHeader(BB);
}

std::vector<Extracted> cosy::enterLoops(Extracted &R,
                                        ArrayRef<BasicBlock *> Heads,
                                        const RegionCost &Cost) {
  std::vector<Extracted> Ret;
  if (Heads.empty())
    return Ret;
  ValueToValueMapTy Map;
  cloneRegionTwin(R, Map);
  PendingLosses Pending(R, Map);
  for (auto [Head, Loss] : Cost.Outer)
    Pending.keepAtInnerLoops(*Head, Loss);
  auto Outer = std::make_shared<Extracted>(R);
  LLVMContext &Ctx = R.Body->getContext();
  SmallVector<MovedLocal, 4> Locals = movedLocals(R);
  NumHeads += Heads.size();
  NumMoved += Locals.size();
  for (auto [Head, Around] : zip(Heads, Cost.Around)) {
    LoopEntry Loop(*R.Body, Head, R.NumInputs);
    Extracted E;
    E.Host = R.Twin;
    E.Body = E.Twin = Loop.create(Locals);
    E.NumInputs = Loop.Live.size();
    E.Outputs = R.Outputs;
    E.Line = R.Line;
    E.Where = R.Where;
    E.Outer = Outer;

    // head: phis; br (to be decided by emitHostCode) leave, E.Round
    auto *TwinHead = cast<BasicBlock>(Map[Head]);
    BasicBlock::iterator First = TwinHead->getFirstNonPHIIt();
    if (isHead(*R.Twin, TwinHead))
      E.Made = keepMade(*R.Twin, TwinHead);
    else
      E.Lost = Pending.keepAtCalls(*Head, Around);
    E.Round = SplitBlock(TwinHead, First);
    BasicBlock *Leave = BasicBlock::Create(Ctx, "cosy.leave", R.Twin, E.Round);
    TwinHead->getTerminator()->eraseFromParent();
    BranchInst::Create(Leave, E.Round, PoisonValue::get(Type::getInt1Ty(Ctx)),
                       TwinHead);
    SmallVector<Value *, 16> Args;
    for (Value *V : Loop.Live)
      Args.push_back(Map[V]);
    for (unsigned I = R.NumInputs; I < R.Twin->arg_size(); ++I)
      Args.push_back(R.Twin->getArg(I));
    IRBuilder<> B(Leave);
    if (DISubprogram *SP = R.Twin->getSubprogram())
      B.SetCurrentDebugLocation(
          DILocation::get(Ctx, SP->getScopeLine(), 0, SP));
    E.Call = B.CreateCall(E.Body, Args);
    if (E.Body->getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateRet(E.Call);
    Ret.push_back(E);
  }
  return Ret;
}

void cosy::dropLoopEntry(Extracted &Head) {
  BasicBlock *Leave = Head.Call->getParent();
  BasicBlock *TwinHead = Leave->getSinglePredecessor();
  TwinHead->getTerminator()->eraseFromParent();
  BranchInst::Create(Head.Round, TwinHead);
  DeleteDeadBlock(Leave);
  Head.Body->eraseFromParent();
  Head.Body = nullptr;
  Head.Call = nullptr;
}
