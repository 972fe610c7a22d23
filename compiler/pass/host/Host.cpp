// SPDX-License-Identifier: MIT
//===- Host.cpp - The code in the region's place --------------------------===//
//
//	count: has the region earned the   no -> left -= what this arrival would
//	       kernel (left < 0)?          save -> native
//	ctx = __cosy_enter(&region)        none -> native
//	fill in inputs, addresses, tables
//	exit = __cosy_run(&region, ctx)    < 0: leave -> native
//	take out outputs, leave
//	native: the twin
//	join: go on with the exit selector
//
// At the head of a loop of the twin, `native` is the loop's next iteration, and
// `join` returns from the twin.  At the entry of a function that recurses,
// `native` is the code of the twin's copy of it, and `join` returns from that.
//
// lib/region/region.h is the binary interface.
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
#include "host/Host.h"
#include "base/Options.h"
#include "emit/Container.h"
#include "host/RegionFields.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "tier/Losses.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <algorithm>
#include <array>

#define DEBUG_TYPE "cosy-host"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumEntered,
                         "Number of places where a compound is entered");
ALWAYS_ENABLED_STATISTIC(NumEscapes,
                         "Number of calls that end the program after one");

/// Makes of Value a 32-bit offset from a field of Base.
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

/// Makes struct cosy_premises: the functions that must be libc's own.
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
    // Refer to it in a way that the linker may resolve to a PLT entry, so that
    // nothing is looked up when the program starts.  GNU as refuses a PLT
    // entry's distance from any place but its own.
    Constant *Where = Number(0);
    if (F.Host && !options().GnuAs &&
        M.getCodeModel().value_or(CodeModel::Small) != CodeModel::Large)
      Where = Relative(2, DSOLocalEquivalent::get(F.Host));
    Calls.push_back(ConstantStruct::get(
        CallTy, {Number(object::hashGnu(F.Name)), Relative(1, Name), Where}));
  }
  Premises->setInitializer(ConstantStruct::get(
      Ty, {Number((C.HasHandlers ? COSY_PREMISE_HANDLERS : 0) |
                  C.Cost.Unfetched << COSY_PREMISE_UNFETCHED_SHIFT),
           Number(Calls.size()), ConstantArray::get(CallsTy, Calls)}));
  return Premises;
}

static Constant *clamped(Type *I32, int64_t N) {
  return ConstantInt::getSigned(
      I32, std::clamp<int64_t>(N, INT32_MIN / 2, INT32_MAX / 2));
}

/// Names what the history holds of a region, so that programs that count in
/// another way share none of it.
static constexpr StringRef HistoryFormat = "whole iterations";

/// Returns a digest of a container: struct cosy_region's `key`.
static std::array<uint64_t, 2> keyOf(ArrayRef<uint8_t> Container) {
  BLAKE3 Hash;
  Hash.update(Container);
  Hash.update(HistoryFormat);
  BLAKE3Result<16> Digest = Hash.final<16>();
  std::array<uint64_t, 2> Key = {support::endian::read64le(&Digest[0]),
                                 support::endian::read64le(&Digest[8])};
  // 0 stands for no key.
  Key[0] |= 1;
  return Key;
}

/// Returns what each call saves on average, without what loops lose.
static uint32_t gainPerCall(Gain All) {
  double Saved = All.Number > 0 ? All.Calls / All.Number : All.Saved;
  return std::clamp<double>(Saved, 1, INT32_MAX / 2);
}

