// SPDX-License-Identifier: MIT
//===- Host.cpp - The code in the region's place --------------------------===//
//
//	count: region.left earned yet?     no -> left -= what this arrival would
//	                                   save -> native
//	ctx = __cosy_enter(&region)        none -> native
//	fill in inputs, addresses, tables
//	exit = __cosy_run(&region, ctx)    < 0: leave -> native
//	take out outputs, leave
//	native: the twin
//	join: go on with the exit selector
//
// At the head of a loop of the twin, native is the loop's next round, and join
// ends the twin.
//
// lib/region.h is the binary interface.
//
//   %s = call i1 @f.cosy(i32 %fd, ptr %r)      ; the twin
//
// becomes
//
//   %cosy.ctx = call ptr @__cosy_enter(ptr @cosy.region)
//   br i1 .., label %cosy.fill, label %cosy.native
//   cosy.fill:
//     %cosy.exit = call i64 @__cosy_run(ptr @cosy.region, ptr %cosy.ctx)
//   cosy.native:
//     %t = call i1 @f.cosy(i32 %fd, ptr %r)    ; inlined at last
//   cosy.join:
//     %s = phi i1 [ %t, .. ], [ .., .. ]
//
//===----------------------------------------------------------------------===//
#include "Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELF.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <algorithm>

#define DEBUG_TYPE "cosy-host"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumEntered,
                         "Number of places where a compound is entered");
ALWAYS_ENABLED_STATISTIC(NumEscapes,
                         "Number of calls that end the program after one");

/// Value as 32 bits that are relative to a field of Base.
static Constant *relativeTo(GlobalVariable *Base, ArrayRef<Constant *> Field,
                            Constant *Value) {
  LLVMContext &Ctx = Base->getContext();
  Type *I64 = Type::getInt64Ty(Ctx);
  Constant *Place =
      ConstantExpr::getInBoundsGetElementPtr(Base->getValueType(), Base, Field);
  return ConstantExpr::getTrunc(
      ConstantExpr::getSub(ConstantExpr::getPtrToInt(Value, I64),
                           ConstantExpr::getPtrToInt(Place, I64)),
      Type::getInt32Ty(Ctx));
}

/// struct cosy_premises: what the program must not have of its own.
static GlobalVariable *createPremises(Module &M, const Compound &C) {
  LLVMContext &Ctx = M.getContext();
  Type *I32 = Type::getInt32Ty(Ctx);
  auto *CallTy = StructType::get(Ctx, {I32, I32, I32});
  auto *CallsTy = ArrayType::get(CallTy, C.Functions.size());
  auto *Ty = StructType::get(Ctx, {I32, I32, CallsTy});
  auto *Premises =
      new GlobalVariable(M, Ty, /*isConstant=*/true,
                         GlobalValue::PrivateLinkage, nullptr, "cosy.premises");
  auto Number = [&](uint32_t N) { return ConstantInt::get(I32, N); };

  SmallVector<Constant *, 16> Calls;
  for (const Replaced &F : C.Functions) {
    Constant *Data = ConstantDataArray::getString(Ctx, F.Name);
    auto *Name =
        new GlobalVariable(M, Data->getType(), /*isConstant=*/true,
                           GlobalValue::PrivateLinkage, Data, "cosy.name");
    Name->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    auto Relative = [&](uint32_t Field, Constant *Value) {
      return relativeTo(
          Premises, {Number(0), Number(2), Number(Calls.size()), Number(Field)},
          Value);
    };
    // A reference by which the linker may go through its PLT: nothing is looked
    // up when the program starts.
    Constant *Where = Number(0);
    if (F.Host &&
        M.getCodeModel().value_or(CodeModel::Small) != CodeModel::Large)
      Where = Relative(2, DSOLocalEquivalent::get(F.Host));
    Calls.push_back(ConstantStruct::get(
        CallTy, {Number(object::hashGnu(F.Name)), Relative(1, Name), Where}));
  }
  Premises->setInitializer(ConstantStruct::get(
      Ty, {Number(C.HasHandlers ? 1 : 0), Number(Calls.size()),
           ConstantArray::get(CallsTy, Calls)}));
  return Premises;
}

