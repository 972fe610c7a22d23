// SPDX-License-Identifier: MIT
//===- Stages.cpp - The stages of the pass as passes of their own ---------===//
//
// The pass `cosy` hands each region from stage to stage.  Alone, to be looked
// at and tested, a stage is a pass of opt's:
//
//   opt -load-pass-plugin=./CosyPass.so -passes=cosy-legalize -S region.ll
//
// Stages on the host's module:
//
//   cosy-mark-foreign      functions that may be the program's own are marked
//   cosy-extract           regions become functions, marked "cosy-region"
//   cosy-leave             the same, but they end before calls they cannot hold
//   cosy-move-locals       what their calls are given moves into the buffer
//   cosy-enter-loops       regions have a twin that leaves at its loops' heads
//   cosy-enter-recursion   and copies, which leave where a function recurses
//   cosy-count-losses      loops without calls tell cosy.lose what they lost
//   cosy-bpf-module        the first region becomes the module
//   cosy-exits             early exits of a twin are threaded
//   cosy-outline           code that enters the kernel becomes a function
//
// All but cosy-move-locals, cosy-exits and cosy-outline take the regions as
// they are marked in the source.  What emitHostCode adds to theirs is missing:
// whether a twin leaves is still poison.
//
// The others, which Pipeline.cpp lists, are on the module that cosy-bpf-module
// leaves, or that -cosy-dump wrote: cosy.main is the compound's first function.
// All that a stage hands on is in the module, except the tables that the host's
// code is made from (struct Compound), which are lost here.  Emit.cpp and
// Host.cpp make no IR from IR: only the whole pass runs them.
//
//===----------------------------------------------------------------------===//
#include "Stages.h"
#include "Compile.h"
#include "Extraction.h"
#include "Pipeline.h"
#include "base/Reason.h"
#include "calls/LibcFunctions.h"
#include "host/Exits.h"
#include "host/MoveLocals.h"
#include "host/Outline.h"
#include "region/Extracted.h"
#include "tier/Cost.h"
#include "tier/Loops.h"
#include "tier/Losses.h"
#include "tier/Recursion.h"
#include "tier/RecursionEntries.h"
#include "tier/RegionCost.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace cosy;

/// Marks the functions that cosy-extract made.
static constexpr char RegionAttr[] = "cosy-region";

static void warn(const Function &F, const Reason &R) {
  F.getContext().diagnose(
      DiagnosticInfoUnsupported(F, R.Text, R.Where, DS_Warning));
}

//===----------------------------------------------------------------------===//
// On a region's module
//===----------------------------------------------------------------------===//

namespace {
/// Makes what a stage takes when it runs alone: of the host only names are
/// known.
class Alone {
  std::unique_ptr<Module> Host;

public:
  BpfModule B;
  Compound C;
  Extracted R;
  Reasons Why;

  explicit Alone(Module &M) : Host(CloneModule(M)), B(*Host) {
    B.M.reset(&M);
    B.Main = M.getFunction("cosy.main");
    for (GlobalValue &G : Host->global_values())
      B.HostGlobals[G.getName()] = &G;
    B.ContextSize = usedBytes(M);
  }

