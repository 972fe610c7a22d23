// SPDX-License-Identifier: MIT
//===- BpfModule.cpp - A region as a module of its own, for BPF -----------===//
//
// The host's module is cloned with the bodies of the functions that the region
// can reach and the constants' initialisers; everything else is a declaration,
// whose address the host will put in the context.  The first function takes the
// region's inputs from the context and puts its outputs there:
//
//   call void @f.cosy(i32 %fd, ptr %r)
//
// in the host becomes
//
//   define i64 @cosy.main(ptr %0) {
//     %ctx = call ptr @__cosy_context()      ; %0, once storage is assigned
//     %at = getelementptr i8, ptr %ctx, i64 8
//     %fd = load i32, ptr %at
//     call void @f.cosy(i32 %fd, ptr %r)     ; then stores what is in %r
//
//===----------------------------------------------------------------------===//
#include "lower/BpfModule.h"
#include "base/LlvmCompat.h"
#include "calls/LibcCalls.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "region/Written.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "cosy-bpf-module"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumModules, "Number of modules made for regions");
ALWAYS_ENABLED_STATISTIC(NumFunctions, "Number of functions copied into them");

TargetMachine &cosy::bpfTarget() {
  static std::unique_ptr<TargetMachine> Machine = [] {
    LLVMInitializeBPFTargetInfo();
    LLVMInitializeBPFTarget();
    LLVMInitializeBPFTargetMC();
    LLVMInitializeBPFAsmPrinter();
    LLVMInitializeBPFAsmParser(); // for the sixth argument's inline assembly
    std::string Error;
    const Target *T = TargetRegistry::lookupTarget(TargetName("bpfel"), Error);
    if (!T)
      report_fatal_error(Twine("cosy: this LLVM has no BPF target: ") + Error);
    // v4: signed division, sign-extending loads, jumps of 32 bits.
    return std::unique_ptr<TargetMachine>(T->createTargetMachine(
        TargetName("bpfel"), "v4", "", TargetOptions(), Reloc::PIC_,
        std::nullopt, CodeGenOptLevel::Default));
  }();
  return *Machine;
}

Value *BpfModule::context(IRBuilderBase &B) {
  auto *Ty = FunctionType::get(B.getPtrTy(), false);
  auto *F = cast<Function>(M->getOrInsertFunction(ContextName, Ty).getCallee());
  F->setDoesNotThrow();
  F->setDoesNotAccessMemory();
  F->addFnAttr(Attribute::WillReturn);
  F->addFnAttr(Attribute::Speculatable);
  return B.CreateCall(F);
}

Value *BpfModule::contextField(IRBuilderBase &B, unsigned Offset) {
  return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), context(B), Offset);
}

LoadInst *BpfModule::loadField(IRBuilderBase &B, Type *Ty, unsigned Offset) {
  LoadInst *L = B.CreateAlignedLoad(Ty, contextField(B, Offset), Align(8));
  L->setMetadata(LLVMContext::MD_invariant_load,
                 MDNode::get(M->getContext(), {}));
  return L;
}

unsigned BpfModule::allocateField(uint64_t Size, Align Alignment) {
  unsigned Offset = alignTo(ContextSize, std::max(Alignment, Align(8)));
  // assignStorage refuses such a context as too large; this only avoids
  // overflow.
  ContextSize = std::min<uint64_t>(Offset + alignTo(Size, 8), 1u << 30);
  return Offset;
}

CallInst *BpfModule::createCall(IRBuilderBase &B, uint32_t Number,
                                ArrayRef<Value *> Args, Type *Result) {
  SmallVector<Type *, 5> Types;
  std::string Name = (CallPrefix + Twine(Number) + ".").str();
  for (Value *V : Args) {
    Types.push_back(V->getType());
    Name += V->getType()->isPointerTy() ? 'p' : 'l';
  }
  auto *Ty = FunctionType::get(Result ? Result : B.getInt64Ty(), Types, false);
  auto *F = cast<Function>(M->getOrInsertFunction(Name, Ty).getCallee());
  // Say nothing about memory, as clang does: a signal handler may run in the
  // call, or a mapping may change.
  F->setDoesNotThrow();
  return B.CreateCall(F, Args);
}