static Constant *clamped(Type *I32, int64_t N) {
  return ConstantInt::getSigned(
      I32, std::clamp<int64_t>(N, INT32_MIN / 2, INT32_MAX / 2));
}

/// struct cosy_region, and what it points to.
static GlobalVariable *createRegion(Module &M, const Compound &C,
                                    const Compound *Entry) {
  LLVMContext &Ctx = M.getContext();
  std::vector<uint8_t> Bytes = buildContainer(C);
  Constant *Data = ConstantDataArray::get(Ctx, Bytes);
  auto *Container =
      new GlobalVariable(M, Data->getType(), /*isConstant=*/true,
                         GlobalValue::PrivateLinkage, Data, "cosy.compound");
  Container->setAlignment(Align(8));
  Container->setSection("cosy_compounds");

  Type *Ptr = PointerType::get(Ctx, 0);
  Type *I32 = Type::getInt32Ty(Ctx), *I64 = Type::getInt64Ty(Ctx);
  auto *Ty = StructType::get(Ctx, {Ptr, I32, I32, I64, Ptr, I64, Ptr, I32, I32,
                                   I32, I32, I32, I32, I64});
  auto Number = [&](uint32_t N) { return ConstantInt::get(I32, N); };
  Constant *Zero = ConstantInt::get(I64, 0);
  const RegionCost &Cost = Entry ? Entry->Cost : C.Cost;
  Constant *EntryRegion =
      Entry ? static_cast<Constant *>(Entry->Region)
            : ConstantPointerNull::get(cast<PointerType>(Ptr));
  unsigned Flags = (options().Force ? 1 : 0) | (Cost.Loses ? 2 : 0);
  // The first arrival asks.
  Constant *Left = ConstantInt::getSigned(I64, INT64_MIN);
  auto *Init = ConstantStruct::get(
      Ty,
      {Container, Number(C.ContextSize), Number(2), Zero, createPremises(M, C),
       Left, EntryRegion, clamped(I32, C.Saves), Number(Cost.Share),
       Number(Flags), Number(C.NumLoops), Number(0), Number(0), Zero});
  auto *Region =
      new GlobalVariable(M, Ty, /*isConstant=*/false,
                         GlobalValue::PrivateLinkage, Init, "cosy.region");
  Region->setAlignment(Align(8));
  return Region;
}

/// Branches to Asked when what was saved so far is enough; else takes what this
/// arrival saves off `left` and branches to Native.  Writes nothing once the
/// question is settled, so that processors do not fight for the line.
static void countArrival(BasicBlock *At, GlobalVariable *Region, int64_t Saves,
                         DebugLoc Where, BasicBlock *Asked,
                         BasicBlock *Native) {
  LLVMContext &Ctx = At->getContext();
  Function *F = At->getParent();
  BasicBlock *Count = BasicBlock::Create(Ctx, "cosy.count", F, Asked);
  BasicBlock *Settled = BasicBlock::Create(Ctx, "cosy.settled", F, Asked);
  auto *Ty = cast<StructType>(Region->getValueType());
  IRBuilder<> B(At);
  B.SetCurrentDebugLocation(Where);
  Value *Place = B.CreateStructGEP(Ty, Region, LeftField);
  LoadInst *Left =
      B.CreateAlignedLoad(B.getInt64Ty(), Place, Align(8), "cosy.left");
  Left->setAtomic(AtomicOrdering::Monotonic);
  B.CreateCondBr(B.CreateICmpULE(Left, B.getInt64(MaxLeft)), Count, Settled,
                 MDBuilder(Ctx).createLikelyBranchWeights());

  B.SetInsertPoint(Count);
  Value *Now = B.CreateSub(
      Left, B.CreateSExt(clamped(B.getInt32Ty(), Saves), B.getInt64Ty()));
  B.CreateAlignedStore(Now, Place, Align(8))
      ->setAtomic(AtomicOrdering::Monotonic);
  B.CreateBr(Native);

  B.SetInsertPoint(Settled);
  B.CreateCondBr(B.CreateICmpSLT(Left, B.getInt64(0)), Asked, Native);
}

/// A function that throws nothing.
static FunctionCallee libraryFunction(Module &M, StringRef Name,
                                      FunctionType *Type) {
  FunctionCallee Callee = M.getOrInsertFunction(Name, Type);
  if (auto *F = dyn_cast<Function>(Callee.getCallee()))
    F->setDoesNotThrow();
  return Callee;
}

