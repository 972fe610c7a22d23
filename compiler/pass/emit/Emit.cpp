// SPDX-License-Identifier: MIT
//===- Emit.cpp - Instructions, relocations and lines ---------------------===//
//
// LLVM's BPF back end writes an ELF object in memory; its text, with the calls
// by number filled in, is the compound's program, and its DWARF line table the
// compound's.
//
//   %r = call i64 @__cosy_call.0.lpl(..)   ->   call 0
//
//===----------------------------------------------------------------------===//
#include "emit/Emit.h"
#include "base/Reason.h"
#include "calls/CallTable.h"
#include "emit/Validate.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "lower/Operations.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <linux/cosy.h>

#define DEBUG_TYPE "cosy-emit"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumCompounds, "Number of compounds");
ALWAYS_ENABLED_STATISTIC(NumInsns, "Number of their instructions");

namespace {
/// Runs code that may end in a fatal error of LLVM's, and catches it.
///
/// LLVM has one handler for a process, and tells nobody which it is: clang's
/// cannot be put back.  So ours replaces it for good, and does the same as it
/// outside of run().
class FatalErrors {
  static std::string *Caught; ///< Null outside of run().

public:
  /// Returns false, with the error's text, when Code did not end.
  static bool run(function_ref<void()> Code, std::string &Text) {
    static const bool Installed = install();
    (void)Installed;
    SaveAndRestore Inside(Caught, &Text);
    return CrashRecoveryContext().RunSafely(Code);
  }

private:
  static bool install() {
    remove_fatal_error_handler();
    install_fatal_error_handler(handle, nullptr);
    CrashRecoveryContext::Enable();
    return true;
  }

  static void handle(void *, const char *Reason, bool CrashDiagnostics) {
    if (Caught) {
      *Caught = Reason;
      sys::Process::Exit(1); // into CrashRecoveryContext::RunSafely
    }
    errs() << "fatal error: error in backend: " << Reason << "\n";
    sys::RunInterruptHandlers();
    sys::Process::Exit(CrashDiagnostics ? 70 : 1);
  }
};
std::string *FatalErrors::Caught;
} // namespace

/// Makes accesses aligned: BPF's back end would split unaligned ones into
/// bytes, which x86 does not need.
static void raiseAlignment(Module &M) {
  const DataLayout &DL = M.getDataLayout();
  auto Raised = [&](Type *Ty, Align Old) {
    uint64_t Size = DL.getTypeStoreSize(Ty);
    // The back end splits larger ones into words.
    return std::max(Old,
                    Size < 8 && isPowerOf2_64(Size) ? Align(Size) : Align(8));
  };
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      if (auto *L = dyn_cast<LoadInst>(&I))
        L->setAlignment(Raised(L->getType(), L->getAlign()));
      else if (auto *S = dyn_cast<StoreInst>(&I))
        S->setAlignment(Raised(S->getValueOperand()->getType(), S->getAlign()));
    }
}

static bool generate(Module &M, SmallVectorImpl<char> &Object, Reasons &Why) {
  raw_svector_ostream OS(Object);
  auto Passes = std::make_unique<legacy::PassManager>();
  std::string Fatal;
  bool Finished = !bpfTarget().addPassesToEmitFile(
                      *Passes, OS, nullptr, CodeGenFileType::ObjectFile) &&
                  FatalErrors::run([&] { Passes->run(M); }, Fatal);
  if (!Finished) {
    // Left in the middle, it cannot be destroyed.
    (void)Passes.release();
    Why.push_back({"LLVM's BPF back end failed: " + Fatal, {}});
    return false;
  }
  return Why.empty();
}

