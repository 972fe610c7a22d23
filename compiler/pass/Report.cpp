// SPDX-License-Identifier: MIT
//===- Report.cpp - Remarks and warnings at file:line:col -----------------===//
//
// clang turns these into diagnostics with the source line and a caret.  A
// remark is shown with -Rpass=cosy, which cosycc makes of -Rcosy.
//
//===----------------------------------------------------------------------===//
#include "Region.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace cosy;

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

/// Says by which line of the region a position in a called function was
/// reached.
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

void cosy::reportCompiled(const Extracted &R, const Compound &C) {
  OptimizationRemark Remark("cosy", "Compiled", DiagnosticLocation(R.Where),
                            &R.Host->getEntryBlock());
  Remark << formatv("region compiled: {0} instructions in {1} function{2}, {3} "
                    "calls, {4} inputs, {5} outputs, {6} addresses, {7} bytes "
                    "of context",
                    C.Code.size() / 8, C.NumFunctions,
                    C.NumFunctions == 1 ? "" : "s", C.NumCalls, R.NumInputs,
                    R.Outputs.size(), C.Addresses.size(), C.ContextSize)
                .str();
  R.Host->getContext().diagnose(Remark);
}

void cosy::reportGain(const Extracted &R, const Compound &C) {
  auto Report = [&](auto Remark, const std::string &Text) {
    Remark << Text;
    R.Host->getContext().diagnose(Remark);
  };
  DiagnosticLocation Where(R.Where);
  const BasicBlock *Place = &R.Host->getEntryBlock();
  std::string Text =
      formatv("{0} expected to be saved by an entry", C.Cost.Entry);
  if (!C.Cost.Rounds.empty())
    Text += formatv(", {0:$[, ]} by a round of its loops",
                    make_range(C.Cost.Rounds.begin(), C.Cost.Rounds.end()));
  if (!C.Cost.Calls.empty())
    Text += formatv(", {0:$[, ]} by a call of what recurses",
                    make_range(C.Cost.Calls.begin(), C.Cost.Calls.end()));
  Text +=
      formatv("; {0} to load it (instructions)", loadCost(C.Code.size() / 8));
  if (C.Cost.Loses && !options().Force)
    Report(OptimizationRemarkMissed("cosy", "Loses", Where, Place),
           "region runs natively unless forced (-fcosy-force): " + Text);
  else
    Report(OptimizationRemark("cosy", "Gain", Where, Place), "gain: " + Text);
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
