// SPDX-License-Identifier: MIT
//===- EarlyReturns.cpp - Calls that return at once -----------------------===//
//
// A local call costs about 300 instructions, since its frame is in user memory.
// Functions that recurse often return at once: at a null pointer, at a node
// that was visited.  Their callers make that test first:
//
//   %r = call i32 @check(ptr %n)   ->    %visited = load i32, ptr %n
//                                        %now = icmp ne i32 %visited, 0
//                                        br i1 %now, label %quick, label %slow
//                                      quick:
//                                        %dirty = load i32, ptr %at
//                                        br label %end
//                                      slow:
//                                        %r = call i32 @check(ptr %n)
//
// The function makes the test once more.
//
//===----------------------------------------------------------------------===//
#include "lower/EarlyReturns.h"
#include "calls/Callees.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#define DEBUG_TYPE "cosy-inline-early-returns"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumCalls, "Number of calls before which callers test");

/// Instructions of a test and of the way to the return.
static constexpr unsigned MaxCopied = 10;
/// Instructions that all calls of a function get.
static constexpr unsigned MaxAdded = 60;

namespace {
/// The way of a function that returns at once.
struct EarlyReturn {
  BranchInst *Test;
  bool WhenTrue; ///< It returns if the condition is true.
  /// The blocks from the test to the return.
  SmallVector<BasicBlock *, 4> Way;
  unsigned Size = 0;
};
} // namespace

/// True for an instruction that a caller may do in its callee's place, perhaps
/// twice.  A division may have to raise a signal, but LLVM may fold a copy of
/// it, whose operands are better known.
static bool isCopied(const Instruction &I) {
  if (I.isIntDivRem())
    return false;
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->isSimple();
  return isa<BinaryOperator, CastInst, CmpInst, GetElementPtrInst, SelectInst,
             PHINode, FreezeInst>(I);
}

/// Counts a block's instructions up to its end; nullopt: not all can be copied.
static std::optional<unsigned> sizeOf(const BasicBlock &BB) {
  unsigned Ret = 0;
  for (const Instruction &I : BB) {
    if (I.isTerminator() || isa<AllocaInst>(I))
      continue;
    if (!isCopied(I) ||
        any_of(I.operands(), [](const Use &U) { return isa<AllocaInst>(U); }))
      return std::nullopt;
    ++Ret;
  }
  return Ret;
}

/// Follows a way that no test is on.  False: it leads to no return.
static bool findWay(BasicBlock *BB, EarlyReturn &Of) {
  for (; BB; BB = BB->getSingleSuccessor()) {
    std::optional<unsigned> Size = sizeOf(*BB);
    if (!Size || is_contained(Of.Way, BB))
      return false;
    Of.Size += *Size;
    Of.Way.push_back(BB);
    if (isa<ReturnInst>(BB->getTerminator()))
      return Of.Size <= MaxCopied;
  }
  return false;
}

static std::optional<EarlyReturn> findEarlyReturn(Function &F) {
  BasicBlock &Entry = F.getEntryBlock();
  auto *Test = dyn_cast<BranchInst>(Entry.getTerminator());
  std::optional<unsigned> Size = sizeOf(Entry);
  if (!Test || !Test->isConditional() || !Size)
    return std::nullopt;
  for (unsigned I : {0, 1}) {
    EarlyReturn Ret{Test, I == 0, {}, *Size};
    if (findWay(Test->getSuccessor(I), Ret))
      return Ret;
  }
  return std::nullopt;
}

/// Copies a block's instructions to before another; From: the block before it.
static void copyBlock(BasicBlock &BB, BasicBlock *From, Instruction *Before,
                      ValueToValueMapTy &Map) {
  for (Instruction &I : BB) {
    if (I.isTerminator() || isa<AllocaInst>(I))
      continue;
    if (auto *Phi = dyn_cast<PHINode>(&I)) {
      Value *V = Phi->getIncomingValueForBlock(From);
      Value *Copy = Map.lookup(V);
      Map[Phi] = Copy ? Copy : V;
      continue;
    }
    Instruction *Copy = I.clone();
    Copy->insertBefore(Before->getIterator());
    Copy->setDebugLoc(Before->getDebugLoc());
    RemapInstruction(Copy, Map,
                     RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Map[&I] = Copy;
  }
}

/// Has a call's caller make the test.
static void testBefore(CallInst &Call, const EarlyReturn &Of) {
  Function &F = *Call.getCalledFunction();
  ValueToValueMapTy Map;
  for (Argument &A : F.args())
    Map[&A] = Call.getArgOperand(A.getArgNo());
  copyBlock(F.getEntryBlock(), nullptr, &Call, Map);
  Value *Condition = Of.Test->getCondition();
  if (Value *Copy = Map.lookup(Condition))
    Condition = Copy;
  BasicBlock *Head = Call.getParent();
  BasicBlock *Slow = SplitBlock(Head, &Call);
  BasicBlock *End = SplitBlock(Slow, Call.getNextNode());
  BasicBlock *Quick =
      BasicBlock::Create(F.getContext(), "quick", Head->getParent(), Slow);
  BranchInst *Last = BranchInst::Create(End, Quick);
  Last->setDebugLoc(Call.getDebugLoc());
  Head->getTerminator()->eraseFromParent();
  auto *Test = BranchInst::Create(Of.WhenTrue ? Quick : Slow,
                                  Of.WhenTrue ? Slow : Quick, Condition, Head);
  Test->setDebugLoc(Call.getDebugLoc());
  const BasicBlock *From = &F.getEntryBlock();
  for (BasicBlock *BB : Of.Way) {
    copyBlock(*BB, const_cast<BasicBlock *>(From), Last, Map);
    From = BB;
  }
  if (Call.getType()->isVoidTy())
    return;
  Value *Result =
      cast<ReturnInst>(Of.Way.back()->getTerminator())->getReturnValue();
  if (Value *Copy = Map.lookup(Result))
    Result = Copy;
  PHINode *Phi = PHINode::Create(Call.getType(), 2, "", End->begin());
  Call.replaceAllUsesWith(Phi);
  Phi->addIncoming(Result, Quick);
  Phi->addIncoming(&Call, Slow);
}

void cosy::inlineEarlyReturns(BpfModule &B) {
  for (Function &F : *B.M) {
    if (F.isDeclaration() || &F == B.Main || F.isVarArg())
      continue;
    std::optional<EarlyReturn> Of = findEarlyReturn(F);
    SmallVector<CallInst *, 8> Calls;
    for (CallBase *Each : callsOf(F))
      if (auto *C = dyn_cast<CallInst>(Each);
          C && C->getCalledFunction() == &F && C->arg_size() == F.arg_size())
        Calls.push_back(C);
    if (!Of || Calls.size() * Of->Size > MaxAdded)
      continue;
    NumCalls += Calls.size();
    for (CallInst *C : Calls)
      testBefore(*C, *Of);
  }
}
