// SPDX-License-Identifier: MIT
//===- Optimize.cpp - clang's -O2 without what only hurts here ------------===//
//
// cosy-optimize inlines what cosy-plan-calls chose and runs LLVM's -O2 without
// unrolling and vectors, and without library calls that have no body here.
// cosy-clean-up removes what cosy-assign-storage left: second loads of a field,
// arithmetic that nobody uses.  Both are LLVM's passes, which count themselves.
//
//===----------------------------------------------------------------------===//
#include "BpfModule.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;
using namespace cosy;

static void run(Module &M, PassBuilder &PB, ModulePassManager &Passes) {
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  // Loops that are a memset or memcpy become operations; any other library
  // call that LLVM might invent has no body here.
  FAM.registerPass([&] {
    TargetLibraryInfoImpl Library{Triple(M.getTargetTriple())};
    Library.disableAllFunctions();
    for (LibFunc F : {LibFunc_memcpy, LibFunc_memmove, LibFunc_memset})
      Library.setAvailable(F);
    return TargetLibraryAnalysis(Library);
  });
  FAM.registerPass([] { return bpfTarget().getTargetIRAnalysis(); });
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  Passes.run(M, MAM);
}

void cosy::optimize(BpfModule &B) {
  PipelineTuningOptions Tuning;
  Tuning.LoopVectorization = false;
  Tuning.SLPVectorization = false;
  Tuning.LoopInterleaving = false;
  Tuning.LoopUnrolling = false;
  // Without the target machine: its passes only please the kernel's verifier.
  PassBuilder PB(nullptr, Tuning);
  ModulePassManager Passes;
  Passes.addPass(GlobalDCEPass());
  Passes.addPass(AlwaysInlinerPass());
  Passes.addPass(PB.buildPerModuleDefaultPipeline(OptimizationLevel::O2));
  Passes.addPass(GlobalDCEPass());
  run(*B.M, PB, Passes);
}

void cosy::cleanUp(BpfModule &B) {
  PassBuilder PB;
  FunctionPassManager FPM;
  FPM.addPass(EarlyCSEPass());
  FPM.addPass(DCEPass());
  FPM.addPass(SimplifyCFGPass());
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  Passes.addPass(GlobalDCEPass());
  run(*B.M, PB, Passes);
}