bool cosy::isNumberedCall(const Value *Callee, uint32_t &Number) {
  const auto *F = dyn_cast<Function>(Callee);
  StringRef Name = F ? F->getName() : StringRef();
  if (!Name.consume_front(CallPrefix))
    return false;
  return !Name.consumeInteger(10, Number);
}

/// Collects the functions that F can reach, have a body and cannot be replaced
/// at link time.
static void collectReachable(Function *F, SetVector<Function *> &Found) {
  if (F->isDeclaration() || F->isInterposable() || !Found.insert(F))
    return;
  SmallPtrSet<const Value *, 16> Seen;
  for (Instruction &I : instructions(*F)) {
    SmallVector<Value *, 8> Work(I.operand_values());
    while (!Work.empty()) {
      Value *V = Work.pop_back_val();
      if (!isa<Constant>(V) || !Seen.insert(V).second)
        continue;
      if (auto *G = dyn_cast<Function>(V))
        collectReachable(G, Found);
      else if (auto *A = dyn_cast<GlobalAlias>(V)) {
        if (!A->isInterposable())
          Work.push_back(A->getAliasee());
      } else if (auto *Var = dyn_cast<GlobalVariable>(V)) {
        if (Var->isConstant() && Var->hasDefinitiveInitializer())
          Work.push_back(Var->getInitializer());
      } else if (!isa<GlobalIFunc>(V)) {
        append_range(Work, cast<User>(V)->operand_values());
      }
    }
  }
}

/// Puts a call that legalize refuses in a computed goto's place.  Its targets
/// are blocks of the host's, so that LLVM would take it for unreachable.
static void hideComputedGoto(BpfModule &B, Instruction &Goto) {
  IRBuilder<> IB(&Goto);
  IB.CreateCall(B.M->getOrInsertFunction(ComputedGotoName, IB.getVoidTy()));
  changeToUnreachable(&Goto);
}

/// Leaves a function the attributes that describe its behaviour, and takes
/// those about the host's processor, sanitizers and sections.
static void stripFunction(BpfModule &B, Function &F) {
  AttrBuilder Keep(F.getContext());
  for (auto Kind : {Attribute::NoUnwind, Attribute::MustProgress,
                    Attribute::NoReturn, Attribute::WillReturn})
    if (F.hasFnAttribute(Kind))
      Keep.addAttribute(Kind);
  bool AsWritten = isAsWritten(F);
  F.setAttributes(F.getAttributes().removeFnAttributes(F.getContext()));
  F.addFnAttrs(Keep);
  if (AsWritten)
    F.addFnAttr(AsWrittenAttr);
  F.addFnAttr("no-jump-tables", "true");
  F.setSection("");
  F.setComdat(nullptr);
  F.setVisibility(GlobalValue::DefaultVisibility);
  F.setDLLStorageClass(GlobalValue::DefaultStorageClass);
  F.setLinkage(GlobalValue::InternalLinkage);
  F.setCallingConv(CallingConv::C);
  F.setAlignment(MaybeAlign());
  F.setDSOLocal(true);
  // A sanitizer's hash of the type would become data between the functions.
  SmallVector<std::pair<unsigned, MDNode *>, 4> Metadata;
  F.getAllMetadata(Metadata);
  for (auto [Kind, Node] : Metadata)
    if (Kind != LLVMContext::MD_dbg)
      F.eraseMetadata(Kind);
  F.clearGC();
  F.setPrefixData(nullptr);
  F.setPrologueData(nullptr);

  // A compound has no variables to show, only lines.
  SmallVector<Instruction *, 8> Dead;
  SmallVector<InvokeInst *, 8> Invokes;
  for (Instruction &I : instructions(F)) {
    I.dropDbgRecords();
    if (isa<DbgInfoIntrinsic>(I)) {
      Dead.push_back(&I);
      continue;
    }
    auto *C = dyn_cast<CallBase>(&I);
    if (!C)
      continue;
    // As long as it is known what C may throw.
    if (canCallOutByPointer(*C) || isLeftFor(*C))
      C->addFnAttr(Attribute::get(F.getContext(), CallOutAttr));
    C->setCallingConv(CallingConv::C);
    C->removeFnAttr(Attribute::NoInline);
    // A function that "has no effect" raises a signal by a division.
    if (AsWritten)
      C->removeFnAttr(Attribute::Memory);
    if (auto *Call = dyn_cast<CallInst>(C))
      Call->setTailCallKind(CallInst::TCK_None);
    if (auto *Invoke = dyn_cast<InvokeInst>(C))
      Invokes.push_back(Invoke);
  }
  for (Instruction *I : Dead)
    I->eraseFromParent();
  // Nothing that a compound can call throws.
  B.HasHandlers |= !Invokes.empty();
  for (InvokeInst *I : Invokes)
    changeToCall(I);
  for (BasicBlock &BB : F)
    if (isa<IndirectBrInst>(BB.getTerminator()))
      hideComputedGoto(B, *BB.getTerminator());
  EliminateUnreachableBlocks(F);
  if (F.hasPersonalityFn())
    F.setPersonalityFn(nullptr);
}

