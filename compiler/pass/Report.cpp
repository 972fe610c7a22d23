// SPDX-License-Identifier: MIT
//===- Report.cpp - Remarks and warnings at file:line:col -----------------===//
//
// clang turns these into diagnostics with the source line and a caret.  A
// remark is shown with -Rpass=cosy, which cosycc makes of -Rcosy.
//
//===----------------------------------------------------------------------===//
#include "Report.h"
#include "base/Options.h"
#include "base/Reason.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "tier/RegionCost.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/FormatVariadic.h"
#include <utility>

using namespace llvm;
using namespace cosy;
using NV = DiagnosticInfoOptimizationBase::Argument;

/// Reasons shown for a region: enough to understand, not so many that they bury
/// it.
static constexpr unsigned MaxReasons = 4;

static void warn(const Function &F, DebugLoc Where, const Twine &Text) {
  if (!options().Warn && !options().Error)
    return;
  DiagnosticLocation Location;
  if (Where)
    Location = DiagnosticLocation(Where);
  F.getContext().diagnose(DiagnosticInfoUnsupported(
      F, Text, Location, options().Error ? DS_Error : DS_Warning));
}

/// Describes the line of the region from which a position in a called function
/// was reached.
static std::string inlinedFrom(DebugLoc Where) {
  const DILocation *At = Where ? Where->getInlinedAt() : nullptr;
  if (!At)
    return "";
  // The outermost one is the compound's own entry.
  while (At->getInlinedAt() && At->getInlinedAt()->getInlinedAt())
    At = At->getInlinedAt();
  if (!At->getInlinedAt())
    return "";
  return formatv(", reached from line {0}", At->getLine()).str();
}

static bool hasPlace(const Reason &R) { return R.Where && R.Where.getLine(); }

void cosy::reportNative(const Function &Host, unsigned RegionLine,
                        DebugLoc RegionWhere, const Reasons &Why) {
  StringSet<> Seen;
  unsigned Count = 0;
  // Code about the region's own arguments has no position; code that follows
  // from it mostly has.
  bool AnyPlace = any_of(Why, hasPlace);
  for (const Reason &R : Why) {
    if (AnyPlace && !hasPlace(R))
      continue;
    DebugLoc Where = hasPlace(R) ? R.Where : RegionWhere;
    std::string Key =
        formatv("{0}:{1}:{2}", R.Text, Where ? Where.getLine() : 0,
                Where ? Where.getCol() : 0);
    if (!Seen.insert(Key).second || Count++ == MaxReasons)
      continue;
    warn(Host, Where,
         formatv("the region at line {0} stays native: {1}{2} [-Wcosy]",
                 RegionLine, R.Text, inlinedFrom(R.Where))
             .str());
  }
  if (options().Warn || options().Error)
    return;
  // With -Rcosy -Wno-cosy this remark is all there is.
  OptimizationRemarkMissed Remark(
      "cosy", "Native", DiagnosticLocation(RegionWhere), &Host.getEntryBlock());
  Remark << "region stays native: " << Why.front().Text;
  Host.getContext().diagnose(Remark);
}

void cosy::reportLeft(const Function &Host, const Reasons &Left) {
  StringSet<> Said; // a function may have been inlined more than once
  for (const Reason &R : Left) {
    std::string Place;
    if (R.Where)
      Place = formatv("{0}:{1}:{2}", R.Where->getFilename(), R.Where.getLine(),
                      R.Where.getCol());
    if (!Said.insert(Place + R.Text).second)
      continue;
    OptimizationRemark Remark("cosy", "Left", DiagnosticLocation(R.Where),
                              &Host.getEntryBlock());
    Remark << R.Text;
    Host.getContext().diagnose(Remark);
  }
}

/// Adds a number, under a name for -fsave-optimization-record, and the noun for
/// so many.
static void add(DiagnosticInfoOptimizationBase &Remark, StringRef Name,
                size_t Number, StringRef Noun, StringRef Plural = "s") {
  Remark.insert(NV(Name, Number));
  Remark.insert((" " + Noun + (Number == 1 ? "" : Plural)).str());
}

