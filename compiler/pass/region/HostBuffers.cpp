// SPDX-License-Identifier: MIT
//===- HostBuffers.cpp - Buffers that a region is given -------------------===//
//
// Can anything but the region look at a buffer while the region runs?  Answered
// in the host's code, where the buffer is made.  A use that is not understood
// counts as a look.
//
//===----------------------------------------------------------------------===//
#include "region/HostBuffers.h"
#include "base/Names.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "calls/LibcFunctions.h"
#include "region/Extracted.h"
#include "region/Private.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"

using namespace llvm;
using namespace cosy;

static bool isSharedAllocation(const Value *V) {
  const auto *C = dyn_cast<CallBase>(V);
  if (!C)
    return false;
  StringRef Name = libcName(*C);
  return Name == "cosy_malloc" || Name == "cosy_calloc";
}

namespace {
/// Follows a host object to where its address could become known to others.
class HostObject {
  const Extracted &R;
  unsigned Input;
  TargetLibraryInfoImpl LibraryImpl;
  TargetLibraryInfo Library;
  SmallPtrSet<const Value *, 16> Seen;

  /// How many calls deep an argument is followed.
  static constexpr unsigned MaxDepth = 4;

public:
  HostObject(const Extracted &R, unsigned Input)
      : R(R), Input(Input),
        LibraryImpl(Triple(R.Host->getParent()->getTargetTriple())),
        Library(LibraryImpl) {}

  /// Returns what makes the address known to others; empty: nothing.  Site is
  /// the host's instruction that leads there, null while V is the host's own
  /// value.
  std::string whyKnown(Value *V, const Instruction *Site, unsigned Depth) {
    if (!Seen.insert(V).second)
      return "";
    for (Use &U : V->uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        return "the buffer's address is in a constant";
      std::string Why = visit(U, I, Site ? Site : I, Depth);
      if (!Why.empty())
        return Why;
    }
    return "";
  }

private:
  /// True if Site can run before the region or between two runs of it; later
  /// does not matter.
  bool matters(const Instruction *Site) const {
    return isPotentiallyReachable(Site, R.Call);
  }

  std::string visit(Use &U, Instruction *I, const Instruction *Site,
                    unsigned Depth) {
    if (isa<LoadInst>(I) || isa<ICmpInst>(I) || isa<MemIntrinsic>(I))
      return "";
    if (auto *S = dyn_cast<StoreInst>(I))
      return S->getPointerOperand() == U.get() && U.getOperandNo() == 1
                 ? ""
                 : known(Site, "the buffer's address is stored");
    if (isa<GetElementPtrInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I) ||
        isa<AddrSpaceCastInst>(I) || isa<FreezeInst>(I))
      return whyKnown(I, Depth ? Site : nullptr, Depth);
    if (auto *Call = dyn_cast<CallBase>(I))
      return visitCall(U, Call, Site, Depth);
    if (isa<ReturnInst>(I) && !Depth)
      return "";
    return known(Site, "the buffer's address is computed with");
  }

  std::string known(const Instruction *Site, const Twine &How) const {
    return matters(Site) ? How.str() : "";
  }

  std::string visitCall(Use &U, CallBase *Call, const Instruction *Site,
                        unsigned Depth) {
    if (!Call->isArgOperand(&U))
      return known(Site, "the buffer's address is called");
    unsigned Arg = Call->getArgOperandNo(&U);
    if (Call == R.Call)
      return Arg == Input ? ""
                          : "the region is given the buffer's address twice";
    auto *F = dyn_cast<Function>(Call->getCalledOperand());
    if (F && F->isIntrinsic()) {
      auto *Intr = cast<IntrinsicInst>(Call);
      return Intr->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(Intr) ||
                     Intr->isAssumeLikeIntrinsic()
                 ? ""
                 : known(Site, "the buffer's address is computed with");
    }
    if (F && !F->isDeclaration() && !F->isInterposable() && Depth < MaxDepth &&
        Arg < F->arg_size())
      return whyKnown(F->getArg(Arg), Site, Depth + 1);
    if (F && F->isDeclaration()) {
      StringRef Name = libcName(*Call);
      if (Name == "cosy_mem_free" || isFormat(*Call))
        return "";
      const Wrapper *W = findWrapper(Name);
      if (W && keepsAddress(W->Number))
        return known(Site, "'" + Name + "' may keep the buffer's address");
      if (W || Name == "cosy_is_shared")
        // memchr and its like return a pointer into it.
        return Call->getType()->isPointerTy()
                   ? whyKnown(Call, Depth ? Site : nullptr, Depth)
                   : "";
      AddressUse Use = useOfArgument(*Call, Arg);
      if (Use == AddressUse::Passing)
        return "";
      if (Use == AddressUse::Returned)
        return whyKnown(Call, Depth ? Site : nullptr, Depth);
      inferNonMandatoryLibFuncAttrs(*F, Library);
      if (Call->doesNotCapture(Arg))
        return "";
    }
    return known(Site, F ? formatv("'{0}' is given the buffer's address",
                                   shownName(F->getName()))
                               .str()
                         : std::string("an unknown function is given "
                                       "the buffer's address"));
  }
};
} // namespace

HostBuffer cosy::inputBuffer(const Extracted &R, unsigned Input) {
  HostBuffer Ret;
  Value *V = R.Call->getArgOperand(Input);
  // At a loop's head, look at what the region around it is given.
  if (auto *A = dyn_cast<Argument>(V); A && R.Outer) {
    Ret = inputBuffer(*R.Outer, A->getArgNo());
    if (Ret.WhyShared.empty())
      Ret.WhyShared = HostObject(R, Input).whyKnown(V, nullptr, 0);
    return Ret;
  }
  if (auto *A = dyn_cast<AllocaInst>(V)) {
    auto Size = A->getAllocationSize(R.Host->getDataLayout());
    Ret.Size = Size ? Size->getFixedValue() : 0;
    if (!A->isStaticAlloca())
      Ret.WhyShared = "the buffer is a variable length array";
  } else if (isSharedAllocation(V)) {
    auto *Call = cast<CallBase>(V);
    auto *Size = dyn_cast<ConstantInt>(Call->getArgOperand(0));
    Ret.Size = Size && Call->arg_size() == 1 ? Size->getZExtValue() : 0;
  } else if (isa<Argument>(V)) {
    Ret.WhyShared = "the buffer is the caller's";
  } else if (isa<LoadInst>(V)) {
    Ret.WhyShared = "the buffer's address is kept in memory";
  } else if (isa<CallBase>(V)) {
    Ret.WhyShared = "the buffer is not in the shared buffer: see cosy_malloc";
  } else {
    Ret.WhyShared = "the buffer's address is computed before the region";
  }
  if (Ret.WhyShared.empty())
    Ret.WhyShared = HostObject(R, Input).whyKnown(V, nullptr, 0);
  return Ret;
}

bool cosy::isKnownToRegionOnly(const Extracted &R, unsigned Input) {
  return inputBuffer(R, Input).WhyShared.empty();
}
