// SPDX-License-Identifier: MIT
//===- Buffers.cpp - What a compound does with a piece of memory ----------===//
//
// Answers two questions about a buffer.  Can anything but this region look at
// it while the region runs?  That is found in the host's code, where the buffer
// is made.  And what does the region itself do with it?  That is found in the
// compound's module.  A use that is not understood counts as a look.
//
//===----------------------------------------------------------------------===//
#include "lower/Buffers.h"
#include "calls/CallTable.h"
#include "calls/Names.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"

using namespace llvm;
using namespace cosy;

/// True for the result of a function that allocates in the shared buffer.
static bool isSharedAllocation(const Value *V) {
  const auto *C = dyn_cast<CallBase>(V);
  if (!C)
    return false;
  StringRef Name = libcName(*C);
  return Name == "cosy_malloc" || Name == "cosy_calloc";
}

//===----------------------------------------------------------------------===//
// In the host
//===----------------------------------------------------------------------===//

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

  /// Says what makes the address known to others; empty: nothing does.  Site is
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

/// A buffer that the region is given as an input.
static Buffer inputBuffer(const Extracted &R, unsigned Input) {
  Buffer Ret;
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

//===----------------------------------------------------------------------===//
// In the compound
//===----------------------------------------------------------------------===//

std::optional<uint64_t> cosy::fieldOf(const Value *V) {
  const auto *L = dyn_cast<LoadInst>(V);
  if (!L)
    return std::nullopt;
  int64_t Offset = 0;
  const Value *Base = GetPointerBaseWithConstantOffset(
      L->getPointerOperand(), Offset, L->getModule()->getDataLayout());
  const auto *Call = dyn_cast<CallInst>(Base);
  const Function *F = Call ? Call->getCalledFunction() : nullptr;
  if (!F || F->getName() != ContextName)
    return std::nullopt;
  return Offset;
}

Buffer cosy::bufferOf(BpfModule &B, const Extracted &R, const Compound &C,
                      Value *Pointer) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects, /*LI=*/nullptr, /*MaxLookup=*/0);
  Buffer Ret;
  if (Objects.size() != 1) {
    Ret.Roots.push_back(Pointer);
    Ret.Object = Pointer;
    Ret.WhyShared = "it is into one of several buffers";
    return Ret;
  }
  auto *Object = const_cast<Value *>(Objects[0]);
  if (std::optional<uint64_t> Field = fieldOf(Object)) {
    auto It = find(C.InputOffsets, unsigned(*Field));
    if (It != C.InputOffsets.end())
      Ret = inputBuffer(R, It - C.InputOffsets.begin());
    else
      Ret.WhyShared = "the buffer's address is kept in memory";
    for (Function &F : *B.M)
      for (BasicBlock &BB : F)
        for (Instruction &I : BB)
          if (fieldOf(&I) == Field)
            Ret.Roots.push_back(&I);
  } else {
    Ret.Roots.push_back(Object);
    if (auto *A = dyn_cast<AllocaInst>(Object)) {
      auto Size = A->getAllocationSize(B.M->getDataLayout());
      Ret.Size = Size ? Size->getFixedValue() : 0;
      // Another function's local is gone, and its memory reused, when it
      // returns.
      if (A->getFunction() != B.Main)
        Ret.WhyShared = "the buffer is of a function that is not inlined";
    } else if (isa<GlobalVariable>(Object)) {
      Ret.WhyShared = "a global is not in the shared buffer: see cosy_malloc";
    } else {
      Ret.WhyShared = "the buffer's address is not known";
    }
  }
  Ret.Object = Ret.Roots.front();
  return Ret;
}

/// True for operations that return a pointer into their first argument.
static bool returnsPart(uint32_t Number) {
  for (const char *Name :
       {"memchr", "memrchr", "memmem", "strchr", "strrchr", "strchrnul",
        "rawmemchr", "strcpy", "stpcpy", "strncpy"})
    if (Number == operationNumber(Name))
      return true;
  return false;
}

