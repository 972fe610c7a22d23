// SPDX-License-Identifier: MIT
//===- Strings.cpp - Operations on short strings, expanded in place -------===//
//
// An operation on a string or on memory costs 150 to 400 instructions, most of
// them on the way into C and out again.  Where one is in a loop, or in a
// function that is called, runtime/strings.c's body for it is put in its
// place.  That does what is short in a few instructions, and leaves the rest to
// the operation:
//
//   %n = call i64 @__cosy_call.65547.p(ptr %s)       ; strlen
//
// becomes
//
//   %w = load i64, ptr %s  ; and, if no byte of it and of the next word is 0:
//   %n = call i64 @__cosy_call.65547.p(ptr %rest)
//
// Operations on a view stay as they are, since loads do not see it.
//
//===----------------------------------------------------------------------===//
#include "lower/Strings.h"
#include "calls/CallTable.h"
#include "calls/RuntimeBodies.h"
#include "calls/ShortStrings.h"
#include "lower/BpfModule.h"
#include "lower/Buffers.h"
#include "lower/Compound.h"
#include "lower/LowerCalls.h"
#include "lower/Optimize.h"
#include "lower/Runtime.h"
#include "region/Extracted.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#define DEBUG_TYPE "cosy-expand-strings"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumExpanded, "Number of operations expanded in place");

/// Every instruction costs at LOAD, so a compound gets no more than this.
static constexpr unsigned MaxSites = 24;

/// Bytes that memcmp compares in place at most.
static constexpr uint64_t MaxCompare = 16;

static constexpr char Prefix[] = "__cosy_strings_";

namespace {
class StringExpander {
  BpfModule &B;
  const Extracted &R;
  const Compound &C;
  std::unique_ptr<Module> Bodies;
  SmallPtrSet<const Instruction *, 16> OfViews;
  unsigned Sites = 0;

public:
  StringExpander(BpfModule &B, const Extracted &R, const Compound &C)
      : B(B), R(R), C(C), Bodies(stringBodies(B.M->getContext())) {}

  void run() {
    if (!findViews())
      return;
    for (CallInst *Call : candidates()) {
      if (Sites == MaxSites)
        break;
      Sites += putInPlace(Call);
    }
    if (!Sites)
      return;
    NumExpanded += Sites;
    inlineAll();
  }

private:
  /// Records which operations are on views; false if some cannot be known.
  bool findViews() {
    for (Function &F : *B.M)
      for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallInst>(&I);
        uint32_t Number;
        if (!Call || !isNumberedCall(Call->getCalledOperand(), Number) ||
            (Number != operationNumber("view_read") &&
             Number != operationNumber("view_pread")))
          continue;
        Buffer Buf = bufferOf(B, R, C, Call->getArgOperand(1));
        BufferUses Uses = usesOf(Buf);
        if (!Buf.WhyShared.empty() || Uses.Lost)
          return false;
        OfViews.insert(Uses.Calls.begin(), Uses.Calls.end());
      }
    return true;
  }

