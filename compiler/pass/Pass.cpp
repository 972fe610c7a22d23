// SPDX-License-Identifier: MIT
//===- Pass.cpp - The main path: from marked functions to compounds -------===//
//
// A function with marks is split into its regions; a region is compiled to a
// compound, its loops and recursions to more of them; the host gets code that
// counts and enters them, and keeps the region as its native twin.
//
//   call @__cosy_region_start       if (earned) ctx = __cosy_enter(&region);
//   ..                        ->    ctx ? __cosy_run(&region, ctx) : twin();
//   call @__cosy_region_end
//
//===----------------------------------------------------------------------===//
#include "Pass.h"
#include "Compile.h"
#include "Extraction.h"
#include "Report.h"
#include "Summary.h"
#include "base/Options.h"
#include "base/Reason.h"
#include "calls/LibcFunctions.h"
#include "host/Host.h"
#include "host/MoveLocals.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "region/Normalize.h"
#include "region/Region.h"
#include "tier/Cost.h"
#include "tier/Loops.h"
#include "tier/Losses.h"
#include "tier/Recursion.h"
#include "tier/RecursionEntries.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace cosy;

static void reportExtraction(const Function &F, const Region &R,
                             const Reasons &Why, const Reasons &Left) {
  if (!R.Start)
    for (const Reason &Mark : Why)
      reportMarker(F, Mark.Where, Mark.Text);
  else if (!Why.empty())
    reportNative(F, R.Line, R.Start->getDebugLoc(), Why);
  else
    reportLeft(F, Left);
}

/// Compiles a region and says how that went.  Null: it stays native.
static std::unique_ptr<Compound> compileAndReport(const Extracted &R,
                                                  Summary &All) {
  auto C = std::make_unique<Compound>();
  Reasons Why;
  if (!compileRegion(R, *C, Why)) {
    reportNative(*R.Host, R.Line, R.Where, Why);
    All.addNative(*R.Host, R.Line, Why);
    return nullptr;
  }
  reportCompiled(R, *C);
  reportChoices(R, *C);
  return C;
}

/// Collects the inputs of the compounds among F's regions.
static SmallVector<WeakTrackingVH, 16>
inputsOf(const Function &F, const std::vector<Extracted> &Regions,
         const std::vector<std::unique_ptr<Compound>> &Compounds) {
  SmallVector<WeakTrackingVH, 16> Inputs;
  for (size_t I = 0; I < Regions.size(); ++I)
    if (Compounds[I] && Regions[I].Host == &F)
      Inputs.append(Regions[I].Call->arg_begin(),
                    Regions[I].Call->arg_begin() + Regions[I].NumInputs);
  return Inputs;
}

/// Collects the region structures of F's regions.
static SmallVector<GlobalVariable *, 4>
regionsOf(const Function &F, const std::vector<Extracted> &Regions,
          const std::vector<std::unique_ptr<Compound>> &Compounds) {
  SmallVector<GlobalVariable *, 4> Ret;
  for (size_t I = 0; I < Regions.size(); ++I)
    if (Compounds[I] && Regions[I].Host == &F)
      Ret.push_back(Compounds[I]->Region);
  return Ret;
}

/// Compiles a region's further ways in, at its loops and where it recurses, and
/// estimates what the region and they will save.
static std::vector<std::pair<Extracted, std::unique_ptr<Compound>>>
compileWaysIn(Extracted &R, Compound &Entry, ArrayRef<Function *> Hosts,
              FunctionAnalysisManager &FAM) {
  std::vector<std::pair<Extracted, std::unique_ptr<Compound>>> Ret;
  inlineLoops(R, Hosts, FAM);
  simplifyLoops(*R.Body);
  markWidened(*R.Body->getParent(), Entry.Widened);
  auto Ways = waysIn(R);
  Recursion In = findRecursion(R, Hosts);
  estimateGain(*R.Body, Ways, In, Entry.Cost);
  R.Seldom = findSeldomCalls(*R.Body, Ways, In, Entry.Cost);
  Entry.Saves = Entry.Cost.SureEntry;
  Entry.Calls = Entry.Cost.EntryCalls;
  Entry.BeginsAgain = R.BeginsAgain;
  std::vector<Extracted> Loops = enterLoops(R, Ways, Entry.Cost);
  for (size_t I = 0; I < Loops.size(); ++I) {
    auto C = std::make_unique<Compound>();
    Reasons Why;
    if (!compileRegion(Loops[I], *C, Why)) {
      dropLoopEntry(Loops[I]);
      continue;
    }
    C->Saves = Entry.Cost.SureRounds[I];
    C->Skips = Entry.Cost.Skips[I];
    C->Calls = Entry.Cost.RoundCalls[I];
    Ret.push_back({Loops[I], std::move(C)});
  }
  for (Extracted &E : enterRecursion(R, In, Entry.Cost, FAM)) {
    auto C = std::make_unique<Compound>();
    Reasons Why;
    if (!compileRegion(E, *C, Why)) {
      dropLoopEntry(E);
      continue;
    }
    C->Saves = *E.Arrival;
    C->Calls = E.ArrivalCalls;
    Ret.push_back({E, std::move(C)});
  }
  Entry.NumLoops = Ret.size();
  return Ret;
}

