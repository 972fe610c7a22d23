// SPDX-License-Identifier: MIT
//===- Plugin.cpp - Registration and options of the Cosy pass plugin ------===//
//
// cosycc runs clang with -fplugin=CosyPass.so (so that the options below are
// known when cc1 reads them), -fpass-plugin=CosyPass.so, and the plugin that
// marks the C library's functions.  By hand:
//
//   clang-19 -fplugin=./CosyFrontend.so -fplugin=./CosyPass.so
//            -fpass-plugin=./CosyPass.so -D__COSYCC__ ..
//   opt-19 -load-pass-plugin=./CosyPass.so -passes=cosy ..
//
// With -cosy-stats it prints each stage's counts.  LLVM's own -stats does so
// only if LLVM was built with assertions.
//
//===----------------------------------------------------------------------===//
#include "Pass.h"
#include "Stages.h"
#include "host/Exits.h"
#include "host/Outline.h"
#include "region/Written.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#if LLVM_VERSION_MAJOR >= 22
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

using namespace llvm;

static cl::opt<bool> Stats("cosy-stats", cl::Hidden,
                           cl::desc("Print what the stages counted"));

namespace {
struct StatisticsPass : PassInfoMixin<StatisticsPass> {
  PreservedAnalyses run(Module &, ModuleAnalysisManager &) {
    PrintStatistics(errs());
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};
} // namespace

/// Adds the whole pass, or one of its stages.
static bool addPass(StringRef Name, ModulePassManager &MPM) {
  if (Name == "cosy")
    MPM.addPass(cosy::CosyPass());
  else if (!cosy::addStage(Name, MPM))
    return false;
  if (Stats)
    MPM.addPass(StatisticsPass());
  return true;
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Cosy", COSY_VERSION, [](PassBuilder &PB) {
            if (Stats)
              EnableStatistics(/*DoPrintOnExit=*/false);
            // At the start of the pipeline, because later passes may clone
            // regions, and move code across the markers.
            PB.registerPipelineStartEPCallback(
                [](ModulePassManager &MPM, OptimizationLevel Level) {
                  if (Level == OptimizationLevel::O0)
                    MPM.addPass(cosy::WrittenPass());
                  addPass("cosy", MPM);
                  if (Level != OptimizationLevel::O0)
                    MPM.addPass(
                        createModuleToFunctionPassAdaptor(cosy::ExitsPass()));
                });
            PB.registerOptimizerLastEPCallback(
                // LLVM 20 also passes the phase of LTO.
                [](ModulePassManager &MPM, OptimizationLevel Level, auto...) {
                  if (Level == OptimizationLevel::O0)
                    return;
                  MPM.addPass(cosy::OutlinePass());
                });
            PB.registerPipelineParsingCallback(
                [](StringRef Name, ModulePassManager &MPM,
                   ArrayRef<PassBuilder::PipelineElement>) {
                  return addPass(Name, MPM);
                });
          }};
}