/// Makes struct cosy_region and what it points to.
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
  SmallVector<Type *, 24> Types;
  for (const RegionField &Field : RegionFields)
    Types.push_back(Field.IsPointer ? Ptr : Field.Size == 8 ? I64 : I32);
  auto Number = [&](uint32_t N) { return ConstantInt::get(I32, N); };
  Constant *Zero = ConstantInt::get(I64, 0);
  const RegionCost &Cost = Entry ? Entry->Cost : C.Cost;
  Constant *EntryRegion =
      Entry ? static_cast<Constant *>(Entry->Region)
            : ConstantPointerNull::get(cast<PointerType>(Ptr));
  unsigned Flags = (options().Force ? COSY_REGION_FORCE : 0) |
                   (Cost.Loses ? COSY_REGION_LOSES : 0) |
                   ((Entry ? *Entry : C).BeginsAgain ? COSY_REGION_AGAIN : 0) |
                   (Entry ? 0 : COSY_REGION_KEYED | COSY_REGION_COUNTED) |
                   Cost.Lost << COSY_REGION_LOST_SHIFT;
  // The first arrival asks, since this is below 0.
  Constant *Left = ConstantInt::getSigned(I64, INT64_MIN);
  SmallVector<Constant *, 20> Values = {Container,
                                        Number(C.ContextSize),
                                        Number(COSY_REGION_VERSION),
                                        Zero,
                                        createPremises(M, C),
                                        Left,
                                        EntryRegion,
                                        clamped(I32, C.Saves),
                                        Number(Cost.Share),
                                        Number(Flags),
                                        Number(C.NumLoops),
                                        Number(0),
                                        Number(0),
                                        Zero};
  if (Entry) {
    Types.truncate(NumHeadFields);
  } else {
    auto [Low, High] = keyOf(Bytes);
    Values.append({ConstantInt::get(I64, Low), ConstantInt::get(I64, High),
                   Number(gainPerCall(Cost.All)), Number(0), Zero, Zero, Zero,
                   Zero});
  }
  auto *Ty = StructType::get(Ctx, Types);
  auto *Init = ConstantStruct::get(Ty, Values);
  auto *Region =
      new GlobalVariable(M, Ty, /*isConstant=*/false,
                         GlobalValue::PrivateLinkage, Init, "cosy.region");
  Region->setAlignment(Align(8));
  return Region;
}

/// Returns a position in the function that BB is in: Where, or the function's
/// own.
static DebugLoc placeIn(const BasicBlock &BB, const DebugLoc &Where) {
  DISubprogram *SP = BB.getParent()->getSubprogram();
  if (!SP)
    return DebugLoc();
  if (Where &&
      cast<DILocalScope>(Where.getInlinedAtScope())->getSubprogram() == SP)
    return Where;
  return DILocation::get(SP->getContext(), SP->getScopeLine(), 0, SP);
}

static Value *leftOf(IRBuilder<> &B, GlobalVariable *Region) {
  return B.CreateStructGEP(cast<StructType>(Region->getValueType()), Region,
                           LeftField);
}

namespace {
/// What an arrival saves.
struct Saving {
  int64_t Saves;
  int64_t Skips = 0;          ///< Instead of Saves where Made is false.
  Value *Made = nullptr;      ///< See Extracted::Made.
  AllocaInst *Lost = nullptr; ///< See Extracted::Lost.
  Value *Result = nullptr;    ///< See SeldomCall.
  unsigned PerResult = 0;
  int64_t Calls = 0; ///< Made where Made is not false: see CallParts.
};
} // namespace

static LoadInst *loadLeft(IRBuilder<> &B, Value *Place) {
  LoadInst *Left =
      B.CreateAlignedLoad(B.getInt64Ty(), Place, Align(8), "cosy.left");
  Left->setAtomic(AtomicOrdering::Monotonic);
  return Left;
}

/// Adds to a counter of the region's.
static void addTo(IRBuilder<> &B, GlobalVariable *Region, unsigned Field,
                  Value *More) {
  Value *Place = B.CreateStructGEP(cast<StructType>(Region->getValueType()),
                                   Region, Field);
  LoadInst *Before = loadLeft(B, Place);
  B.CreateAlignedStore(B.CreateAdd(Before, More), Place, Align(8))
      ->setAtomic(AtomicOrdering::Monotonic);
}

