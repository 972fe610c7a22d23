// SPDX-License-Identifier: MIT
//===- PointerCalls.cpp - Calls by pointer become calls by name -----------===//
//
// A compound only holds the functions that it was compiled with.  So a call by
// pointer compares the pointer with the functions that it probably points to,
// and calls these by name:
//
//   %n = call i32 %f(ptr %p)     ->    %is = icmp eq ptr %f, @visit
//                                      br i1 %is, label %then, label %else
//                                    then:
//                                      %a = call i32 @visit(ptr %p)
//                                    else:
//                                      %b = call i32 %f(ptr %p)
//
// The functions are those that reach the call: through constant tables,
// variables of the file, locals, and arguments of functions of the file.  Where
// that is not known, they are all functions of that type whose address is
// taken, if they are few.  The call that is left is right for any other
// pointer; a compound leaves for it and comes back.
//
//===----------------------------------------------------------------------===//
#include "region/PointerCalls.h"
#include "calls/LibcCalls.h"
#include "calls/LibcFunctions.h"
#include "region/Markers.h"
#include "region/Region.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"

#define DEBUG_TYPE "cosy-pointer-calls"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumPromoted, "Number of calls by pointer promoted");
ALWAYS_ENABLED_STATISTIC(NumTargets, "Number of functions that they call");

/// Maximum number of functions that one call is promoted for.
static constexpr unsigned MaxTargets = 8;

/// Values that are looked at to find them.
static constexpr unsigned MaxLooks = 400;

namespace {
/// Bytes of an object: those at Offset, and if Strides is not empty, at sums of
/// it and multiples of the strides.
struct Place {
  Value *Object;
  int64_t Offset = 0;
  SmallVector<uint64_t, 2> Strides = {};

  /// True if something that lies at Other may be here.
  bool mayBe(int64_t Other) const {
    if (Strides.empty())
      return Other == Offset;
    // Only the innermost table's step tells places apart.
    uint64_t Step = *min_element(Strides);
    return Step == 0 || (Other - Offset) % int64_t(Step) == 0;
  }
  bool mayBe(const Place &Other) const {
    return Other.Strides.empty() ? mayBe(Other.Offset)
           : Strides.empty()     ? Other.mayBe(Offset)
                                 : true;
  }
};

/// Searches for the functions that a pointer may have.
class TargetSearch {
  const DataLayout &DL;
  SmallPtrSet<const Value *, 32> Seen;
  unsigned Looks = 0;

public:
  SmallSetVector<Function *, 8> Found;
  bool Complete = true;

  explicit TargetSearch(const Module &M) : DL(M.getDataLayout()) {}

  void addValue(Value *V) {
    V = V->stripPointerCasts();
    if (auto *F = dyn_cast<Function>(V)) {
      Found.insert(F);
      return;
    }
    if (isa<ConstantPointerNull, UndefValue>(V) || !Seen.insert(V).second)
      return;
    if (auto *Load = dyn_cast<LoadInst>(V)) {
      for (Value *Stored : loaded(Load->getPointerOperand()))
        addValue(Stored);
      return;
    }
    SmallVector<Value *, 4> Sources;
    if (!sourcesOf(V, Sources))
      Complete = false;
    for (Value *Source : Sources)
      addValue(Source);
  }

private:
  /// Counts the work.  False: it is enough.
  bool goesOn() {
    if (++Looks <= MaxLooks)
      return true;
    Complete = false;
    return false;
  }

  /// Finds the values of which V is one.  False: there may be others.
  bool sourcesOf(Value *V, SmallVectorImpl<Value *> &Sources) {
    if (!goesOn())
      return false;
    if (auto *Phi = dyn_cast<PHINode>(V)) {
      append_range(Sources, Phi->incoming_values());
      return true;
    }
    if (auto *Select = dyn_cast<SelectInst>(V)) {
      Sources.append({Select->getTrueValue(), Select->getFalseValue()});
      return true;
    }
    if (auto *Freeze = dyn_cast<FreezeInst>(V)) {
      Sources.push_back(Freeze->getOperand(0));
      return true;
    }
    if (auto *A = dyn_cast<GlobalAlias>(V)) {
      Sources.push_back(A->getAliasee());
      return !A->isInterposable();
    }
    auto *Arg = dyn_cast<Argument>(V);
    if (!Arg)
      return false;
    // All calls of a function of the file are here, if its address is not used.
    const Function &F = *Arg->getParent();
    bool All = F.hasLocalLinkage();
    for (const Use &U : F.uses()) {
      const auto *Call = dyn_cast<CallBase>(U.getUser());
      if (Call && Call->isCallee(&U) && Arg->getArgNo() < Call->arg_size())
        Sources.push_back(Call->getArgOperand(Arg->getArgNo()));
      else
        All = false;
    }
    return All;
  }

