// SPDX-License-Identifier: MIT
//===- Loops.cpp - From the native twin's loops into the kernel -----------===//
//
// A region that is entered once and goes round for long would never get into
// the kernel if the twin could go there only at the entry.  So each loop that
// makes a call in every round gets a function of its own, compiled as one more
// compound: all of the region from the loop's head on.
//
//	twin:   head: i = phi ..              body.loop(inputs, i, .., outputs):
//	        if earned:                            goto head
//	          return body.loop(.., i, ..)   head: i = phi [i, entry], ..
//	        ...                                   ...
//
// What is alive at the head becomes an input, the region's own locals too: they
// stay in the twin's memory.  Loops of functions that the region calls become
// its own by inlining.  Since the rest includes what surrounds the loop,
// the head of an inner loop will do as well as that of an outer one.
//
//===----------------------------------------------------------------------===//
#include "Region.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;
using namespace cosy;

/// Heads of one region; each is a compound more.
static constexpr unsigned MaxHeads = 4;

namespace {
/// One loop's head of a region's body.
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

  Function *create() {
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
    enterAtHead(*F, Map);
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

  void enterAtHead(Function &F, ValueToValueMapTy &Map) {
    auto *HeadOfF = cast<BasicBlock>(Map[Head]);
    BasicBlock *Entry =
        BasicBlock::Create(F.getContext(), "cosy.entry", &F, &F.front());
    BranchInst::Create(HeadOfF, Entry);
    // A loop around this one comes back and defines some of them again.
    SmallVector<std::pair<Instruction *, Value *>, 8> Redefined;
    for (unsigned I = 0; I < Live.size(); ++I) {
      auto *Old = dyn_cast<Instruction>(Live[I]);
      if (!Old)
        continue;
      auto *New = cast<Instruction>(Map[Old]);
      if (Old->getParent() == Head)
        cast<PHINode>(New)->addIncoming(F.getArg(I), Entry);
      else if (!Rest.contains(Old->getParent()))
        New->replaceAllUsesWith(F.getArg(I));
      else
        Redefined.push_back({New, F.getArg(I)});
    }
    for (auto [New, Argument] : Redefined)
      mergeDefinitions(*New, Argument, Entry);
    // Do this last: it replaces phis that have one edge left.
    EliminateUnreachableBlocks(F);
  }

  static void mergeDefinitions(Instruction &Def, Value *Argument,
                               BasicBlock *Entry) {
    SSAUpdater Updater;
    Updater.Initialize(Def.getType(), Def.getName());
    Updater.AddAvailableValue(Entry, Argument);
    Updater.AddAvailableValue(Def.getParent(), &Def);
    for (Use &U : make_early_inc_range(Def.uses())) {
      auto *I = cast<Instruction>(U.getUser());
      if (I->getParent() != Def.getParent() || isa<PHINode>(I))
        Updater.RewriteUse(U);
    }
  }
};
} // namespace

SmallVector<BasicBlock *, 4> cosy::loopHeads(const Extracted &R) {
  // The twin's locals stay on its stack, and where AddressSanitizer says which
  // of them are in scope, the compound would use them without saying so.
  if (R.Body->hasFnAttribute(Attribute::SanitizeAddress))
    return {};
  DominatorTree DT(*R.Body);
  LoopInfo LI(DT);
  SmallVector<BasicBlock *, 4> Heads;
  for (const Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Head = L->getHeader();
    // In a loop without calls, counting would cost as much as the round.
    if (Heads.size() < MaxHeads && roundsMakeCalls(*L, LI) &&
        !Head->isEHPad() && LoopEntry(*R.Body, Head, R.NumInputs).canEnter())
      Heads.push_back(Head);
  }
  return Heads;
}

/// Instructions that a body may grow to by inlining.
static constexpr unsigned MaxInlined = 3000;

/// True if some loop of F, or of what F calls, makes a call in every round.
static bool hasHeads(Function &F, unsigned Depth = 0) {
  if (F.isDeclaration() || Depth > 4)
    return false;
  DominatorTree DT(F);
  LoopInfo LI(DT);
  if (any_of(LI.getLoopsInPreorder(),
             [&](const Loop *L) { return roundsMakeCalls(*L, LI); }))
    return true;
  return any_of(instructions(F), [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && Callee != &F && hasHeads(*Callee, Depth + 1);
  });
}

void cosy::inlineLoops(Extracted &R, ArrayRef<Function *> Hosts) {
  Function &Body = *R.Body;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Instruction &I : instructions(Body)) {
      auto *Call = dyn_cast<CallBase>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      // The host of another region counts by itself.
      if (!Callee || Callee == &Body || is_contained(Hosts, Callee) ||
          !hasHeads(*Callee) || !isInlineViable(*Callee).isSuccess() ||
          !AttributeFuncs::areInlineCompatible(Body, *Callee) ||
          Body.getInstructionCount() + Callee->getInstructionCount() >
              MaxInlined)
        continue;
      InlineFunctionInfo Info;
      if (InlineFunction(*Call, Info).isSuccess()) {
        Changed = true;
        break;
      }
    }
  }
}

static Function *cloneTwin(Function &Body, ValueToValueMapTy &Map) {
  Function *Twin = CloneFunction(&Body, Map);
  Twin->setName(Body.getName() + ".twin");
  Twin->setLinkage(GlobalValue::InternalLinkage);
  return Twin;
}

std::vector<Extracted> cosy::enterLoops(Extracted &R,
                                        ArrayRef<BasicBlock *> Heads) {
  std::vector<Extracted> Ret;
  if (Heads.empty())
    return Ret;
  ValueToValueMapTy Map;
  R.Twin = cloneTwin(*R.Body, Map);
  auto Outer = std::make_shared<Extracted>(R);
  LLVMContext &Ctx = R.Body->getContext();
  for (BasicBlock *Head : Heads) {
    LoopEntry Loop(*R.Body, Head, R.NumInputs);
    Extracted E;
    E.Host = R.Twin;
    E.Body = E.Twin = Loop.create();
    E.NumInputs = Loop.Live.size();
    E.Outputs = R.Outputs;
    E.Line = R.Line;
    E.Where = R.Where;
    E.Outer = Outer;

    // head: phis; br (to be decided by emitHostCode) leave, round
    auto *TwinHead = cast<BasicBlock>(Map[Head]);
    E.Round = SplitBlock(TwinHead, TwinHead->getFirstNonPHIIt());
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
