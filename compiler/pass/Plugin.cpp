// SPDX-License-Identifier: MIT
//===- Plugin.cpp - Registration and options of the Cosy pass plugin ------===//
//
// cosycc runs clang with -fplugin=CosyPass.so (so that the options below are
// known when cc1 reads them), -fpass-plugin=CosyPass.so, and the plugin that
// tells it which functions are the C library's.  By hand:
//
//   clang-19 -fplugin=./CosyFrontend.so -fplugin=./CosyPass.so
//            -fpass-plugin=./CosyPass.so -D__COSYCC__ ..
//   opt-19 -load-pass-plugin=./CosyPass.so -passes=cosy ..
//
// With -cosy-stats it prints what each stage counted.  LLVM's own -stats does
// so only where LLVM was built with assertions.
//
//===----------------------------------------------------------------------===//
#include "Pass.h"
#include "Stages.h"
#include "host/Exits.h"
#include "host/Outline.h"
#include "region/Region.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::opt<bool> NoWarn("cosy-no-warn", cl::Hidden,
                            cl::desc("Do not warn when a region stays native"));
static cl::opt<bool>
    IsError("cosy-error", cl::Hidden,
            cl::desc("Make a region that stays native an error"));
static cl::opt<bool>
    NoMoveLocals("cosy-no-move-locals", cl::Hidden,
                 cl::desc("Leave the locals that regions touch on the stack"));
static cl::opt<bool> NoFast(
    "cosy-no-fast", cl::Hidden,
    cl::desc("Make every call as it is written, the kernel's ordinary way"));
static cl::opt<bool>
    Force("cosy-force", cl::Hidden,
          cl::desc("Run regions in the kernel from their first entry on"));
static cl::opt<bool>
    GnuAs("cosy-gnu-as", cl::Hidden,
          cl::desc("Emit only what GNU as can assemble, as well as clang"));
static cl::opt<bool>
    DropLines("cosy-drop-lines", cl::Hidden,
              cl::desc("Drop debug information where there is no region"));
static cl::opt<bool> DataFlow("cosy-data-flow", cl::Hidden,
                              cl::desc("DataFlowSanitizer is to follow"));
static cl::opt<std::string>
    Dump("cosy-dump", cl::Hidden, cl::value_desc("prefix"),
         cl::desc("Write each region's BPF module and object to prefix.N.*"));

static cl::opt<bool> Stats("cosy-stats", cl::Hidden,
                           cl::desc("Print what the stages counted"));

const cosy::Options &cosy::options() {
  static const Options O{!NoWarn, IsError,  !NoMoveLocals, !NoFast, Force,
                         GnuAs,   DataFlow, DropLines,     Dump};
  return O;
}

namespace {
struct StatisticsPass : PassInfoMixin<StatisticsPass> {
  PreservedAnalyses run(Module &, ModuleAnalysisManager &) {
    PrintStatistics(errs());
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};
} // namespace

/// The whole pass, or one of its stages.
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
            // At the start of the pipeline: later, regions may have been cloned
            // and code moved across the markers.
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
                [](ModulePassManager &MPM, OptimizationLevel Level) {
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