/// Drops the line tables that cosycc asked for, so that the object is clang's.
/// Other debug information is somebody else's.
static void dropLines(Module &M) {
  for (const DICompileUnit *Unit : M.debug_compile_units())
    if (Unit->getEmissionKind() != DICompileUnit::LineTablesOnly)
      return;
  StripDebugInfo(M);
  NamedMDNode *Flags = M.getModuleFlagsMetadata();
  if (!Flags)
    return;
  SmallVector<MDNode *, 8> Kept;
  for (MDNode *Flag : Flags->operands()) {
    auto *Name = dyn_cast<MDString>(Flag->getOperand(1));
    if (!Name || (Name->getString() != "Dwarf Version" &&
                  Name->getString() != "Debug Info Version"))
      Kept.push_back(Flag);
  }
  Flags->clearOperands();
  for (MDNode *Flag : Kept)
    Flags->addOperand(Flag);
}

PreservedAnalyses CosyPass::run(Module &M, ModuleAnalysisManager &AM) {
  SmallVector<Function *, 8> Marked = markedFunctions(M);
  if (Marked.empty()) {
    dropLibcMarks(M);
    if (options().DropLines)
      dropLines(M);
    return PreservedAnalyses::all();
  }
  auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();

  markForeign(M);
  lowerExpectations(M, FAM);
  // Extract all regions before the first is compiled, and compile all before
  // the first host changes: a region that calls the host of another one then
  // finds plain code there, and the regions do not nest.
  std::vector<Extracted> Regions;
  Summary Summed;
  auto Report = [&](const Function &F, const Region &R, const Reasons &Why,
                    const Reasons &Left) {
    reportExtraction(F, R, Why, Left);
    if (R.Start && !Why.empty())
      Summed.addNative(F, R.Line, Why);
  };
  for (Function *F : Marked)
    append_range(Regions, extractRegions(*F, Marked, RegionEnd::BeforeCalls,
                                         FAM, Report));

  std::vector<std::unique_ptr<Compound>> Compounds;
  for (const Extracted &R : Regions)
    Compounds.push_back(compileAndReport(R, Summed));

  // Compile the heads last: reports on a region are about its entry.
  std::vector<std::vector<std::pair<Extracted, std::unique_ptr<Compound>>>>
      Heads;
  for (size_t I = 0; I < Regions.size(); ++I)
    Heads.push_back(Compounds[I]
                        ? compileWaysIn(Regions[I], *Compounds[I], Marked, FAM)
                        : decltype(Heads)::value_type());
  for (size_t I = 0; I < Regions.size(); ++I)
    if (Compounds[I]) {
      reportGain(Regions[I], *Compounds[I]);
      Summed.addCompiled(Regions[I], *Compounds[I]);
    }
  if (options().Summary)
    Summed.print(M, errs());

  std::vector<SmallVector<WeakTrackingVH, 16>> Inputs;
  for (Function *F : Marked)
    Inputs.push_back(inputsOf(*F, Regions, Compounds));

  SmallVector<Function *, 8> Copies;
  for (size_t I = 0; I < Regions.size(); ++I) {
    if (Compounds[I])
      emitHostCode(Regions[I], *Compounds[I]);
    for (auto &[Head, C] : Heads[I]) {
      emitHostCode(Head, *C, Compounds[I].get());
      Copies.append(Head.Copies);
    }
    inlineTwin(Regions[I]);
  }
  if (options().MoveLocals)
    for (size_t I = 0; I < Marked.size(); ++I)
      moveLocals(*Marked[I], Inputs[I],
                 regionsOf(*Marked[I], Regions, Compounds));

  dropLibcMarks(M);
  // clang may give an interrupt handler an argument of a type without a size,
  // which the verifier refuses; such a function is unchanged but for its marks.
  for (Function *F : Marked)
    if (F->getCallingConv() != CallingConv::X86_INTR &&
        verifyFunction(*F, &errs()))
      report_fatal_error("cosy: broken host function " + F->getName());
  for (Function *Copy : Copies)
    if (verifyFunction(*Copy, &errs()))
      report_fatal_error("cosy: broken copy " + Copy->getName());
  return PreservedAnalyses::none();
}