/// Takes what this arrival saves off `left`, or adds what it loses, and counts
/// the system calls that it makes.
static void takeOff(IRBuilder<> &B, GlobalVariable *Region, Value *Left,
                    Value *Place, const Saving &S) {
  auto Number = [&](int64_t N) {
    return B.CreateSExt(clamped(B.getInt32Ty(), N), B.getInt64Ty());
  };
  Value *Saved = Number(S.Saves);
  if (S.Made)
    Saved = B.CreateSelect(S.Made, Saved, Number(S.Skips));
  if (S.Result) {
    Value *Found = B.CreateSExtOrTrunc(S.Result, B.getInt64Ty());
    Found = B.CreateBinaryIntrinsic(Intrinsic::smax, Found, B.getInt64(0));
    Saved = B.CreateAdd(Saved, B.CreateMul(Found, B.getInt64(S.PerResult)));
  }
  if (S.Lost) {
    Saved = B.CreateSub(Saved, B.CreateLoad(B.getInt64Ty(), S.Lost));
    B.CreateStore(B.getInt64(0), S.Lost);
  }
  Value *Now = B.CreateSub(Left, Saved);
  // Do not let losses lift it above COSY_LEFT_MAX, where nobody would ask
  // again.
  if (S.Lost || S.Saves < 0 || (S.Made && S.Skips < 0))
    Now = B.CreateBinaryIntrinsic(Intrinsic::smin, Now,
                                  B.getInt64(COSY_LEFT_MAX));
  B.CreateAlignedStore(Now, Place, Align(8))
      ->setAtomic(AtomicOrdering::Monotonic);
  if (S.Calls <= 0)
    return;
  Value *Calls = B.getInt64(S.Calls);
  if (S.Made)
    Calls = B.CreateSelect(S.Made, Calls, B.getInt64(0));
  addTo(B, Region, CallsField, Calls);
}

/// Makes a value: whether later arrivals still use the count.  Values below 0
/// are included, because under COSY_STATS=1 each arrival counts.
static Value *stillCounts(IRBuilder<> &B, LoadInst *Left) {
  return B.CreateICmpSLE(Left, B.getInt64(COSY_LEFT_MAX));
}

/// Branches to Asked when the region has earned it; else takes what this
/// arrival saves off `left`, or adds what it loses, and branches to Native.
/// Writes nothing once the question is settled, so that processors do not fight
/// for the cache line.
static void countArrival(BasicBlock *At, GlobalVariable *Region,
                         const Extracted &R, const Compound &C, bool Counts,
                         DebugLoc Where, BasicBlock *Asked,
                         BasicBlock *Native) {
  LLVMContext &Ctx = At->getContext();
  Function *F = At->getParent();
  IRBuilder<> B(At);
  B.SetCurrentDebugLocation(Where);
  Value *Place = leftOf(B, Region);
  LoadInst *Left = loadLeft(B, Place);
  if (!Counts) {
    B.CreateCondBr(B.CreateICmpSLT(Left, B.getInt64(0)), Asked, Native);
    return;
  }
  BasicBlock *Count = BasicBlock::Create(Ctx, "cosy.count", F, Asked);
  BasicBlock *Settled = BasicBlock::Create(Ctx, "cosy.settled", F, Asked);
  B.CreateCondBr(B.CreateICmpULE(Left, B.getInt64(COSY_LEFT_MAX)), Count,
                 Settled, MDBuilder(Ctx).createLikelyBranchWeights());

  B.SetInsertPoint(Count);
  takeOff(B, Region, Left, Place,
          {C.Saves, C.Skips, R.Made, R.Lost, nullptr, 0, C.Calls});
  B.CreateBr(Native);

  B.SetInsertPoint(Settled);
  B.CreateCondBr(B.CreateICmpSLT(Left, B.getInt64(0)), Asked, Native);
}

