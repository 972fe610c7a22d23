// SPDX-License-Identifier: MIT
//===- Storage.cpp - Locals and globals find their place in the context ---===//
//
// The BPF stack holds spills alone, since its address may not be taken.  So
// the locals of the first function, and of called ones that do not recurse,
// live in the context above its fields, in the shared buffer; those of
// recursive functions on the software stack, except short ones
// (ShortLocals.cpp).  Globals stay where the host has
// them: their addresses are fields that it fills in at entry.  A constant
// table that is read in a loop comes to the shared buffer: a small one is
// copied into the context at each entry; libcosy keeps a copy of a larger one,
// up to a page.
//
//   define i64 @cosy.main(ptr %0) {        define i64 @cosy.main(ptr %0) {
//     %x = alloca [64 x i8]           ->     %x = getelementptr i8, ptr %0, ..
//     store i32 1, ptr @global               %at = getelementptr i8, ptr %0, ..
//                                            %g = load ptr, ptr %at
//                                            store i32 1, ptr %g
//
//===----------------------------------------------------------------------===//
#include "lower/Storage.h"
#include "base/Reason.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "lower/ShortLocals.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/FormatVariadic.h"
#include <linux/cosy.h>

#define DEBUG_TYPE "cosy-assign-storage"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumInContext, "Number of locals in the context");
ALWAYS_ENABLED_STATISTIC(NumOnStack, "Number of locals on the software stack");
ALWAYS_ENABLED_STATISTIC(NumAddresses,
                         "Number of globals whose addresses are fields");
ALWAYS_ENABLED_STATISTIC(NumTables,
                         "Number of constant tables copied into the context");
ALWAYS_ENABLED_STATISTIC(NumKept,
                         "Number of constant tables kept in the shared buffer");

/// Larger tables are cheaper to ask libcosy for than to copy per entry.
static constexpr uint64_t MaxTableSize = 512;
/// Even larger ones are reached where they are.
static constexpr uint64_t MaxKeptSize = 4096;

/// Maximum number of addresses that are loaded once, at the function's entry:
/// more would be spilled.
static constexpr unsigned MaxHoisted = 24;

static SmallVector<AllocaInst *, 8> allocasOf(Function &F) {
  SmallVector<AllocaInst *, 8> Allocas;
  for (Instruction &I : instructions(F))
    if (auto *A = dyn_cast<AllocaInst>(&I))
      Allocas.push_back(A);
  return Allocas;
}

/// Alignment that __cosy_enter and the operation alloca give.
static const Align ContextAlign(16);

/// Computes the first aligned address from P on.
static Value *alignUp(IRBuilder<> &B, Value *P, Align Alignment) {
  Value *Int = B.CreatePtrToInt(P, B.getInt64Ty());
  Int = B.CreateAdd(Int, B.getInt64(Alignment.value() - 1));
  return B.CreateIntToPtr(B.CreateAnd(Int, -Alignment.value()), B.getPtrTy());
}

static void placeInContext(BpfModule &B, ArrayRef<AllocaInst *> Allocas) {
  const DataLayout &DL = B.M->getDataLayout();
  NumInContext += Allocas.size();
  for (AllocaInst *A : Allocas) {
    uint64_t Size = A->getAllocationSize(DL)->getFixedValue();
    Align Alignment = A->getAlign();
    IRBuilder<> IB(A);
    Value *Place;
    if (Alignment <= ContextAlign) {
      Place = B.contextField(IB, B.allocateField(Size, Alignment));
    } else {
      unsigned Offset = B.allocateField(Size + Alignment.value(), ContextAlign);
      Place = alignUp(IB, B.contextField(IB, Offset), Alignment);
    }
    A->replaceAllUsesWith(Place);
    A->eraseFromParent();
  }
}

static void placeOnStack(BpfModule &B, Function &F,
                         ArrayRef<AllocaInst *> Allocas) {
  const DataLayout &DL = B.M->getDataLayout();
  NumOnStack += Allocas.size();
  uint64_t Total = 0;
  SmallVector<uint64_t, 8> Offsets;
  Align Largest = ContextAlign;
  for (AllocaInst *A : Allocas) {
    Total = alignTo(Total, A->getAlign());
    Offsets.push_back(Total);
    Total = alignTo(Total + A->getAllocationSize(DL)->getFixedValue(), 16);
    Largest = std::max(Largest, A->getAlign());
  }
  if (Largest > ContextAlign)
    Total += Largest.value();
  IRBuilder<> IB(&F.getEntryBlock(), F.getEntryBlock().begin());
  Value *Base = IB.CreateIntToPtr(
      B.createCall(IB, operationNumber("alloca"), {IB.getInt64(Total)}),
      IB.getPtrTy());
  if (Largest > ContextAlign)
    Base = alignUp(IB, Base, Largest);
  for (unsigned I = 0; I < Allocas.size(); ++I)
    Allocas[I]->replaceAllUsesWith(
        IB.CreateConstInBoundsGEP1_64(IB.getInt8Ty(), Base, Offsets[I]));
  for (AllocaInst *A : Allocas)
    A->eraseFromParent();
}