static Value *field(IRBuilder<> &B, Value *Context, unsigned Offset) {
  return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Context, Offset);
}

static void fillIn(IRBuilder<> &B, Value *Context, const Extracted &R,
                   const Compound &C) {
  Module &M = *R.Host->getParent();
  auto Errno = libraryFunction(M, "__errno_location",
                               FunctionType::get(B.getPtrTy(), false));
  B.CreateStore(B.CreateCall(Errno), field(B, Context, ErrnoOffset));
  for (unsigned I = 0; I < R.NumInputs; ++I)
    B.CreateAlignedStore(R.Call->getArgOperand(I),
                         field(B, Context, C.InputOffsets[I]), Align(8));
  for (auto [Global, Offset] : C.Addresses) {
    Value *Address = Global;
    if (Global->isThreadLocal())
      Address = B.CreateThreadLocalAddress(Global);
    B.CreateAlignedStore(Address, field(B, Context, Offset), Align(8));
  }
  for (const auto &[Name, Offset] : C.Locators) {
    auto Locator =
        libraryFunction(M, Name, FunctionType::get(B.getPtrTy(), false));
    B.CreateAlignedStore(B.CreateCall(Locator), field(B, Context, Offset),
                         Align(8));
  }
  // At a loop's head they may have been computed natively.
  if (R.Outer)
    for (size_t I = 0; I < R.Outputs.size(); ++I)
      B.CreateAlignedStore(
          B.CreateLoad(R.Outputs[I], R.Call->getArgOperand(R.NumInputs + I)),
          field(B, Context, C.OutputOffsets[I]), Align(8));
  for (const Compound::TableCopy &T : C.Tables)
    B.CreateMemCpy(field(B, Context, T.Offset), Align(8), T.Table,
                   T.Table->getAlign(), T.Size);
}

/// The calls that end the program, one per escape, with the arguments that the
/// compound left in the context.
static void emitEscapes(IRBuilder<> &B, Value *Exit, Value *Context,
                        BasicBlock *Otherwise, const Extracted &R,
                        const Compound &C) {
  LLVMContext &Ctx = B.getContext();
  SwitchInst *Switch = B.CreateSwitch(Exit, Otherwise, C.Escapes.size());
  for (size_t I = 0; I < C.Escapes.size(); ++I) {
    const Escape &E = C.Escapes[I];
    BasicBlock *BB = BasicBlock::Create(Ctx, "cosy.escape", R.Host, Otherwise);
    Switch->addCase(B.getInt64(FirstEscape + I), BB);
    IRBuilder<> EB(BB);
    EB.SetCurrentDebugLocation(B.getCurrentDebugLocation());
    SmallVector<Value *, 4> Args;
    for (unsigned A = 0; A < E.ArgOffsets.size(); ++A) {
      Args.push_back(EB.CreateAlignedLoad(
          E.ArgTypes[A], field(EB, Context, E.ArgOffsets[A]), Align(8)));
    }
    CallInst *Call = EB.CreateCall(E.Type, E.Callee, Args);
    Call->setAttributes(E.Attributes);
    EB.CreateUnreachable();
  }
}

/// Goes on in the loop that a head's call is at, instead of making it.
static void goRound(Extracted &R) {
  BasicBlock *Native = R.Call->getParent();
  Native->getSingleSuccessor()->removePredecessor(Native);
  Native->getTerminator()->eraseFromParent();
  R.Call->replaceAllUsesWith(PoisonValue::get(R.Call->getType()));
  R.Call->eraseFromParent();
  BranchInst::Create(R.Round, Native);
  R.Call = nullptr;
  R.Body->eraseFromParent();
  R.Body = nullptr;
}