static void stripModule(Module &M) {
  M.setTargetTriple(TargetName("bpfel"));
  M.setDataLayout(bpfTarget().createDataLayout());
  M.setModuleInlineAsm("");
  for (const char *Name : {"llvm.used", "llvm.compiler.used",
                           "llvm.global_ctors", "llvm.global_dtors"})
    if (GlobalVariable *G = M.getNamedGlobal(Name))
      G->eraseFromParent();
  SmallVector<Module::ModuleFlagEntry, 8> Flags;
  M.getModuleFlagsMetadata(Flags);
  if (NamedMDNode *N = M.getModuleFlagsMetadata())
    N->eraseFromParent();
  for (const auto &Flag : Flags)
    if (Flag.Key->getString() == "Debug Info Version" ||
        Flag.Key->getString() == "Dwarf Version")
      M.addModuleFlag(Flag.Behavior, Flag.Key->getString(), Flag.Val);
}

/// Puts declarations in the place of functions that are resolved at run time:
/// their resolvers run in the host.  None has a name that libc's could have.
static void declareIFuncs(BpfModule &B, ValueToValueMapTy &Map) {
  for (GlobalIFunc &I : B.Host.ifuncs()) {
    auto *Copy = dyn_cast_or_null<GlobalIFunc>(Map.lookup(&I));
    if (!Copy)
      continue;
    auto *F = Function::Create(cast<FunctionType>(I.getValueType()),
                               GlobalValue::ExternalLinkage, "", *B.M);
    F->setName("cosy.ifunc." + Twine(B.HostGlobals.size()));
    B.HostGlobals[F->getName()] = &I;
    Copy->replaceAllUsesWith(F);
    Copy->eraseFromParent();
  }
}

/// Remembers the host's object of each global, and makes constants foldable.
static void mapGlobals(BpfModule &B, ValueToValueMapTy &Map) {
  for (GlobalVariable &G : B.Host.globals()) {
    auto *Copy = dyn_cast_or_null<GlobalVariable>(Map.lookup(&G));
    if (!Copy)
      continue;
    Copy->setName("cosy.global." + Twine(B.HostGlobals.size()));
    B.HostGlobals[Copy->getName()] = &G;
    Copy->setSection("");
    Copy->setComdat(nullptr);
    Copy->setLinkage(Copy->hasInitializer()
                         ? GlobalValue::AvailableExternallyLinkage
                         : GlobalValue::ExternalLinkage);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Copy->setDSOLocal(false);
  }
  for (GlobalAlias &A : B.Host.aliases()) {
    Value *Copy = Map.lookup(&A);
    if (!Copy)
      continue;
    auto *Target = dyn_cast<GlobalObject>(A.getAliasee()->stripPointerCasts());
    Value *TargetCopy = Target ? Map.lookup(Target) : nullptr;
    if (TargetCopy && TargetCopy != Copy && !A.isInterposable())
      Copy->replaceAllUsesWith(TargetCopy);
    else if (auto *G = dyn_cast<GlobalValue>(Copy))
      B.HostGlobals[G->getName()] = &A;
  }
  declareIFuncs(B, Map);
  for (Function &F : B.Host)
    if (auto *Copy = dyn_cast_or_null<Function>(Map.lookup(&F)))
      if (!F.isIntrinsic())
        B.HostGlobals[Copy->getName()] = &F;
}

