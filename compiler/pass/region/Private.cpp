// SPDX-License-Identifier: MIT
//===- Private.cpp - Locals whose address nobody else can know ------------===//
//
// A local may be somewhere else while a region runs if its address is used for
// nothing but loads, stores, comparisons, and arguments of functions that do
// not keep it.  Then all pointers into it are also known: none is in memory.
//
//   char buf[64], *p = buf;                 buf, p
//   p = memchr(buf, 'x', read(0, buf, 64))  and this p
//   p = after_blanks(p)                     and this one, if the function
//                                           returns a pointer into its argument
//
// Of functions of libc's with a body in runtime/, the body is followed.
//
//===----------------------------------------------------------------------===//
#include "region/Private.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "calls/LibcCalls.h"
#include "calls/LibcFunctions.h"
#include "calls/RuntimeBodies.h"
#include "region/Normalize.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace cosy;

namespace {
/// Follows a local's address to everything that is computed from it.
class Follower {
  LocalPointers Pointers;
  SmallVector<PtrToIntInst *, 4> Numbers;
  bool Returned = false; ///< A function returns such a pointer.

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
        !all_of(Numbers, [&](PtrToIntInst *N) { return isDifference(N); }) ||
        (Returned && !returnsPure(*cast<Argument>(Local).getParent())))
      return std::nullopt;
    return std::move(Pointers);
  }

  /// Follows an argument of a function.
  AddressUse followArgument(Argument &A, unsigned Depth) {
    if (!follow(A, Depth))
      return AddressUse::Unknown;
    return Returned ? AddressUse::Returned : AddressUse::Passing;
  }

private:
  /// True for such a pointer, for null, and for what is only chosen from these.
  bool isInto(const Value *V, SmallPtrSetImpl<const Value *> &Seen) const {
    return isa<ConstantPointerNull>(V) || isa<UndefValue>(V) ||
           Pointers.contains(const_cast<Value *>(V)) ||
           !Seen.insert(V).second ||
           (isa<PHINode, SelectInst>(V) && choosesInto(V, Seen));
  }

  bool isInto(const Value *V) const {
    SmallPtrSet<const Value *, 8> Seen;
    return isInto(V, Seen);
  }

  /// True if a phi or a select has nothing else to choose from.
  bool choosesInto(const Value *V, SmallPtrSetImpl<const Value *> &Seen) const {
    auto Into = [&](const Value *Operand) { return isInto(Operand, Seen); };
    if (const auto *Phi = dyn_cast<PHINode>(V))
      return all_of(Phi->incoming_values(), Into);
    const auto *S = cast<SelectInst>(V);
    return Into(S->getTrueValue()) && Into(S->getFalseValue());
  }

  /// True if a pointer is into this local, or null, whichever way it came.
  bool isPure(const Value *V) const {
    SmallPtrSet<const Value *, 8> Seen;
    return !isa<PHINode, SelectInst>(V) || choosesInto(V, Seen);
  }

  /// True if a function returns such pointers, or null, and nothing else.
  bool returnsPure(const Function &F) const {
    return all_of(F, [&](const BasicBlock &BB) {
      const auto *Return = dyn_cast<ReturnInst>(BB.getTerminator());
      return !Return || isInto(Return->getReturnValue());
    });
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
    if (isa<ReturnInst>(I) && Depth) {
      Returned = true;
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
    AddressUse Use = useIn(Call, Arg, Depth);
    if (Use == AddressUse::Returned)
      Pointers.insert(&Call);
    return Use != AddressUse::Unknown;
  }

  AddressUse useIn(CallBase &Call, unsigned Arg, unsigned Depth) {
    auto *F = dyn_cast<Function>(Call.getCalledOperand());
    if (!F || F->isDeclaration())
      return useOfArgument(Call, Arg);
    if (F->isInterposable() || Depth >= MaxDepth || Arg >= F->arg_size())
      return AddressUse::Unknown;
    return Follower().followArgument(*F->getArg(Arg), Depth + 1);
  }
};
} // namespace

/// Returns what the bodies in runtime/ do with their arguments, by the names of
/// the functions of libc's that they are for.
static const StringMap<SmallVector<AddressUse, 4>> &usesInRuntime() {
  static const StringMap<SmallVector<AddressUse, 4>> Uses = [] {
    StringMap<SmallVector<AddressUse, 4>> Found;
    LLVMContext Ctx;
    std::unique_ptr<Module> Runtime = runtimeBodies(Ctx);
    for (Function &F : *Runtime)
      if (!F.isDeclaration())
        promoteLocals(F);
    for (Function &F : *Runtime) {
      StringRef Name = F.getName();
      if (F.isDeclaration() || !Name.consume_front(RuntimePrefix))
        continue;
      for (Argument &A : F.args())
        Found[Name].push_back(A.getType()->isPointerTy()
                                  ? Follower().followArgument(A, 1)
                                  : AddressUse::Unknown);
    }
    return Found;
  }();
  return Uses;
}

/// True for a call that only writes to standard error what it is given.
static bool printsError(const CallBase &Call) {
  return reportsError(Call) && !Call.getType()->isPointerTy() &&
         !is_contained({"setbuf", "setbuffer", "setvbuf"}, libcName(Call));
}

/// True for the function of libc's that a body of runtime/ is for: the body
/// leaves some cases to it.
static bool leavesTo(const Function &Body, StringRef Name) {
  StringRef For = Body.getName();
  if (!For.consume_front(RuntimePrefix))
    return false;
  return For == Name ||
         (For.consume_front("__") && For.consume_back("_chk") && For == Name);
}

AddressUse cosy::useOfArgument(const CallBase &Call, unsigned Arg) {
  StringRef Name = libcName(Call);
  if (isFormat(Call) || printsError(Call))
    return AddressUse::Passing;
  if (Name == "syscall") {
    const auto *Number = dyn_cast<ConstantInt>(Call.getArgOperand(0));
    return Arg && Number && !keepsArgument(Number->getZExtValue(), Arg - 1)
               ? AddressUse::Passing
               : AddressUse::Unknown;
  }
  if (!isOfRuntime(*Call.getFunction()) && isInRuntime(Name)) {
    ArrayRef<AddressUse> Uses = usesInRuntime().find(Name)->second;
    return Arg < Uses.size() ? Uses[Arg] : AddressUse::Unknown;
  }
  const Wrapper *W = findWrapper(Name);
  if (!leavesTo(*Call.getFunction(), Name) &&
      (!W || Arg >= StringRef(W->Args).size() ||
       !StringRef("prP").contains(W->Args[Arg]) || keepsAddress(W->Number)))
    return AddressUse::Unknown;
  // memchr and its like return a part of what they are given first.
  return Call.getType()->isPointerTy() && Arg == 0 ? AddressUse::Returned
                                                   : AddressUse::Passing;
}

std::optional<LocalPointers> cosy::pointersInto(Value &Local) {
  return Follower().follow(Local, 0);
}