  ~Alone() {
    for (const Reason &Reason : Why)
      warn(*B.Main, Reason);
    (void)B.M.release(); // opt's
  }

private:
  /// Returns how many bytes of the context the module has given away.
  static unsigned usedBytes(const Module &M) {
    int64_t Used = ErrnoOffset + 8;
    const Function *Context = M.getFunction(ContextName);
    SmallVector<const User *, 16> Work;
    if (Context)
      append_range(Work, Context->users());
    while (!Work.empty()) {
      const User *U = Work.pop_back_val();
      int64_t Offset = 0;
      if (isa<CallBase>(U) || isa<GetElementPtrInst>(U))
        append_range(Work, U->users());
      if (const auto *GEP = dyn_cast<GetElementPtrInst>(U)) {
        GetPointerBaseWithConstantOffset(GEP, Offset, M.getDataLayout());
        Used = std::max(Used, Offset + 8);
      }
    }
    return Used;
  }
};

struct StagePass : PassInfoMixin<StagePass> {
  const Stage &S;
  explicit StagePass(const Stage &S) : S(S) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    if (!M.getFunction("cosy.main"))
      report_fatal_error(Twine(S.Name) + ": the module has no cosy.main");
    Alone A(M);
    // With the inline budget of the first of Compile.cpp's tries.
    Compilation Input{A.B, A.R, A.C, A.Why, MaxInlineBudget};
    S.Run(Input);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

//===----------------------------------------------------------------------===//
// On the host's module
//===----------------------------------------------------------------------===//

/// Extracts the regions of every function that holds marks.
static std::vector<Extracted> extractAll(Module &M, ModuleAnalysisManager &AM,
                                         RegionEnd End = RegionEnd::AtMark) {
  auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *, 8> Marked = markedFunctions(M);
  std::vector<Extracted> All;
  for (Function *F : Marked)
    append_range(All, extractRegions(*F, Marked, End, FAM,
                                     [](const Function &F, const Region &,
                                        const Reasons &Why, const Reasons &) {
                                       for (const Reason &Reason : Why)
                                         warn(F, Reason);
                                     }));
  for (Extracted &E : All)
    E.Body->addFnAttr(RegionAttr);
  return All;
}

/// Makes the ways in at a region's loops; its host calls the twin from now on.
static void enterLoopsAlone(Extracted &R, ArrayRef<Function *> Hosts,
                            FunctionAnalysisManager &FAM) {
  inlineLoops(R, Hosts, FAM);
  simplifyLoops(*R.Body);
  auto Ways = waysIn(R);
  RegionCost Cost;
  estimateGain(*R.Body, Ways, findRecursion(R, Hosts), Cost);
  enterLoops(R, Ways, Cost);
  if (R.Twin)
    R.Call->setCalledFunction(R.Twin);
}

/// Makes the ways in where a region recurses.
static void enterRecursionAlone(Extracted &R, ArrayRef<Function *> Hosts,
                                FunctionAnalysisManager &FAM) {
  RegionCost Cost;
  Recursion In = findRecursion(R, Hosts);
  estimateGain(*R.Body, {}, In, Cost);
  enterRecursion(R, In, Cost, FAM);
  if (R.Twin)
    R.Call->setCalledFunction(R.Twin);
}

/// Counts what a region's own loops lose; functions that are not there stand
/// for the region's `left`.
static void countLossesAlone(Extracted &R, ArrayRef<Function *>,
                             FunctionAnalysisManager &) {
  LLVMContext &Ctx = R.Body->getContext();
  FunctionCallee Lose = R.Body->getParent()->getOrInsertFunction(
      "cosy.lose", Type::getVoidTy(Ctx), Type::getInt64Ty(Ctx));
  FunctionCallee Counts = R.Body->getParent()->getOrInsertFunction(
      "cosy.counts", Type::getInt1Ty(Ctx));
  simplifyLoops(*R.Body);
  countLosses(
      *R.Body,
      [&](BasicBlock::iterator At) {
        return IRBuilder<>(At->getParent(), At).CreateCall(Counts);
      },
      [&](BasicBlock::iterator At, Value *Lost) {
        IRBuilder<>(At->getParent(), At).CreateCall(Lose, Lost);
      });
}

/// Puts one module's contents in place of another's.
static void replaceModule(Module &M, std::unique_ptr<Module> By) {
  M.dropAllReferences();
  while (!M.alias_empty())
    M.aliases().begin()->eraseFromParent();
  while (!M.ifunc_empty())
    M.ifuncs().begin()->eraseFromParent();
  while (!M.empty())
    M.begin()->eraseFromParent();
  while (!M.global_empty())
    M.globals().begin()->eraseFromParent();
  while (!M.named_metadata_empty())
    M.named_metadata_begin()->eraseFromParent();
  M.setTargetTriple(By->getTargetTriple());
  M.setDataLayout(By->getDataLayout());
  if (Linker::linkModules(M, std::move(By)))
    report_fatal_error("cosy-bpf-module: cannot move the region's module");
}

namespace {
struct MarkForeignPass : PassInfoMixin<MarkForeignPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    markForeign(M);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct LeavePass : PassInfoMixin<LeavePass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    markForeign(M);
    extractAll(M, AM, RegionEnd::BeforeCalls);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct ExtractPass : PassInfoMixin<ExtractPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    extractAll(M, AM);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct RegionStage {
  const char *Name;
  void (*Run)(Extracted &R, ArrayRef<Function *> Hosts,
              FunctionAnalysisManager &FAM);
};

/// Stages of a region's native code, in the order of compileWaysIn.
const RegionStage RegionStages[] = {
    {"cosy-enter-loops", enterLoopsAlone},
    {"cosy-enter-recursion", enterRecursionAlone},
    {"cosy-count-losses", countLossesAlone},
};

struct RegionStagePass : PassInfoMixin<RegionStagePass> {
  const RegionStage &S;
  explicit RegionStagePass(const RegionStage &S) : S(S) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    markForeign(M);
    std::vector<Extracted> Regions = extractAll(M, AM);
    auto &FAM =
        AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    SmallVector<Function *, 8> Hosts;
    for (const Extracted &R : Regions)
      Hosts.push_back(R.Host);
    for (Extracted &R : Regions)
      S.Run(R, Hosts, FAM);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct BpfModulePass : PassInfoMixin<BpfModulePass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    markForeign(M);
    std::vector<Extracted> Regions = extractAll(M, AM);
    if (Regions.empty())
      report_fatal_error("cosy-bpf-module: the module has no region");
    Compound C;
    BpfModule B(M);
    makeBpfModule(Regions[0], C, B);
    replaceModule(M, std::move(B.M));
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

struct MoveLocalsPass : PassInfoMixin<MoveLocalsPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    SmallVector<Function *, 8> Hosts;
    for (Function &F : M)
      if (!F.isDeclaration() && !F.hasFnAttribute(RegionAttr))
        Hosts.push_back(&F);
    for (Function *F : Hosts) {
      SmallVector<WeakTrackingVH, 16> Inputs;
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I))
          if (Function *Body = Call->getCalledFunction();
              Body && Body->hasFnAttribute(RegionAttr))
            Inputs.append(Call->arg_begin(), Call->arg_end());
      moveLocals(*F, Inputs, {});
    }
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

bool cosy::addStage(StringRef Name, ModulePassManager &MPM) {
  if (Name == "cosy-mark-foreign")
    return MPM.addPass(MarkForeignPass()), true;
  if (Name == "cosy-leave")
    return MPM.addPass(LeavePass()), true;
  if (Name == "cosy-extract")
    return MPM.addPass(ExtractPass()), true;
  if (Name == "cosy-bpf-module")
    return MPM.addPass(BpfModulePass()), true;
  if (Name == "cosy-move-locals")
    return MPM.addPass(MoveLocalsPass()), true;
  if (Name == "cosy-exits")
    return MPM.addPass(createModuleToFunctionPassAdaptor(ExitsPass())), true;
  if (Name == "cosy-outline")
    return MPM.addPass(OutlinePass()), true;
  for (const RegionStage &S : RegionStages)
    if (Name == S.Name)
      return MPM.addPass(RegionStagePass(S)), true;
  for (const Stage &S : compoundStages())
    if (Name == S.Name)
      return MPM.addPass(StagePass(S)), true;
  return false;
}