/// Makes code at a place that changes `left`, by Count, which is given the
/// value and its address.  The code does nothing where nobody asks again.
static void countAt(BasicBlock::iterator At, GlobalVariable *Region,
                    DebugLoc Where,
                    function_ref<void(IRBuilder<> &, Value *, Value *)> Count) {
  BasicBlock *BB = At->getParent();
  IRBuilder<> B(BB, At);
  B.SetCurrentDebugLocation(placeIn(*BB, Where));
  Value *Place = leftOf(B, Region);
  LoadInst *Left = loadLeft(B, Place);
  Instruction *Then = SplitBlockAndInsertIfThen(
      stillCounts(B, Left), &*B.GetInsertPoint(), /*Unreachable=*/false,
      MDBuilder(BB->getContext()).createLikelyBranchWeights());
  B.SetInsertPoint(Then);
  Count(B, Left, Place);
}

/// Counts the iterations of a loop without a way in.
static void countIterations(const CountedHead &H, GlobalVariable *Region,
                            DebugLoc Where) {
  countAt(H.Head->getFirstNonPHIIt(), Region, Where,
          [&](IRBuilder<> &B, Value *Left, Value *Place) {
            takeOff(B, Region, Left, Place,
                    {H.Saves, H.Skips, H.Made, nullptr, nullptr, 0, H.Calls});
          });
}

/// Counts a call that not every entry or iteration makes, before it is made.
static void countCall(const SeldomCall &S, GlobalVariable *Region,
                      DebugLoc Where) {
  countAt(S.Call->getIterator(), Region, Where,
          [&](IRBuilder<> &B, Value *Left, Value *Place) {
            takeOff(
                B, Region, Left, Place,
                {S.Saves, 0, nullptr, S.Lost, S.Result, S.PerResult, S.Calls});
          });
}

/// Adds what a loop without calls would have lost to `left`, where it ends, and
/// to `lost`, so that libcosy can tell it from what is saved.
static void addLoss(BasicBlock::iterator At, Value *Lost,
                    GlobalVariable *Region, DebugLoc Where) {
  countAt(At, Region, Where, [&](IRBuilder<> &B, Value *Left, Value *Place) {
    Value *Now = B.CreateBinaryIntrinsic(
        Intrinsic::smin, B.CreateAdd(Left, Lost), B.getInt64(COSY_LEFT_MAX));
    B.CreateAlignedStore(Now, Place, Align(8))
        ->setAtomic(AtomicOrdering::Monotonic);
    addTo(B, Region, LostField, Lost);
  });
}

/// Counts what is not counted at arrivals, in the twin where R is a region's
/// entry, and in copies of functions that recurse.
static void countElsewhere(const Extracted &R, GlobalVariable *Region,
                           bool IsEntry, DebugLoc Where) {
  auto AddLoss = [&](BasicBlock::iterator At, Value *Lost) {
    addLoss(At, Lost, Region, Where);
  };
  auto Counts = [&](BasicBlock::iterator At) {
    BasicBlock *BB = At->getParent();
    IRBuilder<> B(BB, At);
    B.SetCurrentDebugLocation(placeIn(*BB, Where));
    return stillCounts(B, loadLeft(B, leftOf(B, Region)));
  };
  for (const CountedHead &H : R.Counted)
    countIterations(H, Region, Where);
  for (Function *Copy : R.Copies)
    countLosses(*Copy, Counts, AddLoss);
  if (IsEntry)
    countLosses(R.Twin ? *R.Twin : *R.Body, Counts, AddLoss);
  for (const SeldomCall &S : R.Seldom)
    countCall(S, Region, Where);
}

FunctionCallee cosy::declareHostFunction(Module &M, StringRef Name,
                                         FunctionType *Type) {
  FunctionCallee Callee = M.getOrInsertFunction(Name, Type);
  if (auto *F = dyn_cast<Function>(Callee.getCallee()))
    F->setDoesNotThrow();
  return Callee;
}

static Value *field(IRBuilder<> &B, Value *Context, unsigned Offset) {
  return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Context, Offset);
}