  /// Finds the places that a pointer may point to.
  SmallVector<Place, 4> placesOf(Value *Pointer) {
    SmallVector<Place, 4> Ret, Work;
    SmallPtrSet<const Value *, 16> Passed;
    Work.push_back({Pointer});
    while (!Work.empty()) {
      Place P = Work.pop_back_val();
      while (auto *GEP = dyn_cast<GEPOperator>(P.Object)) {
        MapVector<Value *, APInt> Variable;
        APInt Offset(DL.getIndexTypeSizeInBits(GEP->getType()), 0);
        if (!GEP->collectOffset(DL, Offset.getBitWidth(), Variable, Offset)) {
          Complete = false;
          break;
        }
        P.Offset += Offset.getSExtValue();
        for (const auto &[Index, Step] : Variable)
          P.Strides.push_back(Step.abs().getLimitedValue());
        P.Object = GEP->getPointerOperand();
      }
      if (isa<GlobalVariable, AllocaInst>(P.Object)) {
        Ret.push_back(P);
        continue;
      }
      if (isa<ConstantPointerNull, UndefValue>(P.Object) ||
          !Passed.insert(P.Object).second)
        continue;
      SmallVector<Value *, 4> Sources;
      if (auto *Load = dyn_cast<LoadInst>(P.Object))
        append_range(Sources, loaded(Load->getPointerOperand()));
      else if (!sourcesOf(P.Object, Sources))
        Complete = false;
      for (Value *Source : Sources)
        Work.push_back({Source, P.Offset, P.Strides});
    }
    return Ret;
  }

  /// Finds the values that a load from a pointer may give.
  SmallVector<Value *, 8> loaded(Value *Pointer) {
    SmallVector<Value *, 8> Ret;
    if (!goesOn())
      return Ret;
    for (const Place &P : placesOf(Pointer)) {
      auto *G = dyn_cast<GlobalVariable>(P.Object);
      if (G && G->hasDefinitiveInitializer())
        addInitial(*G->getInitializer(), 0, P, Ret);
      if (G && G->isConstant() && G->hasDefinitiveInitializer())
        continue;
      if (G && !G->hasLocalLinkage())
        Complete = false;
      addStored(*P.Object, P, Ret);
    }
    return Ret;
  }

  /// Adds the constants of an initialiser that lie where P is.
  void addInitial(Constant &C, int64_t At, const Place &P,
                  SmallVectorImpl<Value *> &Ret) {
    if (C.isNullValue() || !goesOn())
      return;
    if (C.getType()->isPointerTy()) {
      if (P.mayBe(At))
        Ret.push_back(&C);
      return;
    }
    if (auto *S = dyn_cast<ConstantStruct>(&C)) {
      const StructLayout *Layout = DL.getStructLayout(S->getType());
      for (unsigned I = 0; I < S->getNumOperands(); ++I)
        addInitial(*S->getOperand(I), At + Layout->getElementOffset(I), P, Ret);
    } else if (auto *A = dyn_cast<ConstantArray>(&C)) {
      int64_t Step = DL.getTypeAllocSize(A->getType()->getElementType());
      for (unsigned I = 0; I < A->getNumOperands(); ++I)
        addInitial(*A->getOperand(I), At + I * Step, P, Ret);
    }
  }

  /// Adds what is stored into an object where P is, as far as that can be seen.
  void addStored(Value &Object, const Place &P, SmallVectorImpl<Value *> &Ret) {
    SmallVector<Place, 8> Work;
    SmallPtrSet<const Value *, 16> Passed;
    Work.push_back({&Object});
    while (!Work.empty()) {
      Place At = Work.pop_back_val();
      for (Use &U : At.Object->uses()) {
        User *Who = U.getUser();
        if (!goesOn())
          return;
        if (auto *GEP = dyn_cast<GEPOperator>(Who)) {
          MapVector<Value *, APInt> Variable;
          APInt Offset(DL.getIndexTypeSizeInBits(GEP->getType()), 0);
          if (!GEP->collectOffset(DL, Offset.getBitWidth(), Variable, Offset)) {
            Complete = false;
            continue;
          }
          Place Next{GEP, At.Offset + Offset.getSExtValue(), At.Strides};
          for (const auto &[Index, Step] : Variable)
            Next.Strides.push_back(Step.abs().getLimitedValue());
          Work.push_back(Next);
        } else if (auto *Store = dyn_cast<StoreInst>(Who)) {
          if (U.getOperandNo() != StoreInst::getPointerOperandIndex())
            Complete = false; // its address is somewhere else
          else if (P.mayBe(At))
            Ret.push_back(Store->getValueOperand());
        } else if (auto *Call = dyn_cast<CallBase>(Who)) {
          addStoredByCall(*Call, U, At, P, Work, Ret);
        } else if (!isa<LoadInst, ICmpInst>(Who)) {
          Complete = false;
        }
      }
    }
  }