  /// Returns calls that are in a loop, or in a function that is called.
  SmallVector<CallInst *, 16> candidates() {
    SmallVector<CallInst *, 16> Found;
    for (Function &F : *B.M) {
      if (F.isDeclaration())
        continue;
      DominatorTree DT(F);
      LoopInfo LI(DT);
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I);
            Call && !OfViews.contains(Call) &&
            (&F != B.Main || LI.getLoopFor(Call->getParent())))
          Found.push_back(Call);
    }
    return Found;
  }

  /// The part of a comparison's result that the program uses, as in strings.c.
  enum Order { Equality, Sign, Difference };

  /// True for the bits of an int, or its sign, where LLVM has made a mask of
  /// the truncation.
  static bool isInt(const Value *Result, const User *U, uint64_t Bits) {
    return match(U, m_And(m_Specific(Result), m_SpecificInt(Bits)));
  }

  static Order orderOf(const Value *Result) {
    Order Needed = Equality;
    for (const User *U : Result->users()) {
      Order Of = Difference;
      if (isa<TruncInst>(U))
        Of = orderOf(U);
      else if (isInt(Result, U, UINT32_MAX) && orderOf(U) == Equality)
        Of = Equality;
      else if (isInt(Result, U, uint64_t(1) << 31) && orderOf(U) == Equality)
        Of = Sign;
      else if (const auto *Test = dyn_cast<ICmpInst>(U);
               Test && match(Test->getOperand(1), m_Zero()))
        Of = Test->isEquality() ? Equality
             : Test->isSigned() ? Sign
                                : Difference;
      Needed = std::max(Needed, Of);
    }
    return Needed;
  }

  /// Calls a function of strings.c and makes its result what the call's was.
  bool replace(CallInst *Call, const Twine &Name, ArrayRef<Value *> Args) {
    Function *Body = Bodies->getFunction((Prefix + Name).str());
    IRBuilder<> IB(Call);
    SmallVector<Value *, 6> Converted;
    for (auto [V, P] : zip_equal(Args, Body->args())) {
      Type *Ty = P.getType();
      Converted.push_back(Ty->isPointerTy() ? V : IB.CreateSExtOrTrunc(V, Ty));
    }
    Value *Result = IB.CreateCall(
        B.M->getOrInsertFunction(Body->getName(), Body->getFunctionType()),
        Converted);
    if (Result->getType()->isPointerTy())
      Result = IB.CreatePtrToInt(Result, IB.getInt64Ty());
    if (!Call->getType()->isVoidTy())
      Call->replaceAllUsesWith(IB.CreateSExtOrTrunc(Result, Call->getType()));
    Call->eraseFromParent();
    return true;
  }

  /// Finds the bytes of a constant string.  Optimisation has dropped those of
  /// the host's constants here.
  bool findString(Value *Pointer, StringRef &String) const {
    if (getConstantStringInfo(Pointer, String))
      return true;
    APInt Offset(64, 0);
    Value *Base = Pointer->stripAndAccumulateConstantOffsets(
        B.M->getDataLayout(), Offset, /*AllowNonInbounds=*/false);
    GlobalValue *Host = isa<GlobalVariable>(Base)
                            ? B.HostGlobals.lookup(Base->getName())
                            : nullptr;
    if (!Host || !getConstantStringInfo(Host, String) ||
        Offset.ugt(String.size()))
      return false;
    String = String.drop_front(Offset.getZExtValue());
    return true;
  }

  /// Compares with a constant string, if one is; its bytes are then immediates.
  bool replaceConstant(CallInst *Call, ConstantInt *Count, Value *Order) {
    Value *Text = Call->getArgOperand(0), *Known = Call->getArgOperand(1);
    StringRef String;
    if (!findString(Known, String)) {
      // With the operands swapped, the sign is another.
      std::swap(Text, Known);
      if (!match(Order, m_Zero()) || !findString(Known, String))
        return false;
    }
    uint64_t Size = String.size() + 1;
    if (Count)
      Size = std::min(Size, Count->getZExtValue());
    if (!Size || Size > 16)
      return false;
    uint64_t Words[2] = {0, 0};
    for (uint64_t I = 0; I < std::min<uint64_t>(Size, String.size()); ++I)
      Words[I / 8] |= uint64_t(uint8_t(String[I])) << I % 8 * 8;
    IRBuilder<> IB(Call);
    return replace(Call, "strcmp_words",
                   {Text, Known, IB.getInt64(Words[0]), IB.getInt64(Words[1]),
                    IB.getInt64(Size), Order});
  }

  bool putInPlace(CallInst *Call) {
    if (auto *Mem = dyn_cast<MemIntrinsic>(Call))
      return replaceMemory(Mem);
    uint32_t Number;
    if (!isNumberedCall(Call->getCalledOperand(), Number))
      return false;
    SmallVector<Value *, 4> Args(Call->args());
    for (const char *Name : AsTheyAre)
      if (Number == operationNumber(Name))
        return replace(Call, Name, Args);
    IRBuilder<> IB(Call);
    Args.push_back(IB.getInt32(orderOf(Call)));
    ConstantInt *Count =
        Args.size() > 3 ? dyn_cast<ConstantInt>(Args[2]) : nullptr;
    if (Number == operationNumber("strcmp"))
      return replaceConstant(Call, nullptr, Args.back()) ||
             replace(Call, "strcmp", Args);
    if (Number == operationNumber("strncmp"))
      return (Count && replaceConstant(Call, Count, Args.back())) ||
             replace(Call, "strncmp", Args);
    if (Number == operationNumber("memcmp"))
      return !(Count && Count->getZExtValue() > MaxCompare) &&
             replace(Call, "memcmp", Args);
    return false;
  }

  /// Those of constant length are cosy-legalize's.
  bool replaceMemory(MemIntrinsic *Mem) {
    if (isa<ConstantInt>(Mem->getLength()) || Mem->isVolatile())
      return false;
    IRBuilder<> IB(Mem);
    Value *Length = IB.CreateZExtOrTrunc(Mem->getLength(), IB.getInt64Ty());
    if (auto *Set = dyn_cast<MemSetInst>(Mem))
      return replace(Mem, "memset",
                     {Set->getDest(),
                      IB.CreateZExt(Set->getValue(), IB.getInt64Ty()), Length});
    auto *Copy = cast<MemTransferInst>(Mem);
    return replace(Mem, isa<MemMoveInst>(Mem) ? "memmove" : "memcpy",
                   {Copy->getDest(), Copy->getSource(), Length});
  }

  void inlineAll() {
    SmallVector<std::string, 16> Names;
    for (const Function &F : *Bodies)
      if (F.getName().starts_with(Prefix))
        Names.push_back(F.getName().str());
    linkNeeded(B, std::move(Bodies));
    lowerStrings(B);
    for (const std::string &Name : Names)
      if (Function *F = B.M->getFunction(Name); F && !F->isDeclaration()) {
        F->setLinkage(GlobalValue::InternalLinkage);
        F->addFnAttr(Attribute::AlwaysInline);
      }
    FunctionPassManager FPM;
    FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
    FPM.addPass(EarlyCSEPass());
    FPM.addPass(InstCombinePass());
    FPM.addPass(JumpThreadingPass());
    FPM.addPass(SimplifyCFGPass());
    ModulePassManager Passes;
    Passes.addPass(AlwaysInlinerPass());
    Passes.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
    Passes.addPass(GlobalDCEPass());
    runPasses(B, Passes);
  }
};
} // namespace

void cosy::expandStrings(BpfModule &B, const Extracted &R, const Compound &C) {
  StringExpander(B, R, C).run();
}
