// SPDX-License-Identifier: MIT
//===- Private.cpp - Locals whose address nobody else can know ------------===//
//
// A local may be somewhere else while a region runs if its address is used for
// nothing but loads, stores, comparisons, and arguments of functions that do
// not keep it.  Then all pointers into it are also known: none is in memory.
//
//   char buf[64], *p = buf;                 buf, p
//   p = memchr(buf, 'x', read(0, buf, 64))  and this p
//
//===----------------------------------------------------------------------===//
#include "region/Private.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "calls/LibcFunctions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace cosy;

namespace {
/// Follows a local's address to everything that is computed from it.
class Follower {
  LocalPointers Pointers;
  SmallVector<PtrToIntInst *, 4> Numbers;

  /// Functions into which an argument is followed, one from the other.
  static constexpr unsigned MaxDepth = 4;

public:
  std::optional<LocalPointers> follow(Value &Local, unsigned Depth) {
    Pointers.insert(&Local);
    for (unsigned I = 0; I < Pointers.size(); ++I)
      for (Use &U : Pointers[I]->uses())
        if (!visit(U, Depth))
          return std::nullopt;
    if (!all_of(Pointers, [&](Value *V) { return V == &Local || isPure(V); }) ||
        !all_of(Numbers, [&](PtrToIntInst *N) { return isDifference(N); }))
      return std::nullopt;
    return std::move(Pointers);
  }

private:
  /// True if a pointer is into this local, or null, whichever way it came.
  bool isPure(const Value *V) const {
    auto Into = [&](const Value *Operand) {
      return isa<ConstantPointerNull>(Operand) || isa<UndefValue>(Operand) ||
             Pointers.contains(const_cast<Value *>(Operand));
    };
    if (const auto *Phi = dyn_cast<PHINode>(V))
      return all_of(Phi->incoming_values(), Into);
    if (const auto *S = dyn_cast<SelectInst>(V))
      return Into(S->getTrueValue()) && Into(S->getFalseValue());
    return true;
  }

  /// True if an address as a number is only compared, or one of two in the same
  /// object whose difference is taken.
  bool isDifference(PtrToIntInst *N) const {
    return all_of(N->users(), [&](User *U) {
      if (isa<ICmpInst>(U))
        return true;
      auto *Op = dyn_cast<BinaryOperator>(U);
      return Op && Op->getOpcode() == Instruction::Sub &&
             isAddress(Op->getOperand(0)) && isAddress(Op->getOperand(1));
    });
  }

  bool isAddress(Value *V) const {
    auto *N = dyn_cast<PtrToIntInst>(V);
    return N && Pointers.contains(N->getPointerOperand());
  }

  /// False: somebody may know the address from here on.
  bool visit(Use &U, unsigned Depth) {
    auto *I = dyn_cast<Instruction>(U.getUser());
    if (!I)
      return false;
    if (auto *L = dyn_cast<LoadInst>(I))
      return !L->isVolatile();
    if (auto *S = dyn_cast<StoreInst>(I))
      return !S->isVolatile() &&
             U.getOperandNo() == StoreInst::getPointerOperandIndex();
    if (isa<ICmpInst>(I))
      return true;
    if (auto *N = dyn_cast<PtrToIntInst>(I)) {
      Numbers.push_back(N);
      return true;
    }
    if (isa<GetElementPtrInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I) ||
        isa<FreezeInst>(I)) {
      Pointers.insert(I);
      return true;
    }
    auto *Call = dyn_cast<CallBase>(I);
    return Call && visitCall(U, *Call, Depth);
  }

  bool visitCall(Use &U, CallBase &Call, unsigned Depth) {
    if (auto *Intr = dyn_cast<IntrinsicInst>(&Call)) {
      if (auto *Mem = dyn_cast<MemIntrinsic>(Intr))
        return !Mem->isVolatile();
      return Intr->isLifetimeStartOrEnd() || Intr->isAssumeLikeIntrinsic();
    }
    if (!Call.isArgOperand(&U))
      return false;
    unsigned Arg = Call.getArgOperandNo(&U);
    auto *F = dyn_cast<Function>(Call.getCalledOperand());
    if (F && !F->isDeclaration())
      return !F->isInterposable() && Depth < MaxDepth && Arg < F->arg_size() &&
             Follower().follow(*F->getArg(Arg), Depth + 1).has_value();
    // It keeps none of its addresses, and returns none.
    if (isFormat(Call))
      return true;
    const Wrapper *W = findWrapper(libcName(Call));
    if (!W || Arg >= StringRef(W->Args).size() ||
        !StringRef("prP").contains(W->Args[Arg]) || keepsAddress(W->Number))
      return false;
    // memchr and its like return a part of what they are given first.
    if (Call.getType()->isPointerTy() && Arg == 0)
      Pointers.insert(&Call);
    return true;
  }
};
} // namespace

std::optional<LocalPointers> cosy::pointersInto(Value &Local) {
  return Follower().follow(Local, 0);
}