  /// Does the same for a call that is given the object's address.
  void addStoredByCall(CallBase &Call, const Use &U, const Place &At,
                       const Place &P, SmallVectorImpl<Place> &Work,
                       SmallVectorImpl<Value *> &Ret) {
    if (auto *I = dyn_cast<IntrinsicInst>(&Call);
        I && I->isLifetimeStartOrEnd())
      return;
    auto *Copy = dyn_cast<MemCpyInst>(&Call);
    if (Copy && U.getOperandNo() == 1)
      return; // the object is read
    auto *From =
        Copy ? dyn_cast<GlobalVariable>(Copy->getSource()->stripPointerCasts())
             : nullptr;
    if (From && From->isConstant() && From->hasDefinitiveInitializer()) {
      addInitial(*From->getInitializer(), At.Offset, P, Ret);
      return;
    }
    Function *F = Call.getCalledFunction();
    if (!F || F->isDeclaration() || F->isInterposable() ||
        !Call.isArgOperand(&U) || Call.getArgOperandNo(&U) >= F->arg_size()) {
      Complete = false;
      return;
    }
    Argument *Arg = F->getArg(Call.getArgOperandNo(&U));
    if (Arg->hasByValAttr())
      return;
    // Each function is looked at once, as if the object began there.
    if (Seen.insert(Arg).second)
      Work.push_back({Arg, At.Offset, At.Strides});
  }
};
} // namespace

/// True if the call may be made by F's name.
static bool canCall(const CallBase &Call, Function &F) {
  return F.getFunctionType() == Call.getFunctionType() && !F.isVarArg() &&
         !F.isIntrinsic() && !F.isInterposable() && !isForeign(F) &&
         !F.hasFnAttribute(Attribute::Naked) &&
         F.getCallingConv() == Call.getCallingConv() &&
         isLegalToPromote(Call, &F);
}

namespace {
/// The functions that a call by pointer probably calls.
struct Targets {
  SmallSetVector<Function *, 8> Functions;
  bool Complete = true; ///< It calls no other.
};
} // namespace

static Targets targetsOf(CallBase &Call) {
  TargetSearch Search(*Call.getModule());
  Search.addValue(Call.getCalledOperand());
  Targets Ret;
  Ret.Complete = Search.Complete;
  for (Function *F : Search.Found) {
    if (canCall(Call, *F))
      Ret.Functions.insert(F);
    else
      Ret.Complete = false;
  }
  if (!Search.Complete) {
    SmallSetVector<Function *, 8> Guessed = Ret.Functions;
    for (Function &F : *Call.getModule())
      if (!F.isDeclaration() && canCall(Call, F) && F.hasAddressTaken())
        Guessed.insert(&F);
    if (Guessed.size() <= MaxTargets)
      Ret.Functions = Guessed;
  }
  if (Ret.Functions.size() > MaxTargets)
    Ret.Functions.clear();
  return Ret;
}

/// The weight of the call that is left, against that of all others, if these
/// are guessed.
static constexpr unsigned GuessWeight = 20, KnownWeight = 1 << 20;

static void promote(CallBase &Call, const Targets &To) {
  MDBuilder Weights(Call.getContext());
  unsigned Left = To.Functions.size();
  for (Function *F : To.Functions) {
    // Each function is as probable as the others.
    unsigned Each = To.Complete ? KnownWeight : GuessWeight;
    promoteCallWithIfThenElse(
        Call, F, Weights.createBranchWeights(Each, (Left - 1) * Each + 1));
    --Left;
  }
  ++NumPromoted;
  NumTargets += To.Functions.size();
}

void cosy::promotePointerCalls(Function &F) {
  SmallSetVector<Function *, 16> Reached;
  SmallSetVector<CallBase *, 8> Calls;
  auto Look = [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Call && isByPointer(*Call) && !isa<CallBrInst>(Call) &&
        !Call->isMustTailCall() && !Call->hasOperandBundles())
      Calls.insert(Call);
    else if (Callee && !Callee->isDeclaration() && !Callee->isInterposable())
      Reached.insert(Callee);
  };
  anyRegion(F, [&](const Region &R) {
    for (BasicBlock *BB : R.Blocks)
      for (Instruction &I : *BB)
        Look(I);
    return false;
  });
  for (unsigned Next = 0, Call = 0;;) {
    for (; Next < Reached.size(); ++Next)
      // Another host's regions are promoted in its own turn.
      if (Reached[Next] != &F)
        for (Instruction &I : instructions(Reached[Next]))
          Look(I);
    if (Call == Calls.size())
      return;
    Targets To = targetsOf(*Calls[Call]);
    if (!To.Functions.empty())
      promote(*Calls[Call], To);
    for (Function *Target : To.Functions)
      if (!Target->isDeclaration())
        Reached.insert(Target);
    ++Call;
  }
}