namespace {
/// Follows an object's address, as a pointer or as a number, through the
/// compound.
class UseFollower {
  BufferUses Uses;
  SmallPtrSet<Value *, 16> Seen;
  SmallVector<Value *, 16> Work;
  SmallVector<BinaryOperator *, 4> Differences;
  bool Masks = false; ///< Some values followed may be bits of an address.

public:
  BufferUses follow(const Buffer &Buf) {
    for (Value *Root : Buf.Roots)
      add(Root);
    do {
      while (!Work.empty())
        for (Use &U : Work.pop_back_val()->uses())
          visit(U);
      // The difference of two addresses of the object is no address.  That of
      // an address and another's low bits is one.
      erase_if(Differences, [&](BinaryOperator *Op) {
        return !Masks && Seen.contains(Op->getOperand(0)) &&
               Seen.contains(Op->getOperand(1));
      });
      for (BinaryOperator *Op : Differences)
        add(Op);
      Differences.clear();
    } while (!Work.empty());
    return std::move(Uses);
  }

private:
  void add(Value *V) {
    if (Seen.insert(V).second)
      Work.push_back(V);
  }

  void lose(Instruction *I, const Twine &Why) {
    if (Uses.Lost)
      return;
    Uses.Lost = I;
    Uses.WhyLost = Why.str();
  }

  void visit(Use &U) {
    auto *I = dyn_cast<Instruction>(U.getUser());
    if (!I || isa<ICmpInst>(I))
      return;
    if (auto *L = dyn_cast<LoadInst>(I))
      return visitAccess(L, L->getType(), L->isSimple());
    if (auto *S = dyn_cast<StoreInst>(I)) {
      if (U.getOperandNo() == 0)
        return lose(S, "the buffer's address is stored or leaves the region");
      return visitAccess(S, S->getValueOperand()->getType(), S->isSimple());
    }
    if (isa<GetElementPtrInst>(I) || isa<PHINode>(I) || isa<SelectInst>(I) ||
        isa<FreezeInst>(I) || isa<PtrToIntInst>(I) || isa<IntToPtrInst>(I))
      return add(I);
    if (auto *Op = dyn_cast<BinaryOperator>(I))
      return visitArithmetic(Op);
    if (auto *Call = dyn_cast<CallInst>(I))
      return visitCall(U, Call);
    lose(I, "the buffer's address is computed with");
  }

  void visitAccess(Instruction *I, Type *Ty, bool Simple) {
    uint64_t Size = I->getModule()->getDataLayout().getTypeStoreSize(Ty);
    if (!Simple)
      return lose(I, "a volatile or atomic access");
    if (Size > 8 || !isPowerOf2_64(Size) ||
        !(Ty->isIntegerTy() || Ty->isPointerTy()))
      return lose(I, "a floating-point access, or one of many bytes");
    if (!is_contained(Uses.Accesses, I))
      Uses.Accesses.push_back(I);
  }

  void visitArithmetic(BinaryOperator *Op) {
    switch (Op->getOpcode()) {
    case Instruction::Sub:
      if (!is_contained(Differences, Op) && !Seen.contains(Op))
        Differences.push_back(Op);
      return;
    case Instruction::And:
    case Instruction::Or:
      Masks = true;
      return add(Op);
    case Instruction::Add:
      return add(Op);
    default:
      return lose(Op, "the buffer's address is computed with");
    }
  }

  void addCall(CallInst *Call) {
    if (!is_contained(Uses.Calls, Call))
      Uses.Calls.push_back(Call);
  }

  void visitCall(Use &U, CallInst *Call) {
    uint32_t Number;
    if (auto *Mem = dyn_cast<MemIntrinsic>(Call)) {
      if (Mem->isVolatile())
        return lose(Mem, "a volatile access");
      if (!is_contained(Uses.Copies, Mem))
        Uses.Copies.push_back(Mem);
      return;
    }
    if (auto *Intr = dyn_cast<IntrinsicInst>(Call)) {
      if (Intr->isLifetimeStartOrEnd())
        Uses.Lifetimes.push_back(Intr);
      else if (Intr->getIntrinsicID() == Intrinsic::ptr_annotation)
        add(Intr);
      else if (!Intr->isAssumeLikeIntrinsic())
        lose(Intr, "the buffer's address is computed with");
      return;
    }
    // A call of six arguments takes addresses as numbers.
    if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
        Asm && isSixCall(*Asm))
      return addCall(Call);
    if (!isNumberedCall(Call->getCalledOperand(), Number))
      return lose(Call, "a function that is not inlined is given the "
                        "buffer's address");
    if (!U->getType()->isPointerTy())
      return lose(Call, "the buffer's address is computed with");
    addCall(Call);
    if (returnsPart(Number) && U.getOperandNo() == 0)
      add(Call);
  }
};
} // namespace

BufferUses cosy::usesOf(const Buffer &Buf) { return UseFollower().follow(Buf); }
