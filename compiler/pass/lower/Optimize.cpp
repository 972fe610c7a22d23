// SPDX-License-Identifier: MIT
//===- Optimize.cpp - clang's -O2 without what only hurts here ------------===//
//
// cosy-optimize inlines what cosy-plan-calls chose and runs LLVM's -O2 without
// unrolling and vectors, and without library calls that have no body here.
// cosy-clean-up removes what cosy-assign-storage left: second loads of a field,
// arithmetic that nobody uses.  Both are LLVM's passes, which count themselves.
//
//===----------------------------------------------------------------------===//
#include "lower/Optimize.h"
#include "lower/BpfModule.h"
#include "lower/LowerCalls.h"
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

static PassBuilder passBuilder() {
  PipelineTuningOptions Tuning;
  Tuning.LoopVectorization = false;
  Tuning.SLPVectorization = false;
  Tuning.LoopInterleaving = false;
  Tuning.LoopUnrolling = false;
  // Without the target machine: its passes only please the kernel's verifier.
  return PassBuilder(nullptr, Tuning);
}

void cosy::runPasses(BpfModule &B, ModulePassManager &Passes) {
  PassBuilder PB = passBuilder();
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  // LLVM may invent calls of those library functions that are operations.
  FAM.registerPass([&] {
    TargetLibraryInfoImpl Library{Triple(B.M->getTargetTriple())};
    Library.disableAllFunctions();
    allowStringFunctions(*B.M, Library);
    return TargetLibraryAnalysis(Library);
  });
  FAM.registerPass([] { return bpfTarget().getTargetIRAnalysis(); });
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  Passes.run(*B.M, MAM);
}

void cosy::optimize(BpfModule &B) {
  PassBuilder PB = passBuilder();
  ModulePassManager Passes;
  Passes.addPass(GlobalDCEPass());
  Passes.addPass(AlwaysInlinerPass());
  Passes.addPass(PB.buildPerModuleDefaultPipeline(OptimizationLevel::O2));
  Passes.addPass(GlobalDCEPass());
  runPasses(B, Passes);
}

void cosy::cleanUp(BpfModule &B) {
  FunctionPassManager FPM;
  FPM.addPass(EarlyCSEPass());
  FPM.addPass(DCEPass());
  FPM.addPass(SimplifyCFGPass());
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  Passes.addPass(GlobalDCEPass());
  runPasses(B, Passes);
}
