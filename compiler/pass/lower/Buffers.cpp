// SPDX-License-Identifier: MIT
//===- Buffers.cpp - What a compound does with a piece of memory ----------===//
//
// What the region does with a buffer, found in the compound's module.  Whether
// others can look at it is answered by region/HostBuffers.cpp.
//
//===----------------------------------------------------------------------===//
#include "lower/Buffers.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "lower/Operations.h"
#include "region/Extracted.h"
#include "region/HostBuffers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"

using namespace llvm;
using namespace cosy;

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
      static_cast<HostBuffer &>(Ret) =
          inputBuffer(R, It - C.InputOffsets.begin());
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
    if (pointsIntoArgument(Number) && U.getOperandNo() == 0)
      add(Call);
  }
};
} // namespace

BufferUses cosy::usesOf(const Buffer &Buf) { return UseFollower().follow(Buf); }