void cosy::reportCompiled(const Extracted &R, const Compound &C) {
  OptimizationRemark Remark("cosy", "Compiled", DiagnosticLocation(R.Where),
                            &R.Host->getEntryBlock());
  Remark << "region compiled: ";
  add(Remark, "Instructions", C.Code.size() / 8, "instruction");
  Remark << " in ";
  add(Remark, "Functions", C.NumFunctions, "function");
  Remark << ", ";
  add(Remark, "Calls", C.NumCalls, "call");
  Remark << ", ";
  add(Remark, "Inputs", R.NumInputs, "input");
  Remark << ", ";
  add(Remark, "Outputs", R.Outputs.size(), "output");
  Remark << ", ";
  add(Remark, "Addresses", C.Addresses.size(), "address", "es");
  Remark << ", ";
  add(Remark, "ContextBytes", C.ContextSize, "byte");
  Remark << " of context";
  R.Host->getContext().diagnose(Remark);
}

/// Adds what something saves, or costs if that is below 0.
static void addSaved(DiagnosticInfoOptimizationBase &Remark, StringRef Name,
                     StringRef What, int64_t Instructions) {
  Remark.insert((What + (Instructions < 0 ? " costs " : " saves ")).str());
  Remark.insert(NV((Name + (Instructions < 0 ? "Costs" : "Saves")).str(),
                   std::abs(Instructions)));
}

/// Adds what the region is expected to save.
static void addGain(DiagnosticInfoOptimizationBase &Remark, const Compound &C) {
  addSaved(Remark, "Entry", "entering the kernel", C.Cost.Entry);
  StringRef Loop = ", an iteration of its loop",
            Recursive = ", a call of its recursive function";
  for (int64_t Round : C.Cost.Rounds)
    addSaved(Remark, "Iteration", std::exchange(Loop, ", of another"), Round);
  for (int64_t Call : C.Cost.Calls)
    addSaved(Remark, "Call", std::exchange(Recursive, ", of another"), Call);
  Remark.insert(StringRef(" instructions; loading it costs "));
  Remark.insert(NV("Load", loadCost(C.Code.size() / 8)));
}

void cosy::reportGain(const Extracted &R, const Compound &C) {
  auto Report = [&](auto Remark, StringRef Before, StringRef After) {
    Remark << Before;
    addGain(Remark, C);
    Remark << After;
    R.Host->getContext().diagnose(Remark);
  };
  DiagnosticLocation Where(R.Where);
  const BasicBlock *Place = &R.Host->getEntryBlock();
  if (!C.NumCalls && !options().Force)
    // What called was inlined away, or ends the region.
    Report(OptimizationRemarkMissed("cosy", "Loses", Where, Place),
           "region runs natively: no system call is left in it "
           "(-fcosy-force runs it in the kernel): ",
           "");
  else if (C.Cost.Loses && !options().Force)
    Report(OptimizationRemarkMissed("cosy", "Loses", Where, Place),
           "region runs natively: it is expected to lose in the kernel "
           "(-fcosy-force runs it there): ",
           "");
  else if (options().Force)
    Report(OptimizationRemark("cosy", "Gain", Where, Place),
           "gain: ", ", from the start (-fcosy-force)");
  else
    Report(OptimizationRemark("cosy", "Gain", Where, Place),
           "gain: ", "; it runs natively until its calls have saved that much");
}

void cosy::reportChoices(const Extracted &R, const Compound &C) {
  auto Report = [&](auto Remark, const std::string &Text) {
    Remark << Text;
    R.Host->getContext().diagnose(Remark);
  };
  StringSet<> Seen; // loop rotation makes two of one call
  for (const Compound::Choice &Choice : C.Choices) {
    if (!Seen.insert(formatv("{0}:{1}:{2}", Choice.Text,
                             Choice.Where ? Choice.Where.getLine() : 0,
                             Choice.Where ? Choice.Where.getCol() : 0)
                         .str())
             .second)
      continue;
    DiagnosticLocation Where(Choice.Where ? Choice.Where : R.Where);
    const BasicBlock *Place = &R.Host->getEntryBlock();
    if (Choice.Chosen)
      Report(OptimizationRemark("cosy", "Chosen", Where, Place), Choice.Text);
    else
      Report(OptimizationRemarkMissed("cosy", "NotChosen", Where, Place),
             Choice.Text);
  }
}

void cosy::reportMarker(const Function &F, DebugLoc Where, const Twine &Text) {
  warn(F, Where, Text + " [-Wcosy]");
}