/// Asks libcosy for a table's place in the shared buffer.
static Value *keptTable(IRBuilder<> &B, GlobalVariable *Table) {
  Module &M = *Table->getParent();
  PointerType *Ptr = B.getPtrTy();
  if (!Table->hasName())
    Table->setName("cosy.table");
  std::string Name = ("cosy.kept." + Table->getName()).str();
  GlobalVariable *Slot = M.getNamedGlobal(Name);
  if (!Slot)
    Slot = new GlobalVariable(M, Ptr, false, GlobalValue::InternalLinkage,
                              ConstantPointerNull::get(Ptr), Name);
  auto *Ty = FunctionType::get(Ptr, {Ptr, Ptr, B.getInt64Ty()}, false);
  uint64_t Size = M.getDataLayout().getTypeAllocSize(Table->getValueType());
  return B.CreateCall(declareHostFunction(M, "__cosy_table", Ty),
                      {Slot, Table, B.getInt64(Size)});
}

static void fillIn(IRBuilder<> &B, Value *Context, const Extracted &R,
                   const Compound &C) {
  Module &M = *R.Host->getParent();
  auto Errno = declareHostFunction(M, "__errno_location",
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
        declareHostFunction(M, Name, FunctionType::get(B.getPtrTy(), false));
    B.CreateAlignedStore(B.CreateCall(Locator), field(B, Context, Offset),
                         Align(8));
  }
  // Before a loop's head, the native twin may have computed some outputs.
  if (R.Outer)
    for (size_t I = 0; I < R.Outputs.size(); ++I)
      B.CreateAlignedStore(
          B.CreateLoad(R.Outputs[I], R.Call->getArgOperand(R.NumInputs + I)),
          field(B, Context, C.OutputOffsets[I]), Align(8));
  for (const Compound::TableCopy &T : C.Tables) {
    Value *Place = field(B, Context, T.Offset);
    if (T.Size)
      B.CreateMemCpy(Place, Align(8), T.Table, T.Table->getAlign(), T.Size);
    else
      B.CreateAlignedStore(keptTable(B, T.Table), Place, Align(8));
  }
}

