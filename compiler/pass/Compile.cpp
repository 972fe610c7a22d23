// SPDX-License-Identifier: MIT
//===- Compile.cpp - From an extracted region to a compound ---------------===//
//
// Takes a region's function from stage to stage (Pipeline.cpp lists them): it
// is copied into a module for BPF, optimised there, rid of what BPF lacks, and
// emitted.
//
//   define void @f.cosy(i32, ptr)  ->  @cosy.main(ptr)  ->  r6 = *(r1 + 8) ..
//
// A stage that cannot go on adds a reason.  What was too large is tried again
// with less inlining; otherwise the region stays native.
//
//===----------------------------------------------------------------------===//
#include "Compile.h"
#include "Pipeline.h"
#include "base/Names.h"
#include "base/Options.h"
#include "base/Reason.h"
#include "emit/Emit.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cosy;

namespace {
/// Takes LLVM's diagnostics while a compound is compiled.  Keeps errors as
/// reasons: the region then stays native, and the build goes on.  Drops
/// remarks, which would be about code that the user has not written.
class QuietContext {
  LLVMContext &Ctx;
  std::unique_ptr<DiagnosticHandler> Previous;

  struct Collector : DiagnosticHandler {
    Reasons &Why;
    explicit Collector(Reasons &Why) : Why(Why) {}
    static Reason reasonFor(const DiagnosticInfo &Info) {
      std::string Text;
      raw_string_ostream OS(Text);
      if (auto *Unsupported = dyn_cast<DiagnosticInfoUnsupported>(&Info)) {
        OS << Unsupported->getMessage();
      } else {
        DiagnosticPrinterRawOStream Printer(OS);
        Info.print(Printer);
      }
      if (StringRef(OS.str()).contains("BPF stack limit"))
        return {"it needs more values at once than a compound's registers and "
                "frame can hold",
                {}};
      return {"LLVM's BPF back end: " + StringRef(OS.str()).trim().str(), {}};
    }
    bool handleDiagnostics(const DiagnosticInfo &Info) override {
      if (Info.getSeverity() != DS_Error)
        return true;
      Reason R = reasonFor(Info);
      // The back end says so of each value that it finds no room for.
      if (none_of(Why, [&](const Reason &O) { return O.Text == R.Text; }))
        Why.push_back(R);
      return true;
    }
    bool isAnalysisRemarkEnabled(StringRef) const override { return false; }
    bool isMissedOptRemarkEnabled(StringRef) const override { return false; }
    bool isPassedOptRemarkEnabled(StringRef) const override { return false; }
    bool isAnyRemarkEnabled() const override { return false; }
  };

public:
  QuietContext(LLVMContext &Ctx, Reasons &Why)
      : Ctx(Ctx), Previous(Ctx.getDiagnosticHandler()) {
    Ctx.setDiagnosticHandler(std::make_unique<Collector>(Why));
  }
  ~QuietContext() { Ctx.setDiagnosticHandler(std::move(Previous)); }
};

/// A way to compile a region.
struct Try {
  unsigned InlineBudget; ///< Instructions to inline.
  bool Grows;            ///< Unrolls loops, expands operations.
};

/// A compound whose spills or code get too large is tried again, first
/// without what makes it grow, then with more calls.
constexpr Try Tries[] = {
    {MaxInlineBudget, true}, {MaxInlineBudget, false}, {200, false}};
} // namespace

static void dump(const BpfModule &B, const char *Stage) {
  if (options().Dump.empty())
    return;
  static unsigned Count;
  std::error_code Error;
  raw_fd_ostream Out(
      formatv("{0}.{1}.{2}.ll", options().Dump, Count++, Stage).str(), Error);
  if (!Error)
    B.M->print(Out, nullptr);
}

static std::string nameOf(const Extracted &Region) {
  const Extracted &R = Region.Outer ? *Region.Outer : Region;
  std::string File = R.Host->getParent()->getSourceFileName();
  if (const DILocation *L = R.Where.get())
    File = L->getFilename().str();
  StringRef Symbol = R.Host->getName();
  if (R.Arrival)
    Symbol.consume_back(".twin");
  std::string Function = shownName(Symbol);
  return formatv("{0}:{1} {2}", sys::path::filename(File), R.Line, Function)
             .str() +
         (Region.Outer     ? ", from a loop on"
          : Region.Arrival ? ", from its entry on"
                           : "");
}

static bool applies(Stage::Condition When, Try How, bool Changed) {
  switch (When) {
  case Stage::Condition::Always:
    return true;
  case Stage::Condition::Fast:
    return options().Fast;
  case Stage::Condition::Growing:
    return How.Grows;
  case Stage::Condition::AfterChange:
    return Changed;
  }
  llvm_unreachable("a condition that is not listed");
}

/// Tries once.  Sets Retry when smaller code might help.
static bool compileOnce(const Extracted &R, Try How, Compound &C, Reasons &Why,
                        bool &Retry) {
  BpfModule B(*R.Host->getParent());
  makeBpfModule(R, C, B);
  dump(B, "extracted");
  Compilation Input{B, R, C, Why, How.InlineBudget};
  bool Changed = false;
  for (const Stage &S : compoundStages()) {
    if (applies(S.When, How, Changed))
      Changed = S.Run(Input);
    if (!Why.empty())
      return false;
    if (S.Dump)
      dump(B, S.Dump);
  }
  std::string Error;
  raw_string_ostream OS(Error);
  if (verifyModule(*B.M, &OS)) {
    Why.push_back({"internal error, broken module: " + OS.str(), {}});
    return false;
  }
  Retry = true;
  return emitCode(B, C, Why);
}

bool cosy::compileRegion(const Extracted &R, Compound &Ret, Reasons &Why) {
  QuietContext Quiet(R.Host->getContext(), Why);
  for (Try How : Tries) {
    Ret = Compound();
    Ret.Name = nameOf(R);
    Why.clear();
    bool Retry = false;
    if (compileOnce(R, How, Ret, Why, Retry))
      return true;
    if (!Retry)
      return false;
  }
  return false;
}