static void placeLocals(BpfModule &B, Function &F, Reasons &Why) {
  auto Allocas = allocasOf(F);
  for (AllocaInst *A : Allocas) {
    if (!A->isStaticAlloca())
      Why.push_back({"alloca() or a variable length array", A->getDebugLoc()});
  }
  if (Allocas.empty() || !Why.empty())
    return;
  if (F.hasFnAttribute(RecursiveAttr)) {
    auto Kept = partition(Allocas, [](const AllocaInst *A) {
      return A->hasMetadata(ShortLocalName);
    });
    placeInContext(B, ArrayRef(Allocas.begin(), Kept));
    Allocas.erase(Allocas.begin(), Kept);
    if (Allocas.empty())
      return;
    placeOnStack(B, F, Allocas);
  } else {
    placeInContext(B, Allocas);
  }
}

/// True if a constant is only read, at an address that is computed in a loop.
static bool
isTableOfLoops(GlobalVariable &G,
               DenseMap<Function *, std::unique_ptr<LoopInfo>> &Loops) {
  bool InLoop = false;
  SmallVector<Value *, 8> Work{&G};
  while (!Work.empty())
    for (User *U : Work.pop_back_val()->users()) {
      auto *I = dyn_cast<Instruction>(U);
      if (!I)
        return false;
      if (isa<GetElementPtrInst>(I)) {
        Work.push_back(I);
        continue;
      }
      if (!isa<LoadInst>(I))
        return false;
      auto &LI = Loops[I->getFunction()];
      if (!LI) {
        DominatorTree DT(*I->getFunction());
        LI = std::make_unique<LoopInfo>(DT);
      }
      InLoop |= LI->getLoopFor(I->getParent()) != nullptr;
    }
  return InLoop;
}

/// Returns the host's object of a global of the compound's module, and creates
/// there one that only LLVM knows (a merged constant).
static GlobalValue *hostObject(BpfModule &B, GlobalValue *G) {
  if (GlobalValue *Host = B.HostGlobals.lookup(G->getName()))
    return Host;
  auto *Var = dyn_cast<GlobalVariable>(G);
  if (!Var || !Var->isConstant() || !Var->hasInitializer() ||
      Var->getInitializer()->needsDynamicRelocation())
    return nullptr;
  auto *New = new GlobalVariable(B.Host, Var->getValueType(), true,
                                 GlobalValue::PrivateLinkage,
                                 Var->getInitializer(), "cosy.constant");
  New->setAlignment(Var->getAlign());
  B.HostGlobals[G->getName()] = New;
  return New;
}

namespace {
/// Replaces the uses of one global by what MakeValue builds before them.
class UseReplacer {
  DenseMap<Function *, std::unique_ptr<LoopInfo>> &Loops;
  DenseMap<std::pair<Function *, GlobalValue *>, Value *> Hoisted;
  DenseMap<Function *, unsigned> HoistedCount;

public:
  explicit UseReplacer(DenseMap<Function *, std::unique_ptr<LoopInfo>> &Loops)
      : Loops(Loops) {}

  void replace(Use &U, GlobalValue *G,
               function_ref<Value *(IRBuilder<> &)> MakeValue) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Phi = dyn_cast<PHINode>(I)) {
      // A phi needs equal values for equal incoming blocks.
      BasicBlock *From = Phi->getIncomingBlock(U);
      int First = Phi->getBasicBlockIndex(From);
      if (First >= 0 && unsigned(First) != U.getOperandNo() &&
          Phi->getIncomingValue(First) != G) {
        U.set(Phi->getIncomingValue(First));
        return;
      }
      I = From->getTerminator();
    }
    Value *V = valueAt(I, G, MakeValue);
    auto *Local = dyn_cast<IntrinsicInst>(U.getUser());
    if (Local && Local->getIntrinsicID() == Intrinsic::threadlocal_address) {
      Local->replaceAllUsesWith(V);
      Local->eraseFromParent();
      return;
    }
    U.set(V);
  }