/// Gives Main a scope, so that code inlined into it keeps its positions.
static DebugLoc mainLocation(BpfModule &B, const Function &Body) {
  DISubprogram *SP = Body.getSubprogram();
  if (!SP)
    return DebugLoc();
  DIBuilder DB(*B.M, false, SP->getUnit());
  DISubprogram *Scope = DB.createFunction(
      SP->getFile(), "compound", "", SP->getFile(), SP->getLine(),
      DB.createSubroutineType(DB.getOrCreateTypeArray({})), SP->getLine(),
      DINode::FlagArtificial,
      DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
  B.Main->setSubprogram(Scope);
  DB.finalizeSubprogram(Scope);
  return DILocation::get(B.M->getContext(), SP->getLine(), 0, Scope);
}

/// Makes Main: it takes the inputs from the context, calls the region and puts
/// the outputs there.
static void createMain(const Extracted &R, Compound &C, BpfModule &B,
                       Function *Body) {
  LLVMContext &Ctx = B.M->getContext();
  const DataLayout &DL = B.Host.getDataLayout();
  auto *Ty = FunctionType::get(Type::getInt64Ty(Ctx),
                               {PointerType::get(Ctx, 0)}, false);
  B.Main =
      Function::Create(Ty, GlobalValue::ExternalLinkage, "cosy.main", *B.M);
  // The first function of the module comes first in the text.
  B.Main->removeFromParent();
  B.M->getFunctionList().push_front(B.Main);
  B.Main->setDoesNotThrow();
  B.Main->addFnAttr("no-jump-tables", "true");

  IRBuilder<> IB(BasicBlock::Create(Ctx, "entry", B.Main));
  IB.SetCurrentDebugLocation(mainLocation(B, *Body));
  B.ContextSize = ErrnoOffset + 8;
  SmallVector<Value *, 16> Args;
  SmallVector<AllocaInst *, 8> Outputs;
  for (Argument &A : Body->args()) {
    if (A.getArgNo() < R.NumInputs) {
      unsigned Offset = B.allocateField(DL.getTypeAllocSize(A.getType()));
      C.InputOffsets.push_back(Offset);
      Args.push_back(B.loadField(IB, A.getType(), Offset));
      continue;
    }
    Type *OutTy = R.Outputs[A.getArgNo() - R.NumInputs];
    C.OutputOffsets.push_back(B.allocateField(DL.getTypeAllocSize(OutTy)));
    Outputs.push_back(IB.CreateAlloca(OutTy));
    Args.push_back(Outputs.back());
    // Before a loop's head, the native twin may have computed it (fillIn).
    if (R.Outer)
      IB.CreateStore(B.loadField(IB, OutTy, C.OutputOffsets.back()),
                     Outputs.back());
  }
  CallInst *Call = IB.CreateCall(Body, Args);
  for (size_t I = 0; I < Outputs.size(); ++I)
    IB.CreateAlignedStore(IB.CreateLoad(R.Outputs[I], Outputs[I]),
                          B.contextField(IB, C.OutputOffsets[I]), Align(8));
  IB.CreateRet(Body->getReturnType()->isVoidTy()
                   ? IB.getInt64(0)
                   : IB.CreateZExt(Call, IB.getInt64Ty()));
}

void cosy::makeBpfModule(const Extracted &R, Compound &C, BpfModule &B) {
  SetVector<Function *> Reachable;
  collectReachable(R.Body, Reachable);
  ValueToValueMapTy Map;
  B.M = CloneModule(B.Host, Map, [&](const GlobalValue *G) {
    if (auto *F = dyn_cast<Function>(G))
      return Reachable.contains(const_cast<Function *>(F));
    auto *Var = dyn_cast<GlobalVariable>(G);
    return Var && Var->isConstant() && Var->hasDefinitiveInitializer() &&
           !Var->isThreadLocal();
  });
  ++NumModules;
  NumFunctions += Reachable.size();
  stripModule(*B.M);
  mapGlobals(B, Map);
  for (Function *F : Reachable)
    if (isAsWritten(*F))
      dropUnselected(*cast<Function>(Map.lookup(F)));
  for (Function *F : Reachable)
    stripFunction(B, *cast<Function>(Map.lookup(F)));
  createMain(R, C, B, cast<Function>(Map.lookup(R.Body)));
  C.HasHandlers = B.HasHandlers;
}