void cosy::emitHostCode(Extracted &R, Compound &C, Compound *Entry) {
  Module &M = *R.Host->getParent();
  LLVMContext &Ctx = M.getContext();
  Type *Ptr = PointerType::get(Ctx, 0), *Void = Type::getVoidTy(Ctx);
  auto Enter =
      libraryFunction(M, "__cosy_enter", FunctionType::get(Ptr, {Ptr}, false));
  auto Run = M.getOrInsertFunction(
      "__cosy_run",
      FunctionType::get(Type::getInt64Ty(Ctx), {Ptr, Ptr}, false));
  auto Leave =
      libraryFunction(M, "__cosy_leave", FunctionType::get(Void, {Ptr}, false));
  GlobalVariable *Region = C.Region = createRegion(M, C, Entry);
  ++NumEntered;
  NumEscapes += C.Escapes.size();

  CallInst *Call = R.Call;
  BasicBlock *Before = Call->getParent();
  if (R.Round) {
    BasicBlock *Head = Before->getSinglePredecessor();
    Head->getTerminator()->eraseFromParent();
    BranchInst::Create(Before, Head);
  }
  BasicBlock *Native =
      Before->splitBasicBlock(Call->getIterator(), "cosy.native");
  BasicBlock *Join =
      Native->splitBasicBlock(std::next(Call->getIterator()), "cosy.join");
  auto NewBlock = [&](const char *Name) {
    return BasicBlock::Create(Ctx, Name, R.Host, Join);
  };
  BasicBlock *Ask = NewBlock("cosy.ask"), *Fill = NewBlock("cosy.fill"),
             *Refused = NewBlock("cosy.refused"), *Done = NewBlock("cosy.done");
  DebugLoc Where = Call->getDebugLoc() ? Call->getDebugLoc() : R.Where;
  auto Locate = [&](IRBuilder<> &B) { B.SetCurrentDebugLocation(Where); };
  MDNode *Likely = MDBuilder(Ctx).createLikelyBranchWeights();

  Before->getTerminator()->eraseFromParent();
  countArrival(Before, Entry ? Entry->Region : Region, C.Saves, Where, Ask,
               Native);

  IRBuilder<> B(Ask);
  Locate(B);
  Value *Context = B.CreateCall(Enter, {Region}, "cosy.ctx");
  B.CreateCondBr(B.CreateIsNotNull(Context), Fill, Native, Likely);

  IRBuilder<> FB(Fill);
  Locate(FB);
  fillIn(FB, Context, R, C);
  // A thread that is cancelled ends here, by unwinding: this call may throw.
  CallInst *Exit = FB.CreateCall(Run, {Region, Context}, "cosy.exit");
  FB.CreateCondBr(FB.CreateICmpSGE(Exit, FB.getInt64(0)), Done, Refused,
                  Likely);

  IRBuilder<> RB(Refused);
  Locate(RB);
  RB.CreateCall(Leave, {Context});
  RB.CreateBr(Native);

  IRBuilder<> DB(Done);
  Locate(DB);
  if (!C.Escapes.empty()) {
    BasicBlock *Out = NewBlock("cosy.out");
    emitEscapes(DB, Exit, Context, Out, R, C);
    DB.SetInsertPoint(Out);
    Done = Out;
  }
  for (size_t I = 0; I < R.Outputs.size(); ++I) {
    Value *V = DB.CreateAlignedLoad(
        R.Outputs[I], field(DB, Context, C.OutputOffsets[I]), Align(8));
    DB.CreateStore(V, Call->getArgOperand(R.NumInputs + I));
  }
  DB.CreateCall(Leave, {Context});
  Value *Selector = nullptr;
  if (!Call->getType()->isVoidTy())
    Selector = DB.CreateTrunc(Exit, Call->getType());
  DB.CreateBr(Join);

  if (Selector) {
    IRBuilder<> JB(Join, Join->begin());
    PHINode *Phi = JB.CreatePHI(Call->getType(), 2, "cosy.selector");
    Call->replaceAllUsesWith(Phi);
    Phi->addIncoming(Call, Native);
    Phi->addIncoming(Selector, Done);
  }
  if (R.Round)
    goRound(R);
}

void cosy::inlineTwin(Extracted &R) {
  InlineFunctionInfo Info;
  Function *Twin = R.Twin ? R.Twin : R.Body;
  R.Call->setCalledFunction(Twin);
  InlineResult Result = InlineFunction(*R.Call, Info);
  if (!Result.isSuccess())
    report_fatal_error(Twine("cosy: cannot inline a native twin: ") +
                       Result.getFailureReason());
  if (Twin != R.Body)
    Twin->eraseFromParent();
  R.Body->eraseFromParent();
  R.Body = R.Twin = nullptr;
  R.Call = nullptr;
}