private:
  Value *valueAt(Instruction *I, GlobalValue *G,
                 function_ref<Value *(IRBuilder<> &)> MakeValue) {
    Function *F = I->getFunction();
    auto &LI = Loops[F];
    if (!LI) {
      DominatorTree DT(*F);
      LI = std::make_unique<LoopInfo>(DT);
    }
    if (Value *V = Hoisted.lookup({F, G}))
      return V;
    if (LI->getLoopFor(I->getParent()) && HoistedCount[F] < MaxHoisted) {
      ++HoistedCount[F];
      IRBuilder<> EB(&F->getEntryBlock(), F->getEntryBlock().begin());
      return Hoisted[{F, G}] = MakeValue(EB);
    }
    IRBuilder<> IB(I);
    return MakeValue(IB);
  }
};
} // namespace

static void placeGlobals(BpfModule &B, Compound &C, Reasons &Why) {
  SmallVector<Constant *, 16> Globals;
  for (GlobalVariable &G : B.M->globals())
    if (!G.use_empty())
      Globals.push_back(&G);
  for (Function &F : *B.M)
    if (!F.isIntrinsic() && F.hasAddressTaken())
      Globals.push_back(&F);
  convertUsersOfConstantsToInstructions(Globals);

  DenseMap<Function *, std::unique_ptr<LoopInfo>> Loops;
  UseReplacer Replacer(Loops);
  for (Constant *K : Globals) {
    auto *G = cast<GlobalValue>(K);
    SmallVector<Use *, 16> Uses;
    for (Use &U : G->uses()) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      if (!(Call && Call->isCallee(&U)))
        Uses.push_back(&U);
    }
    if (Uses.empty())
      continue;
    GlobalValue *Host = hostObject(B, G);
    if (!Host ||
        any_of(Uses, [](Use *U) { return !isa<Instruction>(U->getUser()); })) {
      Why.push_back({("internal error: a use of " + G->getName()).str(), {}});
      continue;
    }
    auto *Table = dyn_cast<GlobalVariable>(Host);
    uint64_t Size =
        Table ? B.M->getDataLayout().getTypeAllocSize(Table->getValueType())
              : 0;
    bool IsTable = Table && Table->isConstant() &&
                   Table->hasDefinitiveInitializer() &&
                   !Table->isThreadLocal() && Size <= MaxKeptSize &&
                   isTableOfLoops(*cast<GlobalVariable>(G), Loops);
    if (IsTable && Size <= MaxTableSize) {
      unsigned Offset = B.allocateField(Size, Align(16));
      C.Tables.push_back({Table, Offset, unsigned(Size)});
      ++NumTables;
      for (Use *U : Uses)
        Replacer.replace(
            *U, G, [&](IRBuilder<> &IB) { return B.contextField(IB, Offset); });
      continue;
    }
    unsigned Offset = B.allocateField(8);
    if (IsTable) {
      C.Tables.push_back({Table, Offset, 0});
      ++NumKept;
    } else {
      C.Addresses.push_back({Host, Offset});
      ++NumAddresses;
    }
    for (Use *U : Uses)
      Replacer.replace(*U, G, [&](IRBuilder<> &IB) {
        return B.loadField(IB, IB.getPtrTy(), Offset);
      });
  }
}

/// Puts r1 in the context's place in the first function; in the others an
/// operation, once.
static void placeContext(BpfModule &B) {
  Function *Placeholder = B.M->getFunction(ContextName);
  if (!Placeholder)
    return;
  // Drop what LLVM inferred while the context was no memory.
  B.Main->setAttributes(
      B.Main->getAttributes().removeParamAttributes(B.Main->getContext(), 0));
  for (Function &F : *B.M)
    if (!F.isDeclaration())
      F.removeFnAttr(Attribute::Memory);
  DenseMap<Function *, Value *> Context;
  Context[B.Main] = B.Main->getArg(0);
  for (User *U : make_early_inc_range(Placeholder->users())) {
    auto *Call = cast<CallInst>(U);
    Function *F = Call->getFunction();
    Value *&V = Context[F];
    if (!V) {
      IRBuilder<> IB(&F->getEntryBlock(), F->getEntryBlock().begin());
      V = IB.CreateIntToPtr(B.createCall(IB, operationNumber("ctx"), {}),
                            IB.getPtrTy());
    }
    Call->replaceAllUsesWith(V);
    Call->eraseFromParent();
  }
  Placeholder->eraseFromParent();
}

void cosy::assignStorage(BpfModule &B, Compound &C, Reasons &Why) {
  for (Function &F : *B.M)
    if (!F.isDeclaration())
      placeLocals(B, F, Why);
  placeGlobals(B, C, Why);
  placeContext(B);
  C.ContextSize = alignTo(B.ContextSize, 16);
  if (C.ContextSize > COSY_MAX_BUFFER / 2)
    Why.push_back(
        {formatv("its locals take more than {0} MB", COSY_MAX_BUFFER / 2 >> 20),
         {}});
  for (GlobalVariable &G : make_early_inc_range(B.M->globals()))
    if (G.use_empty())
      G.eraseFromParent();
}