/// Fills in the numbers of calls; any other relocation is refused.
static void resolveCalls(const object::ObjectFile &Object, Compound &C,
                         Reasons &Why) {
  for (const object::SectionRef &S : Object.sections()) {
    auto Target = S.getRelocatedSection();
    if (!Target || *Target == Object.section_end() ||
        cantFail((*Target)->getName()) != ".text")
      continue;
    for (const object::RelocationRef &R : S.relocations()) {
      StringRef Name = cantFail(R.getSymbol()->getName());
      uint64_t Offset = R.getOffset();
      uint32_t Number;
      if (!Name.consume_front(CallPrefix) || Name.consumeInteger(10, Number)) {
        Why.push_back(
            {("internal error: a relocation against " + Name).str(), {}});
        continue;
      }
      C.Code[Offset + 1] = 0;
      memcpy(&C.Code[Offset + 4], &Number, sizeof(Number));
    }
  }
}

static void readLines(const object::ObjectFile &Object, Compound &C) {
  auto Dwarf = DWARFContext::create(Object);
  StringMap<uint32_t> Files;
  for (const auto &Unit : Dwarf->compile_units()) {
    const DWARFDebugLine::LineTable *Table =
        Dwarf->getLineTableForUnit(Unit.get());
    if (!Table)
      continue;
    for (const auto &Row : Table->Rows) {
      std::string Path;
      if (Row.EndSequence ||
          !Table->getFileNameByIndex(
              Row.File, "", DILineInfoSpecifier::FileLineInfoKind::RawValue,
              Path))
        continue;
      auto [It, New] = Files.try_emplace(Path, C.Files.size());
      if (New)
        C.Files.push_back(Path);
      LineEntry E{uint32_t(Row.Address.Address / 8), It->second, Row.Line,
                  Row.Column};
      // Several rows may name one instruction: the last one holds.
      if (!C.Lines.empty() && C.Lines.back().Insn == E.Insn)
        C.Lines.back() = E;
      else if (C.Lines.empty() || C.Lines.back().Insn < E.Insn)
        C.Lines.push_back(E);
    }
  }
}

/// Names an instruction's place in the source, for the validator's complaint.
static std::string lineOf(const Compound &C, uint32_t Insn) {
  const LineEntry *Found = nullptr;
  for (const LineEntry &E : C.Lines)
    if (E.Insn <= Insn)
      Found = &E;
  return Found ? formatv(" (line {0})", Found->Line).str() : "";
}

/// Refuses here a program that the kernel would refuse at run time.
static void validate(const Compound &C, Reasons &Why) {
  uint32_t Insn;
  std::string Text = validateCode(C.Code, Insn);
  if (!Text.empty())
    Why.push_back(
        {formatv("instruction {0}{1}: {2}", Insn, lineOf(C, Insn), Text), {}});
}

/// Counts functions and calls for -Rcosy.
static void count(Module &M, Compound &C) {
  for (Function &F : M) {
    C.NumFunctions += !F.isDeclaration();
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      uint32_t Number;
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
        C.NumCalls += isSixCall(*Asm);
      else if (isNumberedCall(Call->getCalledOperand(), Number))
        C.NumCalls += makesCalls(Number);
    }
  }
}

bool cosy::emitCode(BpfModule &B, Compound &C, Reasons &Why) {
  count(*B.M, C);
  raiseAlignment(*B.M);
  SmallVector<char, 0> Bytes;
  if (!generate(*B.M, Bytes, Why)) {
    (void)B.M.release(); // left in the middle, it cannot be destroyed
    return false;
  }
  auto Object = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "compound"));
  if (!Object) {
    Why.push_back({"internal error: " + toString(Object.takeError()), {}});
    return false;
  }
  for (const object::SectionRef &S : (*Object)->sections())
    if (cantFail(S.getName()) == ".text") {
      StringRef Text = cantFail(S.getContents());
      C.Code.assign(Text.bytes_begin(), Text.bytes_end());
    }
  resolveCalls(**Object, C, Why);
  readLines(**Object, C);
  if (Why.empty() && C.Code.size() / 8 > COSY_MAX_INSNS)
    Why.push_back({formatv("it is too large: {0} instructions, and a compound "
                           "has at most {1}",
                           C.Code.size() / 8, COSY_MAX_INSNS),
                   {}});
  if (Why.empty())
    validate(C, Why);
  if (!Why.empty())
    return false;
  ++NumCompounds;
  NumInsns += C.Code.size() / 8;
  return true;
}