/// Makes the calls that do not return, one per escape, with the arguments that
/// the compound left in the context.  Goes on in a new block before Join, for
/// exits that are no escape.
static void emitEscapes(IRBuilder<> &B, Value *Exit, Value *Context,
                        BasicBlock *Join, const Extracted &R,
                        const Compound &C) {
  LLVMContext &Ctx = B.getContext();
  BasicBlock *Out = BasicBlock::Create(Ctx, "cosy.out", R.Host, Join);
  SwitchInst *Switch = B.CreateSwitch(Exit, Out, C.Escapes.size());
  for (size_t I = 0; I < C.Escapes.size(); ++I) {
    const Escape &E = C.Escapes[I];
    BasicBlock *BB = BasicBlock::Create(Ctx, "cosy.escape", R.Host, Out);
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
  B.SetInsertPoint(Out);
}

/// Stores the outputs that the compound left in the context where the host
/// looks for them.
static void takeOut(IRBuilder<> &B, Value *Context, const Extracted &R,
                    const Compound &C) {
  for (size_t I = 0; I < R.Outputs.size(); ++I) {
    Value *V = B.CreateAlignedLoad(
        R.Outputs[I], field(B, Context, C.OutputOffsets[I]), Align(8));
    B.CreateStore(V, R.Call->getArgOperand(R.NumInputs + I));
  }
}

namespace {
/// The blocks in a region's place, in the order of the banner.
struct HostBlocks {
  BasicBlock *Count, *Ask, *Fill, *Refused, *Done;
  BasicBlock *Native; ///< Holds the twin's call, and nothing else.
  BasicBlock *Join;
};
} // namespace

/// Cuts the region's call out of its block; the new blocks are empty, and Count
/// has no terminator.
static HostBlocks splitAtCall(const Extracted &R) {
  HostBlocks To;
  To.Count = R.Call->getParent();
  if (R.Round) {
    BasicBlock *Head = To.Count->getSinglePredecessor();
    Head->getTerminator()->eraseFromParent();
    BranchInst::Create(To.Count, Head);
  }
  To.Native = To.Count->splitBasicBlock(R.Call->getIterator(), "cosy.native");
  To.Join =
      To.Native->splitBasicBlock(std::next(R.Call->getIterator()), "cosy.join");
  To.Count->getTerminator()->eraseFromParent();
  auto NewBlock = [&](const char *Name) {
    return BasicBlock::Create(R.Host->getContext(), Name, R.Host, To.Join);
  };
  To.Ask = NewBlock("cosy.ask");
  To.Fill = NewBlock("cosy.fill");
  To.Refused = NewBlock("cosy.refused");
  To.Done = NewBlock("cosy.done");
  return To;
}

/// Gives the host the exit selector of the twin or of the kernel, whichever
/// ran.
static void joinSelectors(CallInst *Call, Value *Selector, BasicBlock *Done,
                          const HostBlocks &To) {
  IRBuilder<> B(To.Join, To.Join->begin());
  PHINode *Phi = B.CreatePHI(Call->getType(), 2, "cosy.selector");
  Call->replaceAllUsesWith(Phi);
  Phi->addIncoming(Call, To.Native);
  Phi->addIncoming(Selector, Done);
}

/// Has the native path continue in R.Round instead of making the call.
static void continueNatively(Extracted &R) {
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
  auto Enter = declareHostFunction(M, "__cosy_enter",
                                   FunctionType::get(Ptr, {Ptr}, false));
  // A thread that is cancelled in the region unwinds from this call.
  auto Run = M.getOrInsertFunction(
      "__cosy_run",
      FunctionType::get(Type::getInt64Ty(Ctx), {Ptr, Ptr}, false));
  auto Leave = declareHostFunction(M, "__cosy_leave",
                                   FunctionType::get(Void, {Ptr}, false));
  GlobalVariable *Region = C.Region = createRegion(M, C, Entry);
  ++NumEntered;
  NumEscapes += C.Escapes.size();

  HostBlocks To = splitAtCall(R);
  DebugLoc Where = R.Call->getDebugLoc() ? R.Call->getDebugLoc() : R.Where;
  MDNode *Likely = MDBuilder(Ctx).createLikelyBranchWeights();
  // Count nothing for a region that never is, or at once is, in the kernel.
  bool Counts = !(Entry ? Entry : &C)->Cost.Loses && !options().Force;
  countArrival(To.Count, Entry ? Entry->Region : Region, R, C, Counts, Where,
               To.Ask, To.Native);

  IRBuilder<> B(To.Ask);
  B.SetCurrentDebugLocation(Where);
  Value *Context = B.CreateCall(Enter, {Region}, "cosy.ctx");
  B.CreateCondBr(B.CreateIsNotNull(Context), To.Fill, To.Native, Likely);

  B.SetInsertPoint(To.Fill);
  fillIn(B, Context, R, C);
  CallInst *Exit = B.CreateCall(Run, {Region, Context}, "cosy.exit");
  B.CreateCondBr(B.CreateICmpSGE(Exit, B.getInt64(0)), To.Done, To.Refused,
                 Likely);

  B.SetInsertPoint(To.Refused);
  B.CreateCall(Leave, {Context});
  B.CreateBr(To.Native);

  B.SetInsertPoint(To.Done);
  if (!C.Escapes.empty())
    emitEscapes(B, Exit, Context, To.Join, R, C);
  takeOut(B, Context, R, C);
  B.CreateCall(Leave, {Context});
  if (!R.Call->getType()->isVoidTy())
    joinSelectors(R.Call, B.CreateTrunc(Exit, R.Call->getType()),
                  B.GetInsertBlock(), To);
  B.CreateBr(To.Join);

  if (Counts)
    countElsewhere(R, Entry ? Entry->Region : Region, !Entry, Where);
  if (R.Round)
    continueNatively(R);
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
